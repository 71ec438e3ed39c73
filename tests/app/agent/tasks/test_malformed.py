"""Calls as models really write them: each is understood, asked for once more, or explained."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.options import AnswerOptions
from tests.app.agent.working import repository, working
from tests.ggufs import build, script

Q = '<|"|>'
FILES = {"app.py": "def add(a, b):\n    return a - b\n"}
READ = "1|def add(a, b):\n2|    return a - b"

UNDERSTOOD = {
    "round brackets": ["<|tool_call>", "call:read(path=", Q, "app.py", Q, ")", "<tool_call|>"],
    "JSON quotes": ["<|tool_call>", 'call:read{"path": "app.py"}', "<tool_call|>"],
    "single quotes": ["<|tool_call>", "call:read{path:'app.py'}", "<tool_call|>"],
    "an equals sign": ["<|tool_call>", "call:read{path=", Q, "app.py", Q, "}", "<tool_call|>"],
    "no quotes": ["<|tool_call>", "call:read{path:app.py}", "<tool_call|>"],
    "no brace at the end": ["<|tool_call>", "call:read{path:", Q, "app.py", Q, "<tool_call|>"],
    "no end marker": ["<|tool_call>", "call:read{path:", Q, "app.py", Q, "}"],
    "noise at the end": ["<|tool_call>", "call:read{path:app.py}</tool_call>", "<tool_call|>"],
    "JSON": ["<|tool_call>", '{"name": "read", "arguments": {"path": "app.py"}}', "<tool_call|>"],
    "JSON in the answer": ['{"name": "read", "arguments": {"path": "app.py"}}'],
    "another key": ["<|tool_call>", "call:read{file_path:", Q, "app.py", Q, "}", "<tool_call|>"],
    "a number as text": [
        *("<|tool_call>", "call:read{limit:", Q, "2", Q, " ,path:app.py}", "<tool_call|>"),
    ],
    "a name that is nearly right": ["<|tool_call>", "call:raed{path:app.py}", "<tool_call|>"],
    "a space in front": ["<|tool_call>", " call: read{path:app.py}", "<tool_call|>"],
    "BEGIN_ARG": ["<|tool_call>", "call:read BEGIN_ARG:app.py END_ARG", "<tool_call|>"],
    "a thought in the call": [
        *("<|tool_call>", "<|channel>", "thought", "\n", "hm", "<channel|>"),
        *("call:read{path:app.py}", "<tool_call|>"),
    ],
}


@pytest.mark.parametrize("how", UNDERSTOOD)
def test_what_can_be_read_in_one_way_is(ggufs: Path, tmp_path: Path, how: str) -> None:
    spec = script(UNDERSTOOD[how], end="<|tool_response>").then(["Seen."], after="<tool_response|>")
    root = repository(tmp_path / "project", FILES)
    with working(build("edge", spec, ggufs / "malformed"), root) as work:
        turned = work.do("read it")
        assert [(done.tool, done.outcome) for done in turned.calls] == [("read", "ok")]
        assert work.results[0].text == READ
        assert work.heard.answer.endswith("Seen.")


def test_a_tool_that_there_is_not_is_explained(ggufs: Path, tmp_path: Path) -> None:
    written = "call:delete{path:app.py}"
    spec = script(["<|tool_call>", written, "<tool_call|>"], end="<|tool_response>")
    spec = spec.then(["I see."], after="<tool_response|>")
    root = repository(tmp_path / "project", FILES)
    with working(build("edge", spec, ggufs / "malformed"), root) as work:
        turned = work.do("do it")
        assert work.results[0].text.startswith('there is no tool "delete". The tools are read,')
        assert "\n" not in work.results[0].text
        assert turned.calls[0].outcome == "failed"
        assert work.read("app.py") == FILES["app.py"]


def test_a_call_that_was_cut_off_is_asked_for_with_less_text(ggufs: Path, tmp_path: Path) -> None:
    long = [f" line{i}" for i in range(60)]
    call = ["<|tool_call>", "call:write{content:", Q, *long, Q, ",path:a.txt}", "<tool_call|>"]
    spec = script(call, end="<|tool_response>").then(["Oh."], after="<tool_response|>")
    root = repository(tmp_path / "project", FILES)
    short = AnswerOptions(temperature=0.0, seed=1, max_tokens=20)
    with working(build("edge", spec, ggufs / "malformed"), root, options=short) as work:
        turned = work.do("write it")
        assert turned.calls[0].outcome == "failed"
        assert "cut off at a length limit" in work.results[0].text
        assert not (root / "a.txt").exists()
        assert work.heard.answer == "Oh."


def test_an_unreadable_call_is_written_anew_by_the_grammar(ggufs: Path, tmp_path: Path) -> None:
    # Left to itself the model gives no path; held to the grammar it has to.
    spec = script(
        [
            "I look. ",
            "<|tool_call>",
            {"call:read{}": 0.98, "call:read{path:": 0.02},
            {"<tool_call|>": 0.98, Q: 0.02},
            {"<|tool_response>": 0.98, "app.py": 0.02},
            *(Q, "}", "<tool_call|>"),
        ],
        end="<|tool_response>",
    ).then(["Seen."], after="<tool_response|>")
    root = repository(tmp_path / "project", FILES)
    with working(build("edge", spec, ggufs / "malformed", window=64), root) as work:
        turned = work.do("read it")
        assert [(done.arguments, done.outcome) for done in turned.calls] == [
            ({"path": "app.py"}, "ok")
        ]
        assert work.results[0].text == READ
        # Shown and kept is the second call, as the tokens that it was written in.
        answer = work.conversation.entries[1].message
        assert (answer.text, [call.arguments for call in answer.calls]) == (
            "I look. ",
            [{"path": "app.py"}],
        )
        assert answer.spoken is not None
        first, second = work.tallies
        assert first.prefilled_tokens > 1000
        # What was read up to the call stays read; new are the call and its result.
        assert second.prefilled_tokens < 100
