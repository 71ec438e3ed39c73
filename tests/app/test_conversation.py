"""A conversation's prompts: each begins with all that was read and answered before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.conversation import Conversation
from gemma_local.app.prompts import GemmaWriter, GuestWriter, RawWriter
from gemma_local.models.errors import BadModelFile
from gemma_local.models.guest_template import GuestTemplate
from gemma_local.models.prompt import Control, Ids, Markup, Piece, Text
from tests.app.test_guest_template import CHATML, MISTRAL

FORGETFUL = "{% for m in messages %}<{{ m.role }}>{{ m.content | upper }}{% endfor %}"


def guest(source: str) -> GuestWriter:
    return GuestWriter(GuestTemplate(Path("guest.gguf"), source, "<s>", "</s>"))


def turn(name: str, text: str) -> list[Piece]:
    return [Control("<|turn>"), Text(f"{name}\n{text}"), Control("<turn|>"), Text("\n")]


def test_gemma_goes_on_with_the_tokens_of_the_answer() -> None:
    talk = Conversation(GemmaWriter(empty_thought=False), "Be brief.")
    begin = [Control("<bos>"), *turn("system", "Be brief."), *turn("user", "Hi")]
    opening = [Control("<|turn>"), Text("model\n")]
    assert talk.ask("Hi") == (*begin, *opening)
    talk.keep(" Hello. ", (5, 6))
    answered = [Ids((5, 6)), Control("<turn|>"), Text("\n")]
    assert talk.ask("Bye") == (*begin, *opening, *answered, *turn("user", "Bye"), *opening)


def test_the_large_gemmas_are_primed_in_every_turn() -> None:
    talk = Conversation(GemmaWriter(empty_thought=True))
    first = talk.ask("Hi")
    assert first[-3:] == (Control("<|channel>"), Text("thought\n"), Control("<channel|>"))
    talk.keep("Hello", (1,))
    second = talk.ask("Bye")
    assert second[: len(first)] == first
    assert second[-3:] == first[-3:]


def test_a_guest_goes_on_with_the_tokens_of_the_answer() -> None:
    talk = Conversation(guest(CHATML), "Be brief.")
    first = talk.ask("Hi")
    talk.keep("Hello. ", (5, 6))
    rest = "<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n"
    assert talk.ask("Bye") == (*first, Ids((5, 6)), Markup(rest))


def test_a_guest_whose_template_changes_the_past_reads_it_anew() -> None:
    talk = Conversation(guest(FORGETFUL))
    talk.ask("Hi")
    talk.keep("Hello", (5, 6))
    assert talk.ask("Bye") == (Markup("<user>HI<assistant>HELLO<user>BYE"),)


def test_text_without_format() -> None:
    talk = Conversation(RawWriter())
    assert talk.ask("Once") == (Text("Once"),)
    talk.keep(" upon", (7,))
    assert talk.ask(" a time") == (Text("Once"), Ids((7,)), Text(" a time"))


def test_a_withdrawn_question_leaves_no_trace() -> None:
    talk = Conversation(guest(MISTRAL))
    first = talk.ask("Hi")
    talk.withdraw()
    assert talk.ask("Hi") == first
    talk.keep("Hello", (5,))
    second = talk.ask("Bye")
    talk.withdraw()
    # Two questions in a row would be refused by this template.
    assert talk.ask("Bye") == second


def test_clearing_keeps_the_instructions() -> None:
    talk = Conversation(GemmaWriter(empty_thought=False), "Be brief.")
    first = talk.ask("Hi")
    talk.keep("Hello", (5,))
    talk.clear()
    assert talk.ask("Hi") == first


def test_a_failing_template_changes_nothing() -> None:
    source = "{% if messages | length > 2 %}{{ raise_exception('no') }}{% endif %}x"
    talk = Conversation(guest(source))
    talk.ask("Hi")
    talk.keep("x", (5,))
    for _ in range(2):
        with pytest.raises(BadModelFile, match="no"):
            talk.ask("Bye")
