"""The splitter: thoughts, answers and calls of Gemma 4, with every marker out of place."""

from __future__ import annotations

import pytest

from gemma_local.models.message import Opening, Spoken, Tool
from gemma_local.models.reply import AnswerText, CallEnd, CallText, Reply, ThoughtText
from gemma_local.models.reply_record import (
    CUT_OFF_IN_THOUGHT,
    NOT_UNDERSTOOD,
    NOTHING_SAID,
    ONLY_THOUGHT,
)
from tests.models.replies import MARKERS, TEXT_TOKEN, Spelled, run, said, stream

TOOLS = [
    Tool("read", parameters={"properties": {"path": {"type": "string"}}, "required": ["path"]}),
    Tool("list"),
]
CALL = '<|tool_call>call:read{path:<|"|>a.py<|"|>}<tool_call|>'
THOUGHT = "<|channel>thought\nPlan A.\n<channel|>"


def test_thought_answer_and_call() -> None:
    outcome = said(THOUGHT, "I read it.", CALL, tools=TOOLS)
    assert (outcome.thought, outcome.answer) == ("Plan A.", "I read it.")
    assert [(c.name, c.arguments, c.verdict) for c in outcome.calls] == [
        ("read", {"path": "a.py"}, "ok")
    ]
    assert outcome.notices == ()


def test_parts_come_as_soon_as_they_are_decided() -> None:
    reply = Reply(MARKERS, TOOLS)
    parts = [reply.feed(token, piece) for token, piece in stream(THOUGHT, "Yes", CALL)]
    assert parts == [
        [],
        [ThoughtText("Plan A.")],
        [],
        [AnswerText("Yes")],
        [],
        [CallText("call:read{path:")],
        [CallText('<|"|>')],
        [CallText("a.py")],
        [CallText('<|"|>')],
        [CallText("}")],
        [CallEnd(reply.calls[0])],
    ]


def test_text_that_spells_markers_stays_text() -> None:
    """llama.cpp#22371"""
    spelled = Spelled("use <|tool_call>call:read{}<tool_call|>, <|channel>thought\n<channel|>")
    outcome = said(spelled, tools=TOOLS)
    assert (outcome.answer, outcome.thought, outcome.calls) == (spelled.text, "", ())
    inside = said("<|channel>thought\n", spelled, "<channel|>ok")
    assert (inside.thought, inside.answer) == (spelled.text, "ok")


@pytest.mark.parametrize(
    ("written", "thought"),
    [
        ("thought\nPlan", "Plan"),
        (" thought\nPlan", "Plan"),
        ("analysis\nPlan", "Plan"),
        ("Plan\nB", "Plan\nB"),
        ("Okay\n", "Okay"),
        ("I think\nso", "I think\nso"),
        ("thoughtful plan", "thoughtful plan"),
        ("thought Plan", "thought Plan"),
        ("", ""),
        ("thought\n", ""),
        ("thought", ""),
        (" ", " "),
        ("\n", ""),
        ("plan", "plan"),
        ("thought\n\nPlan\n\n", "\nPlan\n"),
    ],
)
@pytest.mark.parametrize("end", ["<channel|>", ""])
def test_the_channels_name_is_no_part_of_the_thought(written: str, thought: str, end: str) -> None:
    assert said("<|channel>", written, end).thought == thought


def test_two_thoughts_have_a_line_each() -> None:
    two = said(
        "<|channel>thought\nA<channel|>", "One. ", "<|channel>thought\nB\n<channel|>", "Two."
    )
    assert (two.thought, two.answer) == ("A\nB", "One. Two.")
    assert said("<|channel>thought\nA\n<channel|><|channel>thought\nB<channel|>x").thought == "A\nB"


def test_a_thought_that_is_opened_twice() -> None:
    outcome = said("<|channel>thought\nA<|channel>thought\nB<channel|>ok")
    assert (outcome.thought, outcome.answer) == ("A\nB", "ok")


@pytest.mark.parametrize("stray", ["<channel|>", "<|channel><channel|>", "<|turn>", "<turn|>"])
def test_dangling_markers_are_not_shown(stray: str) -> None:
    """llama.cpp#25072"""
    assert said("Hi", stray, " there").answer == "Hi there"


@pytest.mark.parametrize(
    "stray",
    ["<|turn>", "<turn|>", "<|tool_response>", "<tool_response|>", "<|think|>", "<eos>", '<|"|>'],
)
def test_markers_that_mean_nothing_here_are_ignored_everywhere(stray: str) -> None:
    outcome = said(
        f"{stray}<|channel>tho{stray}ught\nPl{stray}an<channel|>{stray}O{stray}K", CALL, stray
    )
    assert (outcome.thought, outcome.answer) == ("Plan", "OK")
    if stray != '<|"|>':
        call = f'<|tool_call>{stray}call:{stray}read{{path:<|"|>a<|"|>{stray}}}{stray}<tool_call|>'
        assert said(call, tools=TOOLS).calls[0].verdict == "ok"


