"""What is written to a terminal, and what is not."""

from __future__ import annotations

import io

import pytest

from gemma_local.app.options import AnswerOptions
from gemma_local.app.requests import GEMMA_SAMPLING, GUEST_SAMPLING, request, sampling
from gemma_local.app.terminal import dim, printable, table
from gemma_local.models.chat_format import Rendering, Section
from gemma_local.models.prompt import Text


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_escape_sequences_reach_files_but_no_terminal() -> None:
    text = "a\x1b[2Jb\x9b1mc\td\ne\r\x07é"
    assert printable(text, io.StringIO()) == text
    assert printable(text, Screen()) == "a\ufffd[2Jb\ufffd1mc\td\ne\ufffd\ufffdé"


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert dim("x", Screen()) == "\x1b[2mx\x1b[0m"
    assert dim("x", io.StringIO()) == "x"
    monkeypatch.setenv("NO_COLOR", "1")
    assert dim("x", Screen()) == "x"


def test_tables_line_up() -> None:
    assert table(("kind", "speed"), [("a", "1.0"), ("longer", "12.5")]) == (
        "kind    speed\na         1.0\nlonger   12.5"
    )


def test_sampling_starts_from_the_models_defaults_and_always_has_a_seed() -> None:
    gemma, guest = (sampling(AnswerOptions(), is_gemma4=gemma) for gemma in (True, False))
    assert (gemma.temperature, gemma.top_k, gemma.top_p) == (1.0, 64, 0.95)
    assert gemma.top_k == GEMMA_SAMPLING.top_k
    assert guest.temperature == GUEST_SAMPLING.temperature
    assert gemma.seed is not None
    chosen = AnswerOptions(temperature=0.0, min_p=0.0, seed=3, lenience=0.5)
    found = sampling(chosen, is_gemma4=False)
    assert (found.temperature, found.min_p, found.seed, found.lenience) == (0.0, 0.0, 3, 0.5)
    assert found.top_k == GUEST_SAMPLING.top_k


def test_options_reach_the_request() -> None:
    options = AnswerOptions(draft=4, max_tokens=7, stop=["a", "b"])
    rendering = Rendering((Section("message", (Text("x"),)),), "thought")
    asked = request(rendering, options, is_gemma4=True, session="k3b0")
    assert (asked.draft, asked.max_tokens, asked.stop) == (4, 7, ("a", "b"))
    assert asked.prompt == (Text("x"),)
    assert (asked.session, asked.opens_thought, asked.thought_tokens) == ("k3b0", True, None)
    assert request(rendering, AnswerOptions(think=9), is_gemma4=True).thought_tokens == 9
