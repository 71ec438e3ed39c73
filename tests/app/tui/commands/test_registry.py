from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.tui.commands.arguments import CopyWhat
from gemma_local.app.tui.commands.command import BadArgument, Group, Invocation, UnknownCommand
from gemma_local.app.tui.commands.registry import (
    COMMANDS,
    by_group,
    command_named,
    completions,
    dispatch,
    parse,
)
from gemma_local.app.tui.commands.target import CommandTarget
from gemma_local.app.tui.screens.help_text import help_sections

METHODS = {
    name
    for name, method in vars(CommandTarget).items()
    if inspect.isfunction(method) and not name.startswith("_")
}


class Recorder:
    """A target that keeps what it was told to do."""

    def __init__(self) -> None:
        self.told: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        if name not in METHODS:
            raise AttributeError(name)
        return lambda *arguments: self.told.append((name, arguments))


def told(line: str) -> tuple[str, tuple[Any, ...]]:
    """The one thing that a target is told to do by ``line``."""
    invocation = parse(line)
    assert isinstance(invocation, Invocation), invocation
    recorder: Any = Recorder()
    dispatch(invocation, recorder)
    orders: list[tuple[str, tuple[Any, ...]]] = recorder.told
    assert len(orders) == 1
    return orders[0]


def refusal(line: str) -> str:
    with pytest.raises(BadArgument) as caught:
        parse(line)
    return str(caught.value)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("/clear", ("clear", ())),
        ("/new", ("clear", ())),
        ("/NEW  ", ("clear", ())),
        ("/resume", ("resume", ("",))),
        ("/resume  the  talk ", ("resume", ("the talk",))),
        ("/branch 4", ("branch", (4,))),
        ("/rewind", ("rewind", (None,))),
        ("/retry", ("retry", ())),
        ("/compact", ("compact", ())),
        ("/context", ("context", ())),
        ("/title A  new\nname", ("title", ("A new name",))),
        ("/model", ("model", ("",))),
        ("/model E4B", ("model", ("E4B",))),
        ("/think", ("tell", ("think",))),
        ("/think off", ("think", (None,))),
        ("/think on", ("think", (0,))),
        ("/think 512", ("think", (512,))),
        ("/draft", ("tell", ("draft",))),
        ("/draft auto", ("draft", (None,))),
        ("/draft off", ("draft", (0,))),
        ("/draft 3", ("draft", (3,))),
        ("/stats", ("stats", ())),
        ("/mode", ("tell", ("mode",))),
        ("/mode PLAN", ("mode", ("plan",))),
        ("/summarise", ("quick_task", ("summarize", ""))),
        ("/proofread teh\n\ncat", ("quick_task", ("proofread", "teh\n\ncat"))),
        ("/reply\nDear all", ("quick_task", ("reply", "Dear all"))),
        ("/copy", ("copy", (CopyWhat(),))),
        ("/copy all", ("copy", (CopyWhat("all"),))),
        ("/copy code", ("copy", (CopyWhat("code"),))),
        ("/copy code 2", ("copy", (CopyWhat("code", 2),))),
        ("/export", ("export", (None,))),
        ("/export my talk.HTML", ("export", (Path("my talk.HTML"),))),
        ("/edit", ("edit", ())),
        ("/find", ("find", ("",))),
        ("/find two words", ("find", ("two words",))),
        ("/tint", ("tint", (None,))),
        ("/tint On", ("tint", (True,))),
        ("/thoughts off", ("thoughts", (False,))),
        ("/theme", ("tell", ("theme",))),
        ("/theme Gemma-Light", ("theme", ("gemma-light",))),
        ("/help", ("help", ())),
        ("/quit", ("exit", ())),
    ],
)
def test_what_a_line_orders(line: str, expected: tuple[str, tuple[Any, ...]]) -> None:
    assert told(line) == expected


