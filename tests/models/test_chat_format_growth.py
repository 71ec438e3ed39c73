"""Prompts only grow, except that thoughts go when the user writes again."""

from __future__ import annotations

import re
from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.models.chat_format import Rendering, render, render_history
from gemma_local.models.message import Message, Opening, Spoken, Tool
from gemma_local.models.prompt import Control, Ids, Prompt, Text
from tests.models.conversations import calls, spoken_texts, texts

# Token ids as characters, those of thoughts apart, so that a prompt can be looked at as a string.
SPOKEN, THOUGHT = 0xE000, 0xF000


def shown(prompt: Prompt) -> str:
    parts = []
    for piece in prompt:
        match piece:
            case Control(token):
                parts.append(token)
            case Text(text):
                parts.append(text)
            case Ids(ids):
                parts.append("".join(map(chr, ids)))
    return "".join(parts)


# An opening or a written thought, and the tokens of spoken ones.
THOUGHTS = re.compile("<\\|channel>thought\n(?:[^<\ue000-\uf8ff]*<channel\\|>)?|[\uf000-\uf8ff]")


@dataclass(frozen=True)
class Step:
    """What the model says, and what comes after it."""

    said: Message
    then: tuple[Message, ...]


@st.composite
def spoken(draw: st.DrawFn, opening: Opening) -> Spoken:
    """Tokens in stretches that are thoughts or not, the first a thought if one was opened."""
    stretches = draw(st.lists(st.tuples(st.booleans(), st.integers(1, 3)), max_size=4))
    tokens: list[int] = []
    thoughts: list[tuple[int, int]] = []
    for index, (is_drawn, length) in enumerate(stretches):
        start = len(tokens)
        is_thought = is_drawn or (index == 0 and opening == "thought")
        tokens += range((THOUGHT if is_thought else SPOKEN) + start, 0xFFFF)[:length]
        if is_thought:
            thoughts.append((start, len(tokens)))
    return Spoken(tuple(tokens), tuple(thoughts), opening)


ends = st.one_of(
    st.lists(st.builds(Message, st.just("user"), texts), min_size=1, max_size=2),
    st.lists(st.builds(lambda t: Message("tool", t, tool="f"), texts), min_size=1, max_size=3),
)


@st.composite
def answers(draw: st.DrawFn, opening: Opening) -> Message:
    """With the model's own tokens, or as it is kept where there are none."""
    if draw(st.integers(0, 3)):
        return Message("assistant", draw(texts), draw(texts), spoken=draw(spoken(opening)))
    text = draw(spoken_texts)
    return Message("assistant", text, draw(texts), tuple(draw(st.lists(calls, max_size=1))))


@given(st.data(), st.booleans(), st.booleans(), st.booleans())
@settings(max_examples=150, deadline=None)
def test_a_prompt_begins_with_what_was_read_and_said(
    data: st.DataObject, primes: bool, thinking: bool, has_tools: bool
) -> None:
    tools = (Tool("f", "d"),) if has_tools else ()

    def rendered(messages: list[Message]) -> Rendering:
        return render(messages, tools=tools, thinking=thinking, primes_empty_thought=primes)

    messages = [Message("system", "S"), Message("user", "U")]
    for _ in range(data.draw(st.integers(1, 5))):
        now = rendered(messages)
        said = data.draw(answers(now.opening))
        then = data.draw(ends)
        before = shown(now.prompt)
        if said.spoken is not None:
            before += shown((Ids(said.spoken.tokens),))
        messages.append(said)
        closed = render_history(messages, tools=tools, thinking=thinking)
        messages += then
        after = rendered(messages)
        if then[0].role == "tool" and said.spoken is not None:
            assert shown(after.prompt).startswith(before)
        elif said.spoken is not None:
            assert shown(after.prompt).startswith(THOUGHTS.sub("", before))
            assert not THOUGHTS.search(shown(closed.prompt))
        if then[0].role == "user":
            assert after.sections[: len(closed.sections)] == closed.sections
        assert shown(after.prompt).startswith(THOUGHTS.split(before, maxsplit=1)[0])


def test_a_turn_without_thoughts_is_read_once() -> None:
    """The sizes that are not primed lose nothing at all when the user writes again."""
    messages = [Message("user", "A")]
    for number in range(5):
        now = render(messages)
        said = Spoken((SPOKEN + number,))
        messages += [Message("assistant", spoken=said), Message("user", "B")]
        assert render(messages).prompt[: len(now.prompt) + 1] == (*now.prompt, Ids(said.tokens))


def test_the_same_messages_are_the_same_prompt() -> None:
    messages = [Message("user", "A"), Message("assistant", "B"), Message("user", "C")]
    assert render(messages) == render(list(messages))
