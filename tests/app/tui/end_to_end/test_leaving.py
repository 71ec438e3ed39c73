"""However the app ends, the terminal is as it was, nothing is lost, and nothing stays behind."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable

import pytest

from tests.app.running import STORY, wait_gone
from tests.app.tui.end_to_end.disturbed import OUTCRY
from tests.app.tui.end_to_end.screen import CTRL_C, CTRL_D, CTRL_T, CTRL_U, ENTER, ESCAPE, Screen
from tests.app.tui.end_to_end.terminals import POINT, PROMPT, READY, Terminals
from tests.ggufs import Pair

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

F1, F2 = "\x1bOP", "\x1bOQ"
BASH = ("bash", "--norc", "--noprofile", "-i")
SHELLS = [words for words in (BASH, ("dash", "-i"), ("zsh", "-f", "-i")) if shutil.which(words[0])]


@pytest.mark.parametrize(
    ("number", "status"),
    [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGINT, 130)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_signal_while_it_answers(
    terminals: Terminals, endless: Pair, number: signal.Signals, status: int
) -> None:
    with terminals.app(endless) as screen:
        before = screen.modes
        words = streaming(screen, terminals)
        processes = screen.below()
        os.kill(screen.pid, number)
        assert screen.end() == status
        assert screen.emulator.left_on == []
        assert screen.modes == before
        assert "gemma-local --resume" in screen.text
        assert "Traceback" not in terminals.log
        wait_gone(*processes)
        is_kept(terminals, words)


def test_the_window_is_closed(terminals: Terminals, endless: Pair) -> None:
    with terminals.app(endless) as screen:
        words = streaming(screen, terminals)
        processes = [screen.pid, *screen.below()]
        screen.hang_up()
        wait_gone(*processes)
        is_kept(terminals, words)
        assert "Traceback" not in terminals.log


def test_nothing_keeps_an_app_whose_window_was_closed(terminals: Terminals, story: Pair) -> None:
    with terminals.app(story, disturbed=True) as screen:
        screen.wait_for(READY)
        screen.keys(CTRL_T)
        screen.wait_for("it stays")
        processes = [screen.pid, *screen.below()]
        screen.hang_up()
        wait_gone(*processes)
        assert "Traceback" not in terminals.log


def test_what_nobody_thought_of(terminals: Terminals, story: Pair) -> None:
    with terminals.app(story, disturbed=True) as screen:
        before = screen.modes
        screen.wait_for(READY)
        screen.keys("hello", ENTER)
        screen.wait_for("tokens per pass")
        # Words from C, in the middle of it all: they go where they belong.
        shown = screen.text
        screen.keys(F2)
        screen.until(lambda: OUTCRY.decode() in terminals.log)
        screen.watch(0.3)
        assert OUTCRY not in screen.written
        assert screen.text.split("\n")[:10] == shown.split("\n")[:10]
        processes = screen.below()
        screen.keys(F1)
        assert screen.end() == 1
        assert screen.emulator.left_on == []
        assert screen.modes == before
        text = screen.words
        assert "gemma-local: something unexpected went wrong" in text
        assert "gemma-local --resume" in text
        assert "Traceback" not in text and "╭" not in text
        log = terminals.log
        assert "Traceback (most recent call last):" in log
        assert "LookupError: nobody thought of this" in log
        # Not the values of variables: they are what people say.
        assert "word49" not in log
        wait_gone(*processes)
        assert [entry.message.text for entry in terminals.saved] == ["hello", STORY.text]


@pytest.mark.parametrize("shell", SHELLS, ids=lambda words: words[0])
def test_the_shell_goes_on_after_a_kill(
    terminals: Terminals, endless: Pair, shell: tuple[str, ...]
) -> None:
    with terminals.shell(shell) as screen:
        screen.wait_for(PROMPT)
        before, on_before = screen.modes, screen.emulator.left_on
        screen.keys(terminals.line(endless), ENTER)
        words = streaming(screen, terminals)
        processes = screen.below()
        (app,) = screen.below("gemma_local.app.cli")[:1]
        os.kill(app, signal.SIGKILL)
        screen.wait_for("gemma-local was killed")
        wait_gone(*processes)
        screen.keys("expr 40 + 2; stty -a; echo after$?", ENTER)
        screen.wait_for("after0")
        # What is typed is seen, and what is printed begins at the left.
        assert "expr 40 + 2; stty" in screen.words
        assert "42" in screen.text.split("\n")
        assert {"echo", "icanon", "isig", "icrnl"} <= set(screen.words.split())
        screen.until(lambda: screen.emulator.left_on == on_before)
        screen.until(lambda: screen.modes == before)
        assert "red7" not in screen.text
        is_kept(terminals, words)


def test_it_is_put_aside_and_taken_up_again(terminals: Terminals, story: Pair) -> None:
    with terminals.shell(BASH) as screen:
        screen.wait_for(PROMPT)
        before = screen.modes
        screen.keys(terminals.line(story), ENTER)
        screen.wait_for(READY)
        screen.keys("hello", ENTER)
        screen.wait_for("acceptance")
        screen.keys("half a sent")
        screen.wait_for(f"{POINT} half a sent")
        (app,) = screen.below("gemma_local.app.cli")[:1]
        os.kill(app, signal.SIGTSTP)
        screen.wait_for("Stopped")
        screen.until(lambda: "the alternate screen" not in screen.emulator.left_on)
        screen.until(lambda: screen.modes == before)
        screen.keys("expr 40 + 2", ENTER)
        screen.wait_for("42")
        screen.keys("fg", ENTER)
        screen.wait_for(f"{POINT} half a sent")
        assert "word49." in screen.words
        screen.keys("ence")
        screen.wait_for(f"{POINT} half a sentence")
        assert "bracketed paste" in screen.emulator.left_on
        screen.keys(CTRL_C, CTRL_C, CTRL_C)
        screen.wait_for("goes on with this conversation")
        screen.until(lambda: screen.modes == before)
        screen.keys("echo status $?", ENTER)
        screen.wait_for("status 0")


def test_who_is_told_to_go_on_without_a_stop_goes_on_and_ends(
    terminals: Terminals, story: Pair
) -> None:
    with terminals.app(story) as screen:
        before = screen.modes
        screen.wait_for(READY)
        for written, numbers in (
            ("never stopped", [signal.SIGCONT] * 6),
            ("stopped by force", [signal.SIGSTOP, signal.SIGCONT]),
        ):
            for number in numbers:
                os.kill(screen.pid, number)
                screen.watch(0.2)
            screen.keys(written)
            screen.wait_for(f"{POINT} {written}")
            screen.keys(CTRL_U)
            screen.wait_for(f"{POINT} Write")
        screen.keys(CTRL_D)
        assert screen.end() == 0
        assert screen.modes == before and screen.emulator.left_on == []


def test_a_person_puts_it_aside_while_it_answers(terminals: Terminals, endless: Pair) -> None:
    with terminals.shell(BASH) as screen:
        screen.wait_for(PROMPT)
        before, on_before = screen.modes, screen.emulator.left_on
        screen.keys(terminals.line(endless), ENTER)
        streaming(screen, terminals)
        # With a key, and again with the command.
        for keys in (("\x1bz",), ("/suspend", ENTER)):
            screen.keys(*keys)
            screen.wait_for("Stopped")
            screen.until(lambda: screen.emulator.left_on == on_before)
            screen.until(lambda: screen.modes == before)
            screen.keys("expr 40 + 2", ENTER)
            screen.wait_for("42")
            # Nothing of it is left on the shell's screen, for the next time.
            screen.keys("clear; fg", ENTER)
            # It goes on, and so does the answer.
            screen.wait_for("green7")
            screen.until(is_changing(screen))
        screen.keys(ESCAPE)
        screen.wait_for("stopped")
        screen.keys(CTRL_D)
        screen.wait_for("goes on with this conversation")
        screen.until(lambda: screen.modes == before)


def test_without_a_shell_it_cannot_be_put_aside(terminals: Terminals, story: Pair) -> None:
    with terminals.app(story) as screen:
        screen.wait_for(READY)
        screen.keys("/suspend", ENTER)
        screen.wait_for("there is no shell behind this app")
        screen.keys(CTRL_C, CTRL_D)
        assert screen.end() == 0


def streaming(screen: Screen, terminals: Terminals) -> str:
    """Ask, and watch until an answer has come for a while; words of it that were seen and kept."""
    screen.wait_for(READY)
    screen.keys("go on for ever", ENTER)
    screen.wait_for("green7")

    def look() -> str:
        words = [word for word in screen.words.split() if word[-1].isdigit() and word[0] in "rgb"]
        return " ".join(words) if len(words) > 50 else ""

    return terminals.until_kept(screen, look)


def is_changing(screen: Screen) -> Callable[[], bool]:
    """Whether the screen is another than it is now."""
    now = screen.text
    return lambda: screen.text != now


def is_kept(terminals: Terminals, words: str) -> None:
    """What was on the screen is in the store."""
    asked, answered = terminals.saved
    assert (asked.message.text, answered.state) == ("go on for ever", "stopped")
    assert words in answered.message.text