def test_every_command_has_its_method_and_every_method_a_command() -> None:
    arguments = {
        "title": "x",
        "best": "2 x",
        "export": "x.md",
        "theme": "gemma-dark",
        "branch": "1",
    }
    tried = {"tell"}
    for command in COMMANDS:
        values = [arguments.get(command.name, ""), *command.values("")]
        for value in values:
            if value or not command.needs_argument:
                tried.add(told(f"/{command.name} {value}")[0])
    assert tried == METHODS


def test_names_are_used_once() -> None:
    names = [name for command in COMMANDS for name in command.names]
    assert len(names) == len(set(names))
    assert all(re.fullmatch("[a-z]+", name) for name in names)


def test_what_completion_offers_is_taken() -> None:
    for command in COMMANDS:
        for value in command.values(""):
            assert isinstance(parse(f"/{command.name} {value}"), Invocation), value
            assert value in completions(command.name, value[:1])
    assert completions("nothing", "") == []
    assert completions("mode", "p") == ["plan"]
    assert completions("export", "x") == []


def test_help_lists_every_command_in_its_group() -> None:
    rows = {row.name for section in help_sections() for row in section.rows}
    assert {command.usage for command in COMMANDS} <= rows
    assert set(by_group()) == set(get_args(Group))
    assert sum(map(len, by_group().values())) == len(COMMANDS)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "/draft 99",
            "/draft: give auto, off or a whole number from 0 to 16, not '99'",
        ),
        ("/think maybe", "/think: give on, off or a whole number from 1 to 1048576, not 'maybe'"),
        (
            "/export talk.pdf",
            "/export: give a file that ends in .md, .html or .json, not 'talk.pdf'",
        ),
        ("/export talk", "/export: give a file that ends in .md, .html or .json, not 'talk'"),
        ("/copy code x", "/copy: give a whole number from 1 to 9999, not 'x'"),
        ("/copy me", "/copy: give last, code, code N or all, not 'me'"),
        ("/tint maybe", "/tint: give on or off, not 'maybe'"),
        ("/mode yolo", "/mode: give ask, edits, auto or plan, not 'yolo'"),
        ("/theme gemma-drak", "/theme: there is no 'gemma-drak'; did you mean gemma-dark?"),
        ("/rewind all", "/rewind: give a whole number from 1 to 1000000, not 'all'"),
        ("/title", "/title needs something behind it: /title TITLE"),
        ("/help me", "/help: it takes nothing behind it, and there is 'me'"),
    ],
)
def test_an_argument_that_makes_no_sense_is_said(line: str, sentence: str) -> None:
    assert refusal(line) == sentence


@pytest.mark.parametrize(
    "line",
    ["", "hello", " /help", "/", "//", "/etc/hosts", "/etc/hosts is empty, why?", "/9", "/a.b c"],
)
def test_a_message_is_no_command(line: str) -> None:
    assert parse(line) is None


@pytest.mark.parametrize(
    ("line", "nearest"),
    [("/hlep", "help"), ("/exp", "export"), ("/comp", "compact"), ("/tmp is full", ""),
     ("/zzz", "")],
)  # fmt: skip
def test_what_is_no_command_says_the_nearest(line: str, nearest: str) -> None:
    unknown = parse(line)
    assert isinstance(unknown, UnknownCommand)
    assert unknown.nearest == nearest
    assert "A blank before the slash makes it a message." in unknown.sentence()


def test_names_are_found_however_they_are_written() -> None:
    assert command_named("Sessions") is command_named("resume")
    assert command_named("nothing") is None


@given(st.text())
def test_no_line_does_anything_else(line: str) -> None:
    for text in (line, f"/{line}", f"/draft {line}", f"/copy {line}", f"/export {line}"):
        try:
            result = parse(text)
        except BadArgument as error:
            result = None
            assert str(error)  # noqa: PT017 - the others are checked as well
        assert result is None or isinstance(result, Invocation | UnknownCommand)
