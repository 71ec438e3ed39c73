"""The terminal before there is an app, and what it says itself."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.tui.terminal_answers import (
    LATEST,
    QUESTION,
    Answers,
    is_dark_by_environment,
    is_dark_colour,
)

if sys.platform == "win32":
    pytest.skip("has no terminals of this kind", allow_module_level=True)

import pty
import termios

from gemma_local.app.tui.early_terminal import EarlyTerminal, quiet

WHITE = b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\"
BLACK = b"\x1b]11;rgb:0000/0000/0000\x07"
IT_IS = b"\x1b[?62;22c"


@pytest.fixture
def ends() -> Iterator[tuple[int, int]]:
    """A terminal: the end of the person, and that of the program."""
    person, program = pty.openpty()
    yield person, program
    os.close(person)
    os.close(program)


# ------------------------------------------------------------------------------------ the terminal


def test_what_was_typed_before_arrives_as_keys(ends: tuple[int, int]) -> None:
    person, program = ends
    # The terminal makes a newline of Enter, and passes nothing on before the line has ended.
    os.write(person, b"hello\rand mor")
    terminal = EarlyTerminal(program, program)
    os.write(person, b"e\r")
    typed = terminal.take_typed() + os.read(program, 100)
    assert typed == b"hello\rand more\r"
    assert terminal.take_typed() == b""


def test_nothing_is_echoed_and_the_terminal_is_given_back(ends: tuple[int, int]) -> None:
    person, program = ends
    before = termios.tcgetattr(program)
    terminal = EarlyTerminal(program, program)
    assert terminal.modes == before
    assert termios.tcgetattr(program) == quiet(program, before)
    os.write(person, b"secret")
    os.write(program, b".")
    assert os.read(person, 100) == b"."
    # Whoever wants out gets out.
    assert termios.tcgetattr(program)[3] & termios.ISIG
    terminal.give_back()
    assert termios.tcgetattr(program) == before


def test_the_answer_is_no_key(ends: tuple[int, int]) -> None:
    person, program = ends
    terminal = EarlyTerminal(program, program)
    terminal.ask()
    assert os.read(person, 100) == QUESTION.encode()
    os.write(person, b"ab" + WHITE + b"c\x1b[A" + IT_IS + b"d")
    terminal.hear_answer(60.0)
    assert terminal.take_typed() == b"abc\x1b[Ad"
    assert terminal.answers.is_dark is False
    assert not terminal.answers.is_owed


def test_a_terminal_that_says_nothing_is_waited_for_only_so_long(ends: tuple[int, int]) -> None:
    _, program = ends
    terminal = EarlyTerminal(program, program)
    terminal.ask()
    terminal.hear_answer(0.01)
    assert terminal.answers.is_dark is None
    # It may come, still, and is no key even then.
    assert terminal.answers.sift(b"x" + BLACK + b"y" + IT_IS) == b"xy"
    assert terminal.answers.is_dark is True


# ----------------------------------------------------------------------------------------- answers


@given(
    st.lists(st.text(alphabet="abcé\r\t[]?;1c/"), min_size=4, max_size=4),
    st.lists(st.integers(0, 80), max_size=6),
    st.sampled_from((WHITE, BLACK)),
)
def test_answers_are_found_however_they_are_cut(
    typed: Sequence[str], cuts: Sequence[int], colour: bytes
) -> None:
    parts = [text.encode() for text in typed]
    data = parts[0] + colour + parts[1] + b"\x1b[A" + parts[2] + IT_IS + parts[3]
    answers = Answers()
    answers.expect()
    ends = [0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]
    pieces = [data[start:end] for start, end in pairwise(ends)]
    found = b"".join(map(answers.sift, pieces)) + answers.let_go()
    assert found == parts[0] + parts[1] + b"\x1b[A" + parts[2] + parts[3]
    assert answers.is_dark is (colour == BLACK)
    assert answers.is_over


def test_without_a_question_everything_is_a_key() -> None:
    assert Answers().sift(b"a" + WHITE + b"\x1b") == b"a" + WHITE + b"\x1b"


def test_a_key_that_might_be_an_answer_is_only_kept_for_a_moment() -> None:
    answers = Answers()
    answers.expect()
    assert answers.sift(b"a\x1b") == b"a"
    assert answers.let_go() == b"\x1b"
    assert answers.let_go() == b""


def test_an_answer_is_not_expected_for_ever() -> None:
    now = [0.0]
    answers = Answers(lambda: now[0])
    answers.expect()
    # Nothing was answered yet, however long ago it was asked.
    now[0] = 1e6
    assert answers.sift(b"a\x1b") + answers.sift(IT_IS[1:]) == b"a"
    now[0] += LATEST / 2
    assert answers.sift(b"\x1b") == b""
    assert answers.sift(BLACK[1:]) == b""
    answers.expect()
    assert answers.sift(IT_IS) == b""
    now[0] += LATEST
    assert answers.sift(b"\x1b") == b"\x1b"


@pytest.mark.parametrize(
    ("colour", "is_dark"),
    [
        ("rgb:1e1e/1e1e/2e2e", True),
        ("rgb:ff/ff/f0", False),
        ("rgba:0000/0000/0000/ffff", True),
        ("rgb:0/f/0", False),
        ("rgb:0000/0000/ffff", True),
        ("something", None),
    ],
)
def test_dark_and_light_colours(colour: str, is_dark: bool | None) -> None:
    assert is_dark_colour(colour) is is_dark


@pytest.mark.parametrize(
    ("value", "is_dark"),
    [
        ("15;0", True),
        ("0;15", False),
        ("0;default;7", False),
        ("7;8", True),
        ("", None),
        ("a;b", None),
        ("1;99", None),
    ],
)
def test_dark_and_light_by_the_environment(value: str, is_dark: bool | None) -> None:
    assert is_dark_by_environment({"COLORFGBG": value}) is is_dark
    assert is_dark_by_environment({}) is None
