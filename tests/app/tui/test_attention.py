from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.settings import NotifySettings
from gemma_local.app.tui.attention import Attention, clean, kind_of, notice

ITERM = {"TERM": "xterm-256color", "TERM_PROGRAM": "iTerm.app"}


def made(
    environ: dict[str, str] | None = None, settings: NotifySettings | None = None
) -> tuple[Attention, list[str]]:
    written: list[str] = []
    return Attention(settings or NotifySettings(), written.append, environ or ITERM), written


def test_only_who_looks_elsewhere_hears_of_a_slow_answer() -> None:
    attention, written = made()
    assert not attention.answered(60, "done")
    attention.focused = False
    assert not attention.answered(9.9, "done")
    assert attention.answered(10, "done")
    assert written == ["\x1b]9;done\a"]


@pytest.mark.parametrize(("when", "expected"), [("always", 1), ("never", 0)])
def test_the_settings_decide(when: str, expected: int) -> None:
    settings = NotifySettings.model_validate({"when": when, "after": 0, "how": "bell"})
    attention, written = made(settings=settings)
    attention.answered(0, "done")
    assert written == ["\a"] * expected


@pytest.mark.parametrize(
    ("environ", "kind"),
    [
        (ITERM, "osc9"),
        ({"TERM_PROGRAM": "WezTerm"}, "osc9"),
        ({"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}, "osc9"),
        ({"TERM": "foot"}, "osc777"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "vscode"}, "bell"),
        ({"TERM": "xterm-256color", "WT_SESSION": "x"}, "bell"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "Apple_Terminal"}, "bell"),
        ({}, "bell"),
    ],
)
def test_what_a_terminal_is_known_to_do(environ: dict[str, str], kind: str) -> None:
    assert kind_of(environ, "auto") == kind
    assert kind_of(environ, "osc9") == "osc9"


def test_tmux_passes_it_on_and_marks_the_window() -> None:
    environ = {"TMUX": "x", "TERM_PROGRAM": "tmux", "LC_TERMINAL": "iTerm2"}
    assert notice("done", kind_of(environ, "auto"), environ) == (
        "\x1bPtmux;\x1b\x1b]9;done\a\x1b\\\a"
    )


def test_the_title_is_given_back() -> None:
    attention, written = made()
    attention.give_back()
    attention.title("one")
    attention.title("two")
    attention.give_back()
    attention.give_back()
    assert written == ["\x1b[22;2t", "\x1b]2;one\a", "\x1b]2;two\a", "\x1b[23;2t"]


@pytest.mark.parametrize("term", ["dumb", "linux", ""])
def test_a_terminal_without_a_window_gets_no_title(term: str) -> None:
    attention, written = made({"TERM": term})
    attention.title("one")
    attention.give_back()
    assert written == []


@given(st.text())
def test_no_text_ends_the_sequence_early(text: str) -> None:
    assert len(clean(text)) <= 120
    for sequence in (notice(text, "osc9", {}), notice(text, "osc777", {})):
        assert sequence.count("\x1b") == 1 and sequence.count("\a") == 1
        assert "\n" not in sequence
        assert not any("\x80" <= character <= "\x9f" for character in sequence)
