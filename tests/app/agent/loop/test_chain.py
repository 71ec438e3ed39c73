"""Making room in the middle of a chain of calls, and what must outlast it."""

from __future__ import annotations

from collections.abc import Mapping

from gemma_local.app.compaction import OUTPUT, SAID, old_steps
from gemma_local.app.context_window import Window
from gemma_local.app.record import Unsaved
from gemma_local.app.sessions.entry import Entry
from gemma_local.models.message import Message, Spoken, ToolCall, Value

WINDOW = Window(1_200)


def chain(results: int, content: str = "a = 1\n") -> list[Entry]:
    """A message, and as many calls with their results."""
    record = Unsaved()
    live = [record.append(Message("user", "do it"))]
    for i in range(results):
        call = ToolCall("write", {"path": f"{i}.py", "content": content})
        live.append(record.append(Message("assistant", calls=(call,), spoken=Spoken((1, 2)))))
        live.append(record.append(Message("tool", f"output {i}", tool="write")))
    return live


def tokens(live: list[Entry], each: int = 100) -> Mapping[int, int]:
    return {entry.number: each for entry in live}


def test_old_results_become_a_line_and_the_newest_stay() -> None:
    live = chain(5)
    found = old_steps(live, tokens(live), WINDOW)
    assert [stand_in.number for stand_in in found] == [3, 5, 7]
    assert found[0].message.text == (
        "[write 0.py a = 1: 100 tokens of output, dropped to save room]"
    )


def test_long_arguments_go_and_short_ones_stay() -> None:
    live = chain(4, "x" * 5_000)
    found = {s.number: s.message for s in old_steps(live, tokens(live), WINDOW)}
    assert sorted(found) == [2, 3, 4, 5, 6]
    [call] = found[2].calls
    assert call.arguments == {
        "path": "0.py",
        "content": "(5,000 characters, dropped to save room)",
    }
    # The tokens that it was said in hold what was dropped.
    assert found[2].spoken is None


def test_the_last_step_stays_whatever_it_takes() -> None:
    live = chain(1)
    assert old_steps(live, tokens(live, 5_000), WINDOW) == []


def test_what_the_person_said_meanwhile_stays_word_for_word() -> None:
    live = chain(3)
    record = Unsaved(live[2].number)
    both: dict[str, Value] = {OUTPUT: "output 0", SAID: "not so fast"}
    live[2] = record.append(Message("tool", "output 0", tool="write", result=both))
    found = {s.number: s.message for s in old_steps(live, tokens(live), WINDOW)}
    result = found[3].result
    assert result is not None
    assert result[SAID] == "not so fast"
    assert str(result[OUTPUT]).startswith("[write 0.py")
