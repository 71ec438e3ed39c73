"""Terminals that can do little, are tiny or huge, or lead elsewhere."""

from __future__ import annotations

import re

import pytest

from tests.app.running import STORY
from tests.app.tui.end_to_end.screen import CTRL_D, ENTER, ESCAPE
from tests.app.tui.end_to_end.terminals import POINT, PROMPT, READY, Terminals
from tests.ggufs import Pair

BASH = ["bash", "--norc", "--noprofile", "-i"]

FIRST_GREY = 232
"""From this one on the 256 colours of a terminal are none."""


@pytest.mark.parametrize(
    ("variables", "is_ascii"),
    [
        pytest.param({"TERM": "tmux-256color", "TMUX": "/nowhere,1,0"}, False, id="tmux"),
        pytest.param({"NO_COLOR": "1"}, False, id="no colours"),
        pytest.param({"TERM": "linux"}, True, id="linux"),
        pytest.param({"TERM": "vt100", "LC_ALL": "C", "LANG": "C"}, True, id="vt100-C"),
    ],
)
def test_a_terminal_of_another_kind(
    terminals: Terminals, story: Pair, variables: dict[str, str], is_ascii: bool
) -> None:
    with terminals.app(story, variables=variables) as screen:
        screen.wait_up()
        screen.keys("hello", ENTER)
        screen.wait_for("acceptance 67")
        assert STORY.text in screen.words
        assert screen.written.isascii() == is_ascii
        if "NO_COLOR" in variables:
            colours = re.findall(rb"[34]8;5;(\d+)", screen.written)
            assert colours and all(int(colour) >= FIRST_GREY for colour in colours)
        screen.keys(CTRL_D)
        assert screen.end() == 0
        assert screen.emulator.left_on == []


def test_a_dumb_terminal_gets_lines(terminals: Terminals, story: Pair) -> None:
    with terminals.app(story, variables={"TERM": "dumb"}) as screen:
        screen.wait_for("/help lists the commands")
        screen.keys("hello", ENTER)
        screen.wait_for("acceptance 67%")
        # Only at the prompt it is the end of the input.
        screen.until(lambda: screen.text.rstrip().endswith("\n>"))
        screen.keys(CTRL_D)
        assert screen.end() == 0
        assert b"\x1b[?1049" not in screen.written


def test_no_size_is_too_small_or_too_large(terminals: Terminals, story: Pair) -> None:
    with terminals.app(story, size=(20, 6)) as screen:
        screen.wait_up()
        screen.keys("hello", ENTER)
        screen.wait_for("tokens per pass")
        assert f"{POINT} Write" in screen.words
        for columns, lines in ((1, 1), (2, 40), (10, 3), (300, 90)):
            screen.resize(columns, lines)
            screen.watch(0.4)
        screen.wait_for(STORY.text)
        # Text stays as narrow as can be read.
        assert max(len(row) for row in screen.text.split("\n") if "word" in row) <= 104
        screen.keys("/help", ENTER)
        screen.wait_for("Keys while writing")
        screen.resize(20, 6)
        screen.watch(0.4)
        screen.keys(ESCAPE)
        screen.wait_for(f"{POINT} Write")
        screen.keys(CTRL_D)
        assert screen.end() == 0


def test_where_its_output_leads_elsewhere(terminals: Terminals, story: Pair) -> None:
    with terminals.shell(BASH) as screen:
        screen.wait_for(PROMPT)
        before = screen.modes
        screen.keys(f"{terminals.line(story)} 2>errors.txt", ENTER)
        screen.wait_for(READY)
        screen.keys("hello", ENTER)
        screen.wait_for("acceptance")
        assert STORY.text in screen.words
        screen.keys(CTRL_D)
        screen.wait_for("goes on with this conversation")
        screen.until(lambda: screen.modes == before)
        assert (terminals.folder / "errors.txt").read_text() == ""
        # Standard output that is no terminal gets the plain chat.
        screen.keys(f"clear; {terminals.line(story)} >lines.txt", ENTER)
        lines = terminals.folder / "lines.txt"
        screen.until(lambda: lines.exists() and "/help lists" in lines.read_text())
        screen.keys("hello", ENTER)
        screen.until(lambda: "acceptance" in lines.read_text())
        screen.keys(CTRL_D)
        screen.wait_for(f"hello {PROMPT}")
        assert STORY.text in lines.read_text()
        assert "\x1b" not in lines.read_text()
