"""Properties of Gemma 4's replies: nothing is lost, cuts do not matter, what is written is read."""

from __future__ import annotations

import math
import re
from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.models.call_grammar import call_grammar
from gemma_local.models.chat_format import render
from gemma_local.models.message import Message, Opening, Tool, ToolCall, Value
from gemma_local.models.prompt import Control, Text
from gemma_local.models.reply import Reply
from tests.models.replies import MARKERS, TEXT_TOKEN, Spelled, cut, run, stream

FREE = Tool("free")
TYPED = Tool(
    "read",
    parameters={
        "properties": {"path": {"type": "string"}, "limit": {"type": "integer"}},
        "required": ["path"],
    },
)
TOOLS = [FREE, TYPED]

# What the format can carry as a key: it stands bare in front of a colon.
KEYS = st.text("abPX_-09.|<>\\/é日🙂", min_size=1, max_size=4)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
    | st.sampled_from([*MARKERS, '"}', "a:1,b:2", "}", "]", "\\", "null", "30", "C:\\new"])
)
VALUES: st.SearchStrategy[Value] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)
LENGTHS = st.lists(st.integers(0, 7), min_size=1, max_size=4)


def spoken_by_the_model(message: Message) -> list[tuple[int, str]]:
    """The tokens that a model says when it says what we render for a message."""
    prompt = render([Message("user", "go"), message, Message("tool", tool="free", text="")]).prompt
    start = prompt.index(Text("\n"))
    tokens: list[tuple[int, str]] = []
    for piece in prompt[start:]:
        match piece:
            case Control("<|tool_response>"):
                return tokens
            case Control("<|turn>"):
                tokens.clear()
            case Control(token):
                tokens.append((MARKERS[token], token))
            case Text(text):
                tokens.append((TEXT_TOKEN, text.removeprefix("model\n") if not tokens else text))
    raise AssertionError("no tool response was rendered")


@settings(max_examples=400, deadline=None)
@given(
    calls=st.lists(st.dictionaries(KEYS, VALUES, max_size=2), min_size=1, max_size=2),
    thought=st.text(max_size=3),
    answer=st.text(max_size=3),
    lengths=LENGTHS,
)
def test_what_is_rendered_is_read_back(
    calls: list[dict[str, Value]], thought: str, answer: str, lengths: list[int]
) -> None:
    wanted = tuple(ToolCall("free", arguments) for arguments in calls)
    message = Message("assistant", answer, thought, wanted)
    outcome = run(Reply(MARKERS, TOOLS), cut(spoken_by_the_model(message), lengths))
    assert [call.verdict for call in outcome.calls] == ["ok"] * len(calls)
    for call, arguments in zip(outcome.calls, calls, strict=True):
        assert same(call.arguments, arguments)
    assert (outcome.thought, outcome.answer) == (thought, answer.strip())


def same(one: Value, other: Value) -> bool:
    """Equal also in type, and in the sign of a zero."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return one == other and math.copysign(1, one) == math.copysign(1, other)
    return one == other


def test_nesting_of_any_useful_depth() -> None:
    value: Value = "deep"
    for _ in range(30):
        value = {"in": [value]}
    message = Message("assistant", calls=(ToolCall("free", {"value": value}),))
    [call] = run(Reply(MARKERS, TOOLS), spoken_by_the_model(message)).calls
    assert (call.verdict, call.arguments) == ("ok", {"value": value})


FRAGMENTS = st.sampled_from(
    [
        *(*MARKERS, "thought\n", "call:", "call:free{", "call:read{path:", "read(", ":free"),
        *("{", "}", "(", ")", "[", "]", ",", ":", "=", '"', "'", "\\", "\n", " ", "a", "path"),
        *("a:1", 'path:<|"|>x<|"|>', "limit:3", "true", "None", "3.5", "BEGIN_ARG\n", "END_ARG"),
        *('{"name": "read", ', '"arguments": {"path": "x"}}', "```json\n", "```"),
    ]
)
STREAMS = st.lists(
    FRAGMENTS | st.text(max_size=3).map(Spelled) | st.sampled_from([*MARKERS]).map(Spelled),
    max_size=12,
)


@settings(max_examples=400, deadline=None)
@given(
    items=STREAMS,
    lengths=LENGTHS,
    opening=st.sampled_from(["", "thought", "empty_thought"]),
    truncated=st.booleans(),
    rest=st.sampled_from(["", "", "\ufffd", "}"]),
)
def test_no_cut_changes_anything_and_no_text_is_lost(
    items: list[str | Spelled], lengths: list[int], opening: Opening, truncated: bool, rest: str
) -> None:
    tokens = stream(*items)

    def outcome(pieces: list[tuple[int, str]]) -> tuple[Reply, object]:
        reply = Reply(MARKERS, TOOLS, opening=opening)
        return reply, run(reply, pieces, rest=rest, truncated=truncated)

    reply, whole = outcome(tokens)
    assert outcome(cut(tokens, lengths))[1] == whole
    assert outcome(cut(tokens, [1]))[1] == whole
    assert len(reply.spoken.tokens) == len(tokens)
    edges = [0, *(edge for both in reply.spoken.thoughts for edge in both), len(tokens)]
    assert edges == sorted(edges) and all(a < b for a, b in reply.spoken.thoughts)
    for call in reply.calls:
        assert bool(call.problem) == (call.verdict == "rejected")
        assert bool(call.repairs) >= (call.verdict == "repaired")
        assert call.verdict == "rejected" or call.name in {"free", "read"}
    texts = "".join(piece for token, piece in tokens if token == TEXT_TOKEN) + rest
    kept = reply.thought + reply.answer + "".join(call.raw for call in reply.calls)
    lost = Counter(texts) - Counter(kept)
    # All that may go: names of channels, and the line break in front of a thought's end.
    names = Counter("".join(re.findall(r" {0,8}[a-z_]{1,24} {0,8}\n|thought", texts)))
    breaks = Counter({"\n": 1 + sum(token == MARKERS["<|channel>"] for token, _ in tokens)})
    assert not {letter for letter in lost - names - breaks if letter.strip()}


SCHEMA_WORDS = st.sampled_from(
    [
        *("type", "properties", "required", "items", "anyOf", "oneOf", "enum", "const", "$ref"),
        *("additionalProperties", "nullable", "path", "string", "object", "array", "integer"),
        *("null", "#", "#/properties/path", "boolean"),
    ]
)
SCHEMAS = st.recursive(
    st.none() | st.booleans() | st.integers(0, 3) | SCHEMA_WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(SCHEMA_WORDS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(
    schema=st.dictionaries(SCHEMA_WORDS, SCHEMAS, max_size=4),
    arguments=st.dictionaries(st.sampled_from(["path", "type", "file"]), VALUES, max_size=2),
)
def test_a_schema_from_outside_may_be_anything(
    schema: dict[str, object], arguments: dict[str, Value]
) -> None:
    message = Message("assistant", calls=(ToolCall("free", arguments),))
    tokens = spoken_by_the_model(message)
    [call] = run(Reply(MARKERS, [Tool("free", parameters=schema)]), tokens).calls
    assert call.verdict != "rejected" or call.problem.startswith("free: ")
    assert call_grammar([Tool("free", parameters=schema)], MARKERS).startswith("root ::= ")
