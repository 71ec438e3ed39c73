"""The splitter for other models: tags in text, however the text is cut."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gemma_local.models.guest_reply import GuestReply, reply_for
from gemma_local.models.message import Opening, Tool
from gemma_local.models.reply import Reply
from gemma_local.models.reply_record import ONLY_THOUGHT
from tests.models.replies import MARKERS, TEXT_TOKEN, Outcome, cut, run

TOOLS = [
    Tool("read", parameters={"properties": {"path": {"type": "string"}}, "required": ["path"]}),
    Tool("free"),
]
CALL = '<tool_call>\n{"name": "read", "arguments": {"path": "a.py"}}\n</tool_call>'


def said(text: str, *, opening: Opening = "", truncated: bool = False) -> Outcome:
    whole = run(GuestReply({}, TOOLS, opening=opening), [(5, text)], truncated=truncated)
    for size in (1, 3):
        pieces = cut([(TEXT_TOKEN, text)], [size])
        assert run(GuestReply({}, TOOLS, opening=opening), pieces, truncated=truncated) == whole
    return whole


def test_thought_answer_and_call() -> None:
    outcome = said(f"<think>\nPlan.\n</think>\n\nI read it.\n{CALL}")
    assert (outcome.thought, outcome.answer.strip()) == ("Plan.", "I read it.")
    [call] = outcome.calls
    assert (call.verdict, call.name, call.arguments) == ("ok", "read", {"path": "a.py"})


def test_two_calls() -> None:
    assert [call.arguments for call in said(CALL + "\n" + CALL).calls] == [{"path": "a.py"}] * 2


@pytest.mark.parametrize(
    ("text", "opening", "thought", "answer"),
    [
        ("Plan</think>Yes", "thought", "Plan", "Yes"),
        ("Yes", "", "", "Yes"),
        ("Plan</think>Yes", "", "", "PlanYes"),
        ("a <think> b </think>", "", "", "a <think> b "),
        ("<think>a</think>b</think>c", "", "a", "b</think>c"),
        ("x < y <thin", "", "", "x < y <thin"),
        ("<think>Plan", "", "Plan", ""),
        ("<think>a</think><think>b</think>c", "", "a\nb", "c"),
        (
            "<think>call <tool_call>{}</tool_call></think>ok",
            "",
            "call <tool_call>{}</tool_call>",
            "ok",
        ),
    ],
)
def test_tags_in_and_out_of_place(text: str, opening: Opening, thought: str, answer: str) -> None:
    outcome = said(text, opening=opening)
    assert (outcome.thought, outcome.answer) == (thought, answer)
    assert outcome.notices == (() if answer else (ONLY_THOUGHT,))


@pytest.mark.parametrize(
    ("written", "verdict"),
    [
        ('{"name": "read", "arguments": {"path": "a.py"}}', "ok"),
        ('{"name": "read", "arguments": "{\\"path\\": \\"a.py\\"}"}', "repaired"),
        ("{'name': 'read', 'arguments': {'path': 'a.py',}}", "repaired"),
        ('{"name": "read", "arguments": {"file": "a.py"}}', "repaired"),
        ('call:read{path:"a.py"}', "repaired"),
        ('{"name": "fly", "arguments": {}}', "rejected"),
        ('{"name": "read"', "rejected"),
    ],
)
def test_calls_are_judged_as_gemmas_are(written: str, verdict: str) -> None:
    outcome = said(f"<tool_call>{written}</tool_call>")
    assert outcome.calls[0].verdict == verdict, outcome.calls[0]
    assert verdict == "rejected" or outcome.calls[0].arguments == {"path": "a.py"}


def test_a_missing_end_tag_and_a_call_that_was_cut_off() -> None:
    text = CALL.removesuffix("</tool_call>")
    assert said(text).calls[0].verdict == "repaired"
    cut_off = said(text, truncated=True).calls[0]
    assert (cut_off.verdict, cut_off.truncated) == ("rejected", True)


@pytest.mark.parametrize(
    ("pieces", "opening", "thoughts"),
    [
        (["<think>", "a", "</think>", "b"], "", ((0, 3),)),
        (["<th", "ink>a", "</thi", "nk>b"], "", ((0, 4),)),
        (["a", "</think>", "b"], "thought", ((0, 2),)),
        (["\n", "<think>", "a"], "", ((1, 3),)),
        (["a", "b"], "", ()),
    ],
)
def test_spoken_tells_which_tokens_are_thoughts(
    pieces: list[str], opening: Opening, thoughts: tuple[tuple[int, int], ...]
) -> None:
    reply = GuestReply({}, opening=opening)
    for token, piece in enumerate(pieces):
        reply.feed(token, piece)
    assert reply.spoken.thoughts == thoughts
    assert reply.spoken.tokens == tuple(range(len(pieces)))


FRAGMENTS = st.sampled_from(
    [
        *(
            "<think>",
            "</think>",
            "<tool_call>",
            "</tool_call>",
            CALL,
            "<",
            "</th",
            "<tool_",
            "call>",
        ),
        *("{", "}", '"', "text", "\n", " ", '{"name": "read"', '"arguments": {"path": "x"}}'),
    ]
)


@settings(max_examples=400, deadline=None)
@given(
    parts=st.lists(FRAGMENTS | st.text(max_size=3), max_size=12),
    lengths=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    opening=st.sampled_from(["", "thought", "empty_thought"]),
    truncated=st.booleans(),
)
@example(["<think></think><think>\n<think>"], [1], "thought", False)
def test_no_cut_changes_anything_and_no_text_is_lost(
    parts: list[str], lengths: list[int], opening: Opening, truncated: bool
) -> None:
    text = "".join(parts)
    whole = run(GuestReply({}, TOOLS, opening=opening), [(TEXT_TOKEN, text)], truncated=truncated)
    pieces = cut([(TEXT_TOKEN, text)], lengths)
    assert run(GuestReply({}, TOOLS, opening=opening), pieces, truncated=truncated) == whole
    kept = whole.thought + whole.answer + "".join(call.raw for call in whole.calls)
    for letter in set(text):
        # Tags may go, and a line break or two next to them.
        if letter not in "\n<>/thinktool_call ":
            assert kept.count(letter) >= text.count(letter)


@settings(max_examples=100, deadline=None)
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
        | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=6,
    )
)  # fmt: skip
def test_any_arguments_survive_as_json(value: object) -> None:
    written = json.dumps({"name": "free", "arguments": {"value": value}})
    if "</tool_call>" in written:
        return
    [call] = run(GuestReply({}, TOOLS), [(5, f"<tool_call>{written}</tool_call>")]).calls
    assert (call.verdict, call.arguments) == ("ok", {"value": value})


def test_the_splitter_for_each_kind_of_model() -> None:
    assert isinstance(reply_for(True, MARKERS, TOOLS, "thought"), Reply)
    assert isinstance(reply_for(False, {}, TOOLS), GuestReply)
