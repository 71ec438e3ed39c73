"""The plain chat, on a terminal."""

from __future__ import annotations

import os
import re
import signal
import sys
import time

import pytest

from tests.app.running import FAST, STORY, Command, Terminal, child_of
from tests.ggufs import Pair

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs a pty")

STATUS = r"(\d+\.\d) tokens/s · [^\n]*\n"


def chat(command: Command, pair: Pair, *more: object) -> Terminal:
    return command.terminal("--plain", "--model", pair.target, *FAST, "--temperature", 0, *more)


def leave(terminal: Terminal) -> None:
    """Ctrl-D, which means something only once the prompt is there."""
    terminal.wait_for("> ")
    terminal.type("\x04")


def test_it_answers_keeps_the_conversation_and_leaves(command: Command, story: Pair) -> None:
    with chat(command, story) as terminal:
        terminal.wait_for(r"/help lists the commands[^\n]*\n.*> ")
        terminal.line("hello")
        first = terminal.wait_for(STATUS)
        assert STORY.text in first
        assert "reused" not in first
        turns: list[tuple[int, ...]] = []
        for number in range(10):
            terminal.line(f"and what is number {number}?")
            later = terminal.wait_for(STATUS)
            assert STORY.text in later
            match = re.search(r"prompt (\d+) read in \S+ s, (\d+) reused", later)
            assert match is not None
            turns.append(tuple(map(int, match.groups())))
            # A later turn reads only what is new; what is behind a thought that is dropped is read
            # in idle time, which on a busy machine may not have come yet when a line is typed.
            if turns[-1][1] > 50 > turns[-1][0]:
                break
            time.sleep(number * 0.3)
        read, reused = turns[-1]
        assert reused > 50 > read, turns
        terminal.line("/new")
        terminal.wait_for("a new conversation")
        terminal.line("hello")
        assert "prompt" in terminal.wait_for(STATUS)
        terminal.line("/exit")
        assert terminal.end() == 0


def test_commands_and_messages_of_several_lines(command: Command, story: Pair) -> None:
    with chat(command, story, "--draft", 3) as terminal:
        terminal.wait_for("> ")
        terminal.line("/help")
        terminal.wait_for("begins a message of several lines")
        terminal.line("/nonsense")
        terminal.wait_for("there is no command /nonsense")
        terminal.line('"""one')
        terminal.wait_for(r"\.\.\. ")
        terminal.line("")
        terminal.line('two"""')
        assert STORY.text in terminal.wait_for(STATUS)
        terminal.line("/stats")
        stats = terminal.wait_for("accepted by position[^\n]*\n")
        assert "acceptance 67%" in stats
        assert "drafter, up to 3 tokens" in stats
        leave(terminal)
        assert terminal.end() == 0


def test_ctrl_c_stops_an_answer_and_keeps_it(command: Command, endless: Pair) -> None:
    with command.terminal("--plain", "--model", endless.target, *FAST) as terminal:
        terminal.wait_for("> ")
        # A signal between the prompt and the wait for a key is only seen at the next key.
        time.sleep(0.3)
        terminal.type("\x03")
        terminal.wait_for("Ctrl-D or /exit leaves")
        terminal.line("go on")
        terminal.wait_for(r"On (red|green|blue)0")
        terminal.type("\x03")
        terminal.wait_for("stopped")
        terminal.wait_for(STATUS)
        terminal.line("and now?")
        terminal.wait_for("On ")
        terminal.type("\x03")
        status = terminal.wait_for(STATUS)
        assert "reused" in status
        terminal.line("/exit")
        assert terminal.end() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_it_survives_the_death_of_its_engine(command: Command, endless: Pair) -> None:
    with command.terminal("--plain", "--model", endless.target, *FAST) as terminal:
        terminal.wait_for("> ")

        def kill_engine() -> None:
            engine = child_of(terminal.process.pid)
            assert engine is not None
            os.kill(engine, signal.SIGKILL)

        # Between two messages, then in the middle of an answer.
        kill_engine()
        terminal.line("go on")
        terminal.wait_for("the engine died")
        terminal.wait_for("On ")
        terminal.type("\x03")
        terminal.wait_for(STATUS)
        terminal.line("go on")
        terminal.wait_for(r"On (red|green|blue)0")
        kill_engine()
        terminal.wait_for("the engine died")
        terminal.wait_for(r"(red|green|blue)7 ")
        terminal.type("\x03")
        terminal.wait_for(STATUS)
        leave(terminal)
        assert terminal.end() == 0


def test_what_only_makes_sense_with_a_prompt_is_refused(command: Command, story: Pair) -> None:
    for words in (["--raw"], ["--output", "json"]):
        with command.terminal("--plain", "--model", story.target, *words) as terminal:
            terminal.wait_for("needs a prompt")
            assert terminal.end() == 2
