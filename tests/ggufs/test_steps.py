"""Pairs that say what comes next each time: through the real engine, call after call."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.options import AnswerOptions
from gemma_local.models.message import Tool
from tests.app.talking import talking
from tests.ggufs import Steps, build, call
from tests.ggufs.steps import either

TEXT = {"type": "string"}
READ = Tool("read", "Reads", {"type": "object", "properties": {"path": TEXT, "limit": TEXT}})


@pytest.mark.parametrize("kind", ["edge", "dense"])
def test_each_answer_is_the_next_step(kind: str, tmp_path: Path) -> None:
    steps = Steps.of(
        ["I look. ", call("read", path="a.py"), call("read", path="a.py", limit="3")],
        [call("read", path="b.py")],
        ["Once more. ", *(call("read", path=path) for path in ("a.py", "b.py", "a.py", "a.py"))],
        ["All is well."],
        ["As I said."],
    )
    wanted = [
        ("I look. ", ["a.py", "a.py"]),
        ("", ["b.py"]),
        ("Once more.", ["a.py", "b.py", "a.py", "a.py"]),
        ("All is well.", []),
        ("As I said.", []),
        # After the last one it says that again.
        ("As I said.", []),
    ]
    pair = build(kind, steps, tmp_path)
    with talking(pair, tmp_path, tools=[READ], context=4096) as talk:
        answered = talk.ask("go on")
        for text, paths in wanted:
            assert answered.message is not None
            assert answered.message.text.strip() == text.strip()
            assert [c.arguments["path"] for c in answered.calls] == paths
            assert all(c.verdict == "ok" for c in answered.calls)
            talk.heard.answer = ""
            for one in answered.calls:
                talk.conversation.add_result(one.name, "def f(): }\n" * 20 + one.raw)
            answered = talk.assistant.answer() if paths else talk.ask("and?")
        assert answered.done.tally.accepted > 0


def test_the_seed_chooses_where_there_is_a_choice(tmp_path: Path) -> None:
    steps = Steps.of(
        [either("Heads. ", "Tails. "), call("read", path=either("a.py", "b.py", "c.py"))], ["Well."]
    )
    pair = build("edge", steps, tmp_path)
    said = set()
    for seed in range(6):
        options = AnswerOptions(seed=seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        with talking(pair, folder, tools=[READ], options=options, context=2048) as talk:
            answered = talk.ask("go on")
            assert answered.message is not None
            [one] = answered.calls
            assert one.verdict == "ok"
            said.add((answered.message.text.strip(), one.arguments["path"]))
    assert {text for text, _ in said} == {"Heads.", "Tails."}
    assert {path for _, path in said} == {"a.py", "b.py", "c.py"}


def test_what_cannot_be_told_apart_is_refused() -> None:
    with pytest.raises(ValueError, match="comes twice in one step"):
        Steps.of(["Well", "Well"])
    with pytest.raises(ValueError, match="too often in one step"):
        Steps.of([call("read", path="a"), call("read", path="a")])
    with pytest.raises(ValueError, match="end in the same text"):
        Steps.of(["Well"], ["Well"])
