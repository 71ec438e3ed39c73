"""Conversations and tools for hypothesis to draw."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from gemma_local.models.message import Message, Tool, ToolCall, Value

# Nothing that could spell a marker, and neither surrogates, which no tokenizer takes, nor private
# characters, which stand for tokens in one of the tests.
_characters = st.characters(exclude_categories=("Cs", "Co"), exclude_characters="<>")
texts = st.text(_characters, max_size=12)
spoken_texts = texts.filter(str.strip)
names = st.sampled_from(("read", "write_file", "Run", "a b", "größe"))
keys = st.sampled_from(("path", "Path", "lines", "_x", "old", "NEW", "z:", "1"))

scalars = st.one_of(
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    texts,
)


def values(leaves: st.SearchStrategy[Any] = scalars) -> st.SearchStrategy[Value]:
    """Arguments and results, nested."""
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(keys, inner, max_size=3)
        ),
        max_leaves=6,
    )


calls = st.builds(ToolCall, names, st.dictionaries(keys, values(), max_size=3))


@st.composite
def loops(draw: st.DrawFn) -> list[Message]:
    """A message with calls, and a result for each."""
    made = draw(st.lists(calls, min_size=1, max_size=2))
    return [
        Message("assistant", thought=draw(texts), calls=tuple(made)),
        *(Message("tool", draw(texts), tool=call.name, result=draw(results)) for call in made),
    ]


results = st.one_of(st.none(), st.dictionaries(keys, values(), max_size=3))


@st.composite
def conversations(draw: st.DrawFn) -> list[Message]:
    """What a well-behaved conversation looks like, up to where the model has to say something."""
    messages = [Message("system", draw(spoken_texts))] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0, 2))):
        messages.append(Message("user", draw(texts)))
        messages += [m for loop in draw(st.lists(loops(), max_size=2)) for m in loop]
        messages.append(Message("assistant", draw(spoken_texts), thought=draw(texts)))
    messages.append(Message("user", draw(texts)))
    return messages + [m for loop in draw(st.lists(loops(), max_size=2)) for m in loop]


def _with(base: dict[str, Any], **extra: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(
        {key: st.just(value) for key, value in base.items()},
        optional={"description": texts, "nullable": st.booleans(), **extra},
    )


property_names = st.sampled_from(("path", "Mode", "lines", "opts", "größe", "a b"))


def _item_schemas(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    """Items may say anything, also what a property cannot."""
    return st.fixed_dictionaries(
        {"type": st.sampled_from(("object", "string", ["string", "integer"]))},
        optional={
            "properties": st.dictionaries(property_names, inner, max_size=2),
            "required": st.lists(property_names, unique=True, max_size=2),
            "default": st.dictionaries(keys, st.lists(values(), max_size=2), max_size=2),
        },
    )


def _schemas(inner: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[dict[str, Any]]:
    properties = st.dictionaries(property_names, inner, max_size=3)
    required = st.lists(property_names, unique=True, max_size=2)
    return st.one_of(
        _with({"type": "array"}, items=inner),
        _with({"type": "array"}, items=_item_schemas(inner)),
        _with({"type": "object"}, properties=properties, required=required),
        _with({"type": "object"}, additionalProperties=st.one_of(st.booleans(), inner)),
    )


schemas = st.recursive(
    st.one_of(
        _with({"type": "string"}, enum=st.lists(texts, max_size=3)),
        st.sampled_from(("integer", "number", "boolean")).flatmap(
            lambda t: _with({"type": t}, enum=st.just([1, 2]))
        ),
        _with({"type": "array"}),
    ),
    _schemas,
    max_leaves=6,
)

parameters = st.fixed_dictionaries(
    {"type": st.just("object")},
    optional={
        "properties": st.dictionaries(property_names, schemas, max_size=3),
        "required": st.lists(property_names, unique=True, max_size=2),
    },
)
tools = st.builds(Tool, names, texts, st.one_of(st.just({}), parameters))