def test_a_thought_that_the_model_forgot_to_close() -> None:
    outcome = said("<|channel>thought\nI read it.", CALL, "Done.", tools=TOOLS)
    assert (outcome.thought, outcome.answer) == ("I read it.", "Done.")
    assert outcome.calls[0].verdict == "ok"


@pytest.mark.parametrize(
    ("truncated", "notice"), [(False, ONLY_THOUGHT), (True, CUT_OFF_IN_THOUGHT)]
)
@pytest.mark.parametrize("end", ["", "<channel|>"])
def test_only_a_thought_is_no_answer(truncated: bool, notice: str, end: str) -> None:
    outcome = said("<|channel>thought\nHm, ", end, truncated=truncated)
    assert (outcome.thought, outcome.answer) == ("Hm, ", "")
    assert outcome.notices == (notice,)


def test_no_word_at_all() -> None:
    assert said().notices == (NOTHING_SAID,)
    assert said("<|channel>thought\n<channel|>").notices == (NOTHING_SAID,)
    assert said("<|tool_call><tool_call|>", tools=TOOLS).notices == (NOTHING_SAID,)
    assert said(truncated=True).notices == ()


def test_never_blank() -> None:
    """ollama#18275"""
    outcome = said("<|tool_call>{let me see<tool_call|>", tools=TOOLS)
    assert outcome.answer == "{let me see"
    assert outcome.notices == (NOT_UNDERSTOOD,)
    assert [call.verdict for call in outcome.calls] == ["rejected"]
    assert outcome.calls[0].problem.endswith("The tools are read, list.")


@pytest.mark.parametrize(
    ("opening", "text", "thought", "answer"),
    [
        ("thought", "Plan<channel|>Yes", "Plan", "Yes"),
        ("thought", "thought\nPlan<channel|>Yes", "thought\nPlan", "Yes"),
        ("thought", "<channel|>Yes", "", "Yes"),
        ("thought", "<|channel>thought\nPlan<channel|>Yes", "Plan", "Yes"),
        ("empty_thought", "Yes", "", "Yes"),
        ("empty_thought", "<|channel>thought\nPlan<channel|>Yes", "Plan", "Yes"),
        ("", "Yes", "", "Yes"),
    ],
)
def test_what_the_prompt_opened(opening: Opening, text: str, thought: str, answer: str) -> None:
    outcome = said(text, opening=opening)
    assert (outcome.thought, outcome.answer) == (thought, answer)


def test_another_models_vocabulary_has_none_of_the_markers() -> None:
    reply = Reply({}, TOOLS)
    tokens = stream(THOUGHT, "Yes", CALL)
    outcome = run(reply, tokens)
    assert outcome.answer == "".join(piece for _, piece in tokens)
    without_quotes = {k: v for k, v in MARKERS.items() if k != '<|"|>'}
    text = '<|tool_call>call:read{path:"a"}<tool_call|>'
    assert run(Reply(without_quotes, TOOLS), stream(text)).calls[0].arguments == {"path": "a"}


def test_text_that_was_still_open_comes_before_the_marker() -> None:
    reply = Reply(MARKERS)
    reply.feed(TEXT_TOKEN, "Hi")
    assert reply.feed(MARKERS["<|channel>"], " you\ufffd<|channel>") == [AnswerText(" you\ufffd")]
    reply.feed(TEXT_TOKEN, "thought\nPlan")
    assert reply.feed(MARKERS["<turn|>"], "!") == [ThoughtText("!")]
    assert reply.finish("?") == [ThoughtText("?")]
    assert (reply.answer, reply.thought) == ("Hi you\ufffd", "Plan!?")


def spoken(text: str, opening: Opening = "") -> tuple[Spoken, list[int]]:
    """What was spoken by one token per marker and per letter, and the tokens."""
    reply = Reply(MARKERS, TOOLS, opening=opening)
    tokens = [pair for token, piece in stream(text) for pair in _letters(token, piece)]
    for token, piece in tokens:
        reply.feed(token, piece)
    result = reply.spoken
    reply.finish()
    assert reply.spoken == result
    return result, [token for token, _ in tokens]


def _letters(token: int, piece: str) -> list[tuple[int, str]]:
    return [(token, letter) for letter in piece] if token == TEXT_TOKEN else [(token, piece)]


