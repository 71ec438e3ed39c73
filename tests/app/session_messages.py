"""Any message at all, for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from gemma_local.models.message import Message, Spoken, ToolCall

# Lone surrogates and NUL among them.
texts = st.text(st.characters(codec=None, exclude_categories=()), max_size=40) | st.sampled_from(
    ["\0", "\ud800", "\udcff", "a\ud83d\ude00b", "\r\n", "\u2028", "``` \n```", "</pre>", '"\\']
)
scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
arguments = st.dictionaries(texts, values, max_size=3)
spoken = st.builds(
    Spoken,
    st.lists(st.integers(0, 300_000), max_size=5).map(tuple),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=2).map(tuple),
    st.sampled_from(["", "thought", "empty_thought"]),
)
messages = st.builds(
    Message,
    role=st.sampled_from(["system", "user", "assistant", "tool"]),
    text=texts,
    thought=texts,
    calls=st.lists(st.builds(ToolCall, texts, arguments), max_size=2).map(tuple),
    tool=texts,
    result=st.none() | arguments,
    spoken=st.none() | spoken,
)
