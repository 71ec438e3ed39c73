"""From the first moment on what is typed is the app's, and the terminal's own words are not."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from gemma_local.app.tui.terminal_answers import QUESTION
from tests.app.running import STORY
from tests.app.tui.end_to_end.screen import CTRL_C, CTRL_D, ENTER, Screen
from tests.app.tui.end_to_end.terminals import POINT, READY, Terminals
from tests.ggufs import Pair

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

ALTERNATE = b"\x1b[?1049h"
LIGHT_ANSWER = b"\x1b]11;rgb:fafa/fafa/f8f8\x1b\\"
WHAT_IT_IS = b"\x1b[?62;22c"


def test_what_is_typed_at_once_is_sent(terminals: Terminals, story: Pair) -> None:
    with terminals.app(story) as screen:
        # Before Python has begun, and again while the app is loaded.
        screen.keys("the first", ENTER)
        screen.wait_up()
        screen.keys("and more")
        screen.wait_for(READY)
        screen.wait_for("word49.")
        screen.wait_for(f"{POINT} and more")
        assert b"and more" not in screen.written.partition(ALTERNATE)[0]
        assert [entry.message.text for entry in terminals.saved] == ["the first", STORY.text]
        screen.keys(CTRL_C, CTRL_D)
        assert screen.end() == 0


def test_who_wants_out_gets_out(terminals: Terminals, story: Pair) -> None:
    with terminals.app(story) as screen:
        before = screen.modes
        screen.wait_up()
        os.kill(screen.pid, signal.SIGINT)
        # The second where it was caught inside an exec, as of a dataclass: Python then ends itself
        # by the signal, which a shell calls 130 as well.
        assert screen.end() in (130, -signal.SIGINT)
        assert screen.modes == before
        assert screen.emulator.left_on == []
        assert "Traceback" not in screen.text


def test_a_kill_while_it_is_loaded(terminals: Terminals, story: Pair) -> None:
    # Below a shell that changes nothing: with its first process a terminal ends, too.
    line = terminals.line(story)
    with terminals.shell(("sh", "-c", f"{line}; sleep 60")) as screen:
        before = screen.modes
        screen.wait_up()
        (app,) = screen.below("gemma_local.app.cli")[:1]
        os.kill(app, signal.SIGKILL)
        screen.wait_for("gemma-local was killed")
        screen.until(lambda: screen.modes == before)


@pytest.mark.parametrize("is_late", [False, True])
def test_the_theme_goes_by_the_terminal(terminals: Terminals, story: Pair, is_late: bool) -> None:
    with terminals.app(story, variables={"GEMMA_LOCAL_SCREEN__THEME": "auto"}) as screen:
        screen.until(lambda: QUESTION.encode() in screen.written)
        screen.keys("a")
        if is_late:
            screen.wait_for(READY)
            assert not is_light(screen)
        # In pieces, with keys between: as bad as it gets.
        screen.send(LIGHT_ANSWER[:9])
        screen.send(LIGHT_ANSWER[9:])
        screen.keys("b")
        screen.send(WHAT_IT_IS)
        screen.keys("c")
        screen.until(lambda: is_light(screen))
        screen.wait_for(f"{POINT} abc")
        screen.wait_for(READY)
        assert f"{POINT} abc" in screen.words
        assert "rgb" not in screen.text
        screen.keys(CTRL_C, CTRL_D)
        assert screen.end() == 0


def test_the_terminal_is_asked_when_a_person_wants_its_theme(
    terminals: Terminals, story: Pair
) -> None:
    with terminals.app(story) as screen:
        screen.wait_for(READY)
        assert QUESTION.encode() not in screen.written
        screen.keys("/theme auto", ENTER)
        screen.until(lambda: QUESTION.encode() in screen.written)
        assert not is_light(screen)
        screen.send(LIGHT_ANSWER + WHAT_IT_IS)
        screen.until(lambda: is_light(screen))
        screen.keys(CTRL_D)
        assert screen.end() == 0


def is_light(screen: Screen) -> bool:
    """Whether the screen is brighter than what stands on it."""
    colour = screen.emulator.buffer[0][0].bg
    return len(colour) == 6 and int(colour[:2], 16) > 128