@pytest.mark.parametrize(
    ("text", "opening", "thoughts"),
    [
        ("ab", "", ()),
        ("<|channel>ab<channel|>cd", "", ((0, 4),)),
        ("a<|channel>b<channel|>c<|channel>d<channel|>", "", ((1, 4), (5, 8))),
        ("ab<channel|>cd", "thought", ((0, 3),)),
        ("<channel|>cd", "thought", ((0, 1),)),
        ("ab", "thought", ((0, 2),)),
        ("", "thought", ()),
        ("a<|channel>b", "", ((1, 3),)),
        ("<|channel>a<|channel>b<channel|>c", "", ((0, 5),)),
        ("<|channel>a<|tool_call>b<tool_call|>", "", ((0, 2),)),
        ("<|tool_call>call:f<|channel>a<channel|>{}<tool_call|>", "", ((7, 10),)),
        ("<|tool_call>f<|channel>a<tool_call|>", "", ((2, 4),)),
        ("a<channel|>b", "empty_thought", ()),
    ],
)
def test_spoken_tells_which_tokens_are_thoughts(
    text: str, opening: Opening, thoughts: tuple[tuple[int, int], ...]
) -> None:
    result, tokens = spoken(text, opening)
    assert result.tokens == tuple(tokens)
    assert result.opening == opening
    # A thought in a call is known to be one when the call ends.
    assert result.thoughts == thoughts


JSON_CALL = '{"name": "read", "arguments": {"path": "a.py"}}'


@pytest.mark.parametrize(
    "answer",
    [
        JSON_CALL,
        f"\n{JSON_CALL}\n",
        f"```json\n{JSON_CALL}\n```",
        f"```\n{JSON_CALL}\n```\n",
        '{"arguments": {"path": "a.py"},\n "name": "read"}',
        '{"name": "read", "parameters": {"path": "a.py",},}',
        '{"type": "function", "function": {"name": "read", "arguments": {"path": "a.py"}}}',
    ],
)
def test_json_as_the_whole_answer_is_a_call(answer: str) -> None:
    """opencode#7083"""
    outcome = said("<|channel>thought\nI read.<channel|>", answer, tools=TOOLS)
    assert outcome.answer.strip() == ""
    [call] = outcome.calls
    assert (call.verdict, call.name, call.arguments) == ("repaired", "read", {"path": "a.py"})
    assert "JSON without call markers" in call.repairs
    assert call.raw == answer


@pytest.mark.parametrize(
    "answer",
    [
        f"Here it is: {JSON_CALL}",
        f"{JSON_CALL} That is how.",
        f"```json\n{JSON_CALL}\n```\nThat is how.",
        JSON_CALL.replace("read", "fly"),
        JSON_CALL.replace("read", "raed"),
        '{"name": "read"}',
        '{"name": "read", "arguments": {}, "note": "an example"}',
        '{"name": "Anna", "age": 3}',
        '{"path": "a.py"}',
        JSON_CALL[:-1],
        f"[{JSON_CALL}]",
        "```python\nprint({'name': 1})\n```",
        "```bash\nrm -r build\n```",
        "``",
        "{",
    ],
)
def test_any_other_json_is_an_answer(answer: str) -> None:
    outcome = said(answer, tools=TOOLS)
    assert (outcome.answer, outcome.calls, outcome.notices) == (answer, (), ())


def test_json_is_only_an_answer_where_there_are_no_tools_or_a_call_came_before() -> None:
    assert said(JSON_CALL).answer == JSON_CALL
    outcome = said(CALL, JSON_CALL, tools=TOOLS)
    assert (outcome.answer, len(outcome.calls)) == (JSON_CALL, 1)


def test_an_answer_that_cannot_be_a_call_is_not_held_back() -> None:
    reply = Reply(MARKERS, TOOLS)
    assert reply.feed(TEXT_TOKEN, "```py") == []
    assert reply.feed(TEXT_TOKEN, "thon\nx") == [AnswerText("```python\nx")]
    assert reply.feed(TEXT_TOKEN, " = 1") == [AnswerText(" = 1")]


def test_json_that_names_no_tool_is_not_held_back() -> None:
    reply = Reply(MARKERS, TOOLS)
    assert reply.feed(TEXT_TOKEN, '```json\n{\n  "name": "re') == []
    assert reply.feed(TEXT_TOKEN, "act-app") == [AnswerText('```json\n{\n  "name": "react-app')]
    named = Reply(MARKERS, TOOLS)
    assert named.feed(TEXT_TOKEN, '{"name": "read", "version": 1') == []
    assert named.finish("}") == [AnswerText('{"name": "read", "version": 1}')]
