"""Going round in circles: what counts as that, and what is done about it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.app.agent.consent import Verdict
from gemma_local.app.agent.repeats import NOTE, Repeats, Rung
from gemma_local.models.message import ToolCall
from tests.app.agent.working import NO, YES, Person, repository, working
from tests.ggufs import Pair, build, script

READ = ToolCall("read", {"path": "a.py"})
OTHER = ToolCall("read", {"path": "b.py"})
TEST = ToolCall("run", {"command": "pytest"})


Seen = tuple[ToolCall, str] | tuple[ToolCall, str, bool]


def rungs(*calls: Seen) -> list[Rung]:
    repeats = Repeats()
    return [repeats.saw(seen[0], seen[1], has_changed=len(seen) == 3)[0] for seen in calls]


def test_the_same_call_with_the_same_result_climbs_the_ladder() -> None:
    assert rungs(*[(READ, "1|a")] * 5) == ["", "note", "nudge", "ask", "ask"]


def test_another_result_is_no_repetition() -> None:
    assert rungs(*((TEST, f"{i} failed") for i in range(6))) == [""] * 6
    assert rungs((READ, "1|a"), (READ, "1|b"), (READ, "1|a"), (OTHER, "1|a")) == [
        *("", "", "note", ""),
    ]


def test_how_long_something_took_is_no_other_result() -> None:
    results = ["exit status 1, 0.3 s\n1 failed in 0.03s", "exit status 1, 1.2 s\n1 failed in 4ms"]
    assert rungs(*((TEST, result) for result in results)) == ["", "note"]


def test_arguments_in_another_order_are_the_same() -> None:
    one = ToolCall("read", {"path": "a", "limit": 3})
    assert rungs((one, "x"), (ToolCall("read", {"limit": 3, "path": "a"}), "x")) == ["", "note"]


def test_a_change_gives_everything_another_chance() -> None:
    calls: list[Seen] = []
    for i in range(6):
        calls += [(ToolCall("edit", {"new": str(i)}), f"changed {i}", True), (TEST, "1 failed")]
    assert rungs(*calls) == [""] * 12


def test_a_circle_of_changes_is_seen() -> None:
    there: Seen = (ToolCall("edit", {"old": "a", "new": "b"}), "changed to b", True)
    back: Seen = (ToolCall("edit", {"old": "b", "new": "a"}), "changed to a", True)
    assert rungs(*[there, back] * 4)[-3:] == ["nudge", "nudge", "ask"]
    around: list[Seen] = [there, (TEST, "1 failed"), back, (TEST, "2 failed")]
    assert rungs(*around * 4)[-1] == "ask"
    assert set(rungs(*around * 2)) == {""}


def test_reading_many_files_is_work() -> None:
    calls = [(ToolCall("read", {"path": f"{i}.py"}), "empty") for i in range(40)]
    assert set(rungs(*calls)) == {""}


# --------------------------------------------------------------------------------- with a model

STUBBORN = script(
    ["<|tool_call>", "call:read{path:", '<|"|>', "a.py", '<|"|>', "}", "<tool_call|>"],
    end="<|tool_response>",
).then(["<|tool_call>"], after="<tool_response|>", end="call:read{path:")


@pytest.fixture
def stubborn(ggufs: Path) -> Pair:
    """Reads one file again and again."""
    return build("edge", STUBBORN, ggufs / "stubborn")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", {"a.py": "a = 1\n"})


def test_the_person_is_asked_and_ends_it(stubborn: Pair, root: Path) -> None:
    with working(stubborn, root, person=Person([YES, NO])) as work:
        turned = work.do("read it")
        assert (turned.end, len(turned.calls)) == ("loop", 8)
        texts = [result.text for result in work.results]
        assert texts[0] == "1|a = 1"
        assert texts[1] == f"1|a = 1\n[{NOTE}]"
        assert "3 times" in texts[2]
        # After a yes it is counted anew.
        assert texts[4] == texts[0]
        first, second = work.person.asked
        assert first.title == second.title == "go on? a.py"
        assert "4 times" in first.why
        assert first.always == ""


def test_the_person_says_what_to_do_instead(stubborn: Pair, root: Path) -> None:
    with working(stubborn, root, person=Person([Verdict("no", "look at b.py"), NO])) as work:
        turned = work.do("read it")
        assert turned.end == "loop"
        result = work.results[3].result
        assert result is not None
        assert result["user_says"] == "look at b.py"
        assert work.heard.words == ["look at b.py"]


def test_where_nobody_is_it_ends_by_itself(stubborn: Pair, root: Path) -> None:
    with working(stubborn, root, alone=True) as work:
        turned = work.do("read it")
        assert (turned.end, len(turned.calls)) == ("loop", 4)


def test_many_calls_are_asked_about(stubborn: Pair, root: Path) -> None:
    with working(stubborn, root, person=Person([YES, NO]), most_calls=1) as work:
        turned = work.do("read it")
        assert (turned.end, len(turned.calls)) == ("limit", 2)
        assert [asked.title for asked in work.person.asked] == [
            "go on? That was call 1",
            "go on? That was call 2",
        ]
        # The call that was not run is told as that when the person goes on.
        assert work.conversation.unanswered
