"""A conversation's prompts: each begins with all that was read and answered before it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.compaction import SUMMARY_REQUEST, StandIn
from gemma_local.app.conversation import INTERRUPTED, Conversation
from gemma_local.app.prompts import GemmaWriter, GuestWriter, PromptWriter, RawWriter
from gemma_local.app.record import Unsaved
from gemma_local.models.errors import BadModelFile
from gemma_local.models.guest_template import GuestTemplate
from gemma_local.models.message import Message, Opening, Spoken, Tool, ToolCall
from gemma_local.models.prompt import Control, Ids, Markup, Piece, Prompt, Text
from tests.app.test_guest_template import CHATML, MISTRAL

FORGETFUL = "{% for m in messages %}<{{ m.role }}>{{ m.content | upper }}{% endfor %}"
SMALL = GemmaWriter(primes_empty_thought=False)
LARGE = GemmaWriter(primes_empty_thought=True)
READ = Tool("read", "Reads a file", {"type": "object", "properties": {"path": {"type": "string"}}})


def guest(source: str) -> GuestWriter:
    return GuestWriter(GuestTemplate(Path("guest.gguf"), source, "<s>", "</s>"))


class Talk(Conversation):
    """A conversation whose answers are given by the test."""

    def __init__(self, writer: PromptWriter, system: str = "", **more: object) -> None:
        super().__init__(writer, Unsaved(), system=system, **more)  # type: ignore[arg-type]

    def asked(self, text: str) -> Prompt:
        self.ask(text)
        return self.rendering().prompt

    def answer(
        self,
        text: str,
        tokens: tuple[int, ...] = (),
        *calls: str,
        thoughts: tuple[tuple[int, int], ...] = (),
        opening: Opening = "",
    ) -> None:
        spoken = Spoken(tokens, thoughts, opening) if tokens else None
        message = Message("assistant", text, calls=tuple(map(ToolCall, calls)), spoken=spoken)
        self.keep(self.answering().finish(message))


def turn(name: str, text: str) -> list[Piece]:
    return [Control("<|turn>"), Text(f"{name}\n{text}"), Control("<turn|>"), Text("\n")]


def test_gemma_goes_on_with_the_tokens_of_the_answer() -> None:
    talk = Talk(SMALL, "Be brief.")
    begin = [Control("<bos>"), *turn("system", "Be brief."), *turn("user", "Hi")]
    opening = [Control("<|turn>"), Text("model\n")]
    assert talk.asked("Hi") == (*begin, *opening)
    talk.answer(" Hello. ", (5, 6))
    answered = [Ids((5, 6)), Control("<turn|>"), Text("\n")]
    history = (*begin, *opening, *answered)
    assert talk.history().prompt == history
    assert talk.asked("Bye") == (*history, *turn("user", "Bye"), *opening)


def test_the_empty_thought_of_the_large_gemmas_goes_when_the_user_writes_again() -> None:
    talk = Talk(LARGE)
    first = talk.asked("Hi")
    assert first[-3:] == (Control("<|channel>"), Text("thought\n"), Control("<channel|>"))
    talk.answer("Hello", (1,), opening="empty_thought")
    second = talk.asked("Bye")
    assert second[: len(first) - 3] == first[:-3]
    assert second[len(first) - 3] == Ids((1,))
    assert second[-3:] == first[-3:]


def test_a_thought_stays_in_a_chain_of_calls_and_then_goes() -> None:
    talk = Talk(SMALL, tools=[READ], thinking=True)
    asked = talk.asked("Read it")
    talk.answer("", (100, 1, 101, 48, 2, 49), "read", thoughts=((0, 3),))
    talk.add_result("read", "text")
    assert talk.is_in_chain
    chain = talk.rendering()
    assert chain.prompt[: len(asked) + 1] == (*asked, Ids((100, 1, 101, 48, 2, 49)))
    assert chain.opening == "thought"
    talk.answer("Done", (3, 101, 4), thoughts=((0, 2),), opening="thought")
    history = talk.history().prompt
    assert history[len(asked)] == Ids((48, 2, 49))
    assert history[-3:] == (Ids((4,)), Control("<turn|>"), Text("\n"))


def test_a_guest_goes_on_with_the_tokens_of_the_answer() -> None:
    talk = Talk(guest(CHATML), "Be brief.")
    first = talk.asked("Hi")
    talk.answer("Hello. ", (5, 6))
    rest = "<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n<|im_start|>assistant\n"
    assert talk.asked("Bye") == (*first, Ids((5, 6)), Markup(rest))


def test_a_guest_whose_template_changes_the_past_reads_it_anew() -> None:
    talk = Talk(guest(FORGETFUL))
    talk.asked("Hi")
    talk.answer("Hello", (5, 6))
    assert talk.asked("Bye") == (Markup("<user>HI<assistant>HELLO<user>BYE"),)


def test_text_without_format() -> None:
    talk = Talk(RawWriter())
    assert talk.asked("Once") == (Text("Once"),)
    talk.answer(" upon", (7,))
    assert talk.asked(" a time") == (Text("Once"), Ids((7,)), Text(" a time"))


def test_a_withdrawn_question_leaves_no_trace() -> None:
    talk = Talk(guest(MISTRAL))
    first = talk.asked("Hi")
    talk.withdraw()
    assert talk.asked("Hi") == first
    talk.answer("Hello", (5,))
    second = talk.asked("Bye")
    talk.withdraw()
    # Two questions in a row would be refused by this template.
    assert talk.asked("Bye") == second
    assert [entry.dropped for entry in talk.entries] == [True, False, False, True, False]


def test_a_failing_template_changes_nothing() -> None:
    source = "{% if messages | length > 2 %}{{ raise_exception('no') }}{% endif %}x"
    talk = Talk(guest(source))
    talk.asked("Hi")
    talk.answer("x", (5,))
    for _ in range(2):
        with pytest.raises(BadModelFile, match="no"):
            talk.asked("Bye")


def test_a_call_whose_result_never_came_is_said_to_be_interrupted() -> None:
    talk = Talk(SMALL, tools=[READ])
    talk.ask("Read both")
    talk.answer("", (), "read", "read")
    talk.add_result("read", "one")
    talk.ask("What now?")
    view = talk.view()
    assert [message.role for message in view.messages] == [
        *("user", "assistant", "tool", "tool", "user")
    ]
    assert view.messages[3] == Message("tool", INTERRUPTED, tool="read")
    assert view.numbers == (1, 2, 3, 0, 4)


def test_stand_ins_are_read_and_originals_kept() -> None:
    talk = Talk(SMALL, tools=[READ])
    talk.ask("Read it")
    talk.answer("", (), "read")
    result = talk.add_result("read", "a long text")
    talk.stand_in([StandIn(result.number, Message("tool", "[dropped]", tool="read"))])
    assert talk.view().messages[-1].text == "[dropped]"
    assert talk.entries[-1].message.text == "a long text"


def test_a_summary_comes_first_with_what_asked_for_it() -> None:
    talk = Talk(SMALL, "Be brief.")
    for question, answer in (("one", "1"), ("two", "2")):
        talk.ask(question)
        talk.answer(answer)
    talk.ask("three")
    talk.sum_up(Message("assistant", "You count."), [1, 2])
    assert [message.text for message in talk.view().messages] == [
        *("Be brief.", SUMMARY_REQUEST, "You count.", "two", "2", "three"),
    ]
    # The summary's own turn is no turn of the user's.
    assert talk.live[-1].message.text == "three"
    talk.withdraw()
    assert [message.text for message in talk.view().messages][-1] == "2"
