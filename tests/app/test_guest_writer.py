"""Prompts for other models: their template's words, with the tokens of past answers in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.prompts import GuestWriter, RawWriter
from gemma_local.models.guest_template import GuestTemplate
from gemma_local.models.message import Message, Spoken, Tool, ToolCall
from gemma_local.models.prompt import Ids, Markup, Prompt, Text
from gemma_local.models.special_texts import SpecialTexts
from tests.app.test_guest_template import CHATML, LLAMA_3, LOOP, LS, MISTRAL, TAGGED
from tests.models.written import written

SPECIALS = SpecialTexts(("<|im_start|>", "<|im_end|>", "<|eot_id|>", "<s>", "</s>"))
FORGETFUL = "{% for m in messages %}<{{ m.role }}>{{ m.content | upper }}{% endfor %}"


class Counting(GuestTemplate):
    """Counts how often a conversation is rendered."""

    renders = 0

    def render(
        self,
        messages: object,
        *,
        tools: object = (),
        thinking: bool = False,
    ) -> str:
        Counting.renders += 1
        return super().render(messages, tools=tools, thinking=thinking)  # type: ignore[arg-type]


def writer(source: str) -> GuestWriter:
    Counting.renders = 0
    return GuestWriter(Counting(Path("guest.gguf"), source, "<s>", "</s>", SPECIALS))


def user(number: int) -> Message:
    return Message("user", f"Question {number}")


def answer(number: int, text: str = "") -> Message:
    text = text or f"Answer {number}"
    return Message("assistant", text, spoken=Spoken((100 + number, 200 + number)))


def talk(turns: int) -> list[Message]:
    """Questions with answers, and a last question."""
    pairs = [message for n in range(turns) for message in (user(n), answer(n))]
    return [Message("system", "Be brief."), *pairs, user(turns)]


def plain(prompt: Prompt, turns: int) -> str:
    """The text of a prompt, with the tokens of answers replaced by the answers."""
    text = written(prompt)
    for n in range(turns):
        text = text.replace(f"[{100 + n} {200 + n}]", f"Answer {n}")
    return text


@pytest.mark.parametrize("source", [CHATML, LLAMA_3, MISTRAL])
def test_each_prompt_begins_with_the_last_one_and_its_answer(source: str) -> None:
    guest = writer(source)
    read: Prompt = ()
    for turns in range(8):
        messages = talk(turns)
        prompt = guest.write(messages).prompt
        assert prompt[: len(read)] == read
        assert plain(prompt, turns) == GuestTemplate.render(guest._template, messages)
        read = (*prompt, Ids((100 + turns, 200 + turns)))
    assert sum(isinstance(piece, Ids) for piece in read) == 8


def test_each_turn_is_rendered_once() -> None:
    guest = writer(CHATML)
    for turns in range(20):
        guest.write(talk(turns))
    assert Counting.renders == 20


def test_a_conversation_that_is_new_to_it_gives_the_same_prompt() -> None:
    guest = writer(CHATML)
    for turns in range(6):
        known = guest.write(talk(turns))
    assert writer(CHATML).write(talk(5)) == known
    assert Counting.renders == 6


def test_an_edited_question_changes_what_comes_after_it() -> None:
    guest = writer(CHATML)
    guest.write(talk(3))
    edited = [*talk(1)[:-1], Message("user", "Other"), answer(7), user(8)]
    assert guest.write(edited) == writer(CHATML).write(edited)


def test_sections_hold_the_messages_up_to_an_answer_and_the_answer() -> None:
    sections = writer(CHATML).write(talk(2)).sections
    assert [section.message for section in sections] == [1, 2, 3, 4, 5]
    assert [type(section.prompt[0]) for section in sections] == [Markup, Ids, Markup, Ids, Markup]
    assert {section.kind for section in sections} == {"message"}


def test_what_the_template_writes_differently_is_text() -> None:
    prompt = writer(FORGETFUL).write([user(0), answer(0), user(1)]).prompt
    assert prompt == (Markup("<user>QUESTION 0<assistant>ANSWER 0<user>QUESTION 1"),)


def test_what_the_template_writes_before_an_answer_must_be_the_same() -> None:
    """A count at the beginning, one digit long, leaves every answer at its place."""
    source = "{{ messages | length }}" + CHATML
    guest = writer(source)
    for turns in range(3):
        prompt = guest.write(talk(turns)).prompt
        assert prompt == (Markup(GuestTemplate.render(guest._template, talk(turns))),)


def test_an_answer_must_stand_at_its_place_and_not_anywhere() -> None:
    source = "{% for m in messages %}<{{ m.content | upper if m.role != 'user' else m.content }}>"
    messages = [user(0), answer(0), Message("user", "Answer 0")]
    prompt = writer(source + "{% endfor %}<").write(messages).prompt
    assert prompt == (Markup("<Question 0><ANSWER 0><Answer 0><"),)


def test_an_answer_whose_past_changed_is_text_again() -> None:
    """From the fifth message on, the template writes the first answer in capitals."""
    source = (
        "{% for m in messages %}<{{ m.role }}>"
        "{{ m.content | upper if messages | length > 4 and loop.index == 2 else m.content }}"
        "{% endfor %}<assistant>"
    )
    guest = writer(source)
    assert Ids((100, 200)) in guest.write([user(0), answer(0), user(1)]).prompt
    prompt = guest.write([user(0), answer(0), user(1), answer(1), user(2)]).prompt
    assert not any(isinstance(piece, Ids) for piece in prompt)


def test_prompts_with_other_settings_are_no_guide() -> None:
    guest = writer(TAGGED)
    guest.write([user(0)])
    messages = [user(0), answer(0), user(1)]
    prompt = guest.write(messages, thinking=True)
    assert prompt == writer(TAGGED).write(messages, thinking=True)
    assert Ids((100, 200)) in prompt.prompt


def test_a_refused_beginning_refuses_no_conversation() -> None:
    """As after a compaction, when what an old answer answered is no longer there."""
    refuses = "{% if messages | length < 3 %}{{ raise_exception('too short') }}{% endif %}"
    messages = [user(0), answer(0), user(1), answer(1), user(2)]
    prompt = writer(refuses + CHATML).write(messages).prompt
    assert Ids((100, 200)) not in prompt and Ids((101, 201)) in prompt
    orphan = [Message("system", "S"), answer(0), user(1)]
    assert "Answer 0" in written(writer(refuses + CHATML).write(orphan).prompt)


def test_blanks_around_an_answer_are_kept_as_they_were_said() -> None:
    """The template trims them; the tokens were read with them."""
    messages = [user(0), answer(0, "Answer 0\n"), user(1)]
    assert Ids((100, 200)) in writer(LLAMA_3).write(messages).prompt


def test_calls_and_thoughts_are_in_the_templates_words() -> None:
    call = Message("assistant", "Look.", calls=(ToolCall("ls"),), spoken=Spoken((1, 2)))
    thinker = Message("assistant", "Yes", thought="Hm", spoken=Spoken((3, 4), ((0, 1),)))
    result = Message("tool", "a.txt", tool="ls")
    prompt = writer(TAGGED).write([user(0), call, result, thinker, user(1)], tools=[LS]).prompt
    assert not any(isinstance(piece, Ids) for piece in prompt)
    assert '"name": "ls", "arguments": {}' in written(prompt) and "a.txt" in written(prompt)


def test_an_opened_thought_is_said() -> None:
    opens = CHATML.replace("assistant\\n", "assistant\\n<think>\\n")
    assert writer(opens).write([user(0)]).opening == "thought"
    assert writer(TAGGED).write([user(0)]).opening == "empty_thought"
    assert writer(CHATML).write([user(0)]).opening == ""


@pytest.mark.parametrize("source", [CHATML, LLAMA_3])
def test_history_is_what_the_next_prompt_begins_with(source: str) -> None:
    guest = writer(source)
    guest.write(talk(2))
    said = [*talk(2), answer(2)]
    history = guest.history(said).prompt
    following = guest.write([*said, user(3)]).prompt
    *same, last = history
    assert following[: len(same)] == tuple(same)
    assert isinstance(last, Markup)
    assert written(following[len(same) : len(same) + 1]).startswith(last.text)
    assert Ids((102, 202)) in history
    assert last.text.endswith("|>")
    # Three for the first prompt, as two answers are new; one for each of the others.
    assert Counting.renders == 5


def test_history_that_is_not_known_is_empty() -> None:
    assert writer(MISTRAL).history([user(0)]).sections == ()
    assert writer("no messages here").history([user(0)]).sections == ()


def test_history_ends_with_a_special_token() -> None:
    """What comes behind it could be tokenised together with the user's text."""
    source = "<s>{% for m in messages %}[{{ m.content }}]{% endfor %}["
    said = [user(0), answer(0)]
    assert Ids((100, 200)) in writer(source).write([*said, user(1)]).prompt
    assert writer(source).history(said).prompt == (Markup("<s>"),)


def test_tools_are_offered_only_where_the_template_knows_them() -> None:
    assert writer(TAGGED).supports_tools and writer(TAGGED).supports_thinking
    guest = writer(CHATML)
    assert not guest.supports_tools and not guest.supports_thinking
    with pytest.raises(ValueError, match="knows no tools"):
        guest.write([user(0)], tools=[Tool("ls")])
    assert "Result of ls" in written(guest.write(LOOP).prompt)


def test_raw_text_has_no_format() -> None:
    raw = RawWriter()
    rendering = raw.write([Message("system", "S"), user(0), answer(0), Message("assistant", "x")])
    assert rendering.prompt == (Text("Question 0"), Ids((100, 200)), Text("x"))
    assert [section.message for section in rendering.sections] == [1, 2, 3]
    assert raw.history([user(0)]).prompt == (Text("Question 0"),)
    assert not raw.supports_tools and not raw.supports_thinking
