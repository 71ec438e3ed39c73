"""What a person, a file or a tool says to another model does not become its control tokens.

With a real tokenizer, that of the test files, which has control and user-defined tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from gguf import TokenType
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.engine.encoding import Encoder
from gemma_local.engine.runtime.model import Model
from gemma_local.models.guest_template import GuestTemplate, read_guest_template
from gemma_local.models.message import Message, Tool, ToolCall
from gemma_local.models.prompt import Markup
from gemma_local.models.untrusted_text import CUT
from tests.app.test_guest_template import TAGGED
from tests.ggufs import build, script
from tests.ggufs.build import Pair
from tests.ggufs.vocabulary import CONTROL, USER_DEFINED

MARKERS = (*CONTROL, *USER_DEFINED)
SOURCE = (
    TAGGED.replace("<|im_start|>", "<|turn>")
    .replace("<|im_end|>", "<turn|>")
    .replace("<tool_call>", "<|tool_call>")
    .replace("</tool_call>", "<tool_call|>")
    .replace("<tool_response>", "<|tool_response>")
    .replace("</tool_response>", "<tool_response|>")
)


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return build("dense", script(["Hi"]), tmp_path_factory.mktemp("ggufs"))


@pytest.fixture(scope="module")
def model(pair: Pair) -> Iterator[Model]:
    model = Model(pair.target)
    yield model
    model.close()


@pytest.fixture(scope="module")
def template(pair: Pair) -> GuestTemplate:
    return replace(read_guest_template(pair.target), source=SOURCE)


def test_the_special_texts_are_those_of_the_file(pair: Pair, template: GuestTemplate) -> None:
    types = pair.vocabulary.types
    special = {
        text
        for text, kind in zip(pair.vocabulary.tokens, types, strict=True)
        if kind in (TokenType.CONTROL, TokenType.USER_DEFINED)
    }
    assert special == set(MARKERS)
    # </s> is an ordinary token there, but llama.cpp makes a control token of it in any file.
    assert template.specials.texts == special | {"</s>"}
    assert (template.bos_token, template.eos_token) == ("<bos>", "<eos>")


def controls(model: Model, ids: list[int]) -> list[str]:
    special = {model.vocabulary.find(marker): marker for marker in MARKERS}
    return [special[token] for token in ids if token in special]


def everywhere(word: str) -> tuple[list[Message], list[Tool]]:
    """A word wherever a conversation has room for one."""
    call = ToolCall(word, {word: [word, {word: word}]})
    messages = [
        Message("system", word),
        Message("user", word),
        Message("assistant", word, calls=(call,)),
        Message("tool", word, tool=word),
        Message("tool", tool=word, result={word: word}),
        Message("user", word),
    ]
    return messages, [Tool(word, word, {"type": "object", "properties": {word: {"enum": [word]}}})]


halves = st.sampled_from(MARKERS).flatmap(
    lambda marker: st.integers(1, len(marker) - 1).map(lambda at: (marker[:at], marker[at:]))
)
hostile = st.one_of(
    st.sampled_from(MARKERS),
    halves.map(lambda half: half[0]),
    halves.map(lambda half: half[1]),
    st.tuples(halves, st.sampled_from(MARKERS)).map(lambda t: t[0][0] + t[1] + t[0][1]),
    st.sampled_from(("<", ">", "|>", " ", "\n", CUT, "a")),
)


@given(st.lists(hostile, max_size=5).map("".join))
@settings(max_examples=80, deadline=None)
def test_no_control_token_more_than_with_a_harmless_word(
    model: Model, template: GuestTemplate, word: str
) -> None:
    encoder = Encoder(model.vocabulary)

    def ids(text: str) -> list[int]:
        messages, tools = everywhere(text)
        return encoder.ids(template.pieces(template.render(messages, tools=tools)))

    assert controls(model, ids(word)) == controls(model, ids("harmless"))


def test_the_naive_way_would_have_been_fooled(model: Model, template: GuestTemplate) -> None:
    messages, tools = everywhere("<turn|>")
    text = template.render(messages, tools=tools).replace(CUT, "")
    ids = Encoder(model.vocabulary).ids((Markup(text),))
    assert controls(model, ids).count("<turn|>") > 15


@pytest.mark.parametrize("word", ["Hello", "a < b", "> quoted", "<b>x</b>", "<", "if x <", "|>"])
def test_ordinary_text_is_in_one_piece(template: GuestTemplate, word: str) -> None:
    messages, tools = everywhere(word)
    text = template.render(messages, tools=tools)
    (piece,) = template.pieces(text)
    assert piece.text == text.replace(CUT, "")


def test_a_marker_that_the_template_would_complete_is_cut(template: GuestTemplate) -> None:
    """The template's own text stands right before and right behind a message's."""
    framing = replace(template, source="{% for m in messages %}<|{{ m.content }}{% endfor %}|>")
    pieces = framing.pieces(framing.render([Message("user", " turn>\n")]))
    assert pieces == (Markup("<| turn>\n|>"),)
    pieces = framing.pieces(framing.render([Message("user", "turn>")]))
    assert pieces == (Markup("<|"), Markup("turn>|>"))
    pieces = framing.pieces(framing.render([Message("user", "x<turn")]))
    assert pieces == (Markup("<|x<turn"), Markup("|>"))


def test_what_is_trimmed_is_trimmed_all_the_same(template: GuestTemplate) -> None:
    framing = replace(template, source="<|{{ messages[0].content | trim }}<turn")
    pieces = framing.pieces(framing.render([Message("user", "\n turn> |> ")]))
    assert pieces == (Markup("<|"), Markup("turn> |><turn"))
    framing = replace(template, source="{{ messages[0].content | trim }}rn>")
    pieces = framing.pieces(framing.render([Message("user", "x <|tu \n")]))
    assert pieces == (Markup("x <|tu"), Markup("rn>"))


def test_the_character_that_marks_a_cut_is_replaced_in_texts(template: GuestTemplate) -> None:
    text = template.render([Message("user", f"a{CUT}b")], thinking=True)
    assert "".join(piece.text for piece in template.pieces(text)) == (
        "<|turn>user\na\ufffdb<turn|>\n<|turn>assistant\n"
    )


def test_a_marker_stays_cut_whatever_the_template_does_with_it(template: GuestTemplate) -> None:
    source = "{{ messages[0].content | trim | tojson }}{{ messages[0].content[1:] }}"
    pieces = replace(template, source=source).pieces(
        replace(template, source=source).render([Message("user", " <turn|> ")])
    )
    assert pieces == (Markup('"<'), Markup('turn|>"<'), Markup("turn|> "))
