"""The app and its engine are killed while an answer comes; nothing that was shown is lost."""

from __future__ import annotations

import os
import random
import re
import signal
import sys
from functools import partial

import pytest

from tests.app.running import wait_gone
from tests.app.tui.end_to_end.screen import CTRL_C, CTRL_D, ENTER, Screen
from tests.app.tui.end_to_end.terminals import READY, Terminals
from tests.ggufs import Pair

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

KILLS = int(os.environ.get("GEMMA_LOCAL_TEST_KILLS", "2"))
"""How often each of the two is killed; more take longer and find more."""
# A scroll bar stands at the right.
WORD = re.compile(r"\b(?:On|(?:red|green|blue)[0-7])\b")


def test_the_app_is_killed_at_any_moment(terminals: Terminals, endless: Pair) -> None:
    moments = random.Random(7)
    kept, was_stopped = "", False
    for round_ in range(KILLS):
        question = f"question {round_}"
        more = ["--continue"] if kept else []
        # Below a shell that changes nothing: with its first process a terminal ends, too.
        line = terminals.line(endless, *more)
        with terminals.shell(("sh", "-c", f"{line}; sleep 60")) as screen:
            before = screen.modes
            screen.wait_up()
            if kept:
                # The last answer is there again, to its last word.
                screen.until(lambda text=kept: _ends(screen, text))  # type: ignore[misc]
                screen.wait_for("stopped" if was_stopped else "")
                # A message that was only just sent may be back as one that was not.
                screen.keys(CTRL_C)
                _begin_anew(screen)
            elif round_ % 3:
                # Else it is killed while it loads, or soon after.
                screen.wait_for(READY)
            screen.keys(question, ENTER)
            settled = ""
            if round_ % 3:
                look = partial(_answer_to, question, screen)
                screen.until(look)
                screen.watch(moments.uniform(0.0, 1.0))
                settled = terminals.until_kept(screen, look)
            screen.watch(moments.uniform(0.0, 1.0))
            app, *others = screen.below("gemma_local")
            os.kill(app, signal.SIGKILL)
            screen.wait_for("gemma-local was killed")
            screen.until(lambda: screen.emulator.left_on == [])
            screen.until(lambda modes=before: screen.modes == modes)  # type: ignore[misc]
            wait_gone(app, *others)
        entries = terminals.saved
        if entries and entries[-1].message.role == "assistant":
            assert entries[-2].message.text == question
            kept, was_stopped = entries[-1].message.text, entries[-1].state == "stopped"
            # If we were kept from looking for long, it had filled the context.
            assert was_stopped or entries[-1].finish == "length"
        assert settled in kept


def test_the_engine_is_killed_at_any_moment(terminals: Terminals, endless: Pair) -> None:
    moments = random.Random(8)
    tokens = 600
    with terminals.app(endless, "--max-tokens", tokens) as screen:
        screen.wait_for(READY)
        kills = 0
        while kills < KILLS:
            question = f"question {moments.random()}"
            screen.keys(question, ENTER)
            look = partial(_answer_to, question, screen)
            screen.until(look)
            screen.watch(moments.uniform(0.0, 0.5))
            seen = terminals.until_kept(screen, look)
            (engine,) = screen.below("gemma_local.engine.host")
            # If we were kept from looking for long, the answer is over.
            kills += terminals.saved[-1].finish != "length"
            os.kill(engine, signal.SIGKILL)
            screen.until(lambda: terminals.saved[-1].finish == "length")
            answer = terminals.saved[-1]
            said = WORD.findall(answer.message.text)
            assert len(said) == tokens
            # Not a word of what was there has changed.
            assert seen in answer.message.text
            screen.until(lambda text=answer.message.text: _ends(screen, text))  # type: ignore[misc]
            assert screen.below("gemma_local.engine.host") != [engine]
            _begin_anew(screen)
        processes = screen.below()
        screen.keys(CTRL_D)
        assert screen.end() == 0
        assert screen.emulator.left_on == []
        wait_gone(*processes)


def _begin_anew(screen: Screen) -> None:
    """Begin another conversation: long ones are slow."""
    screen.keys("/clear", ENTER)
    screen.until(lambda: not WORD.search(screen.text))


def _ends(screen: Screen, text: str) -> bool:
    """Whether the end of an answer is to be seen."""
    return WORD.findall(screen.text)[-20:] == WORD.findall(text)[-20:]


def _answer_to(question: str, screen: Screen) -> str:
    """What is to be seen of the answer to a question."""
    # All of the screen where the question has gone above it.
    return " ".join(WORD.findall(screen.text.rpartition(question)[2]))
