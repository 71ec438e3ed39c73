"""What is said at the end of the person's message."""

from __future__ import annotations

from pathlib import Path

from gemma_local.app.agent.notes import Notes
from gemma_local.app.agent.tools.todo import Item, TodoList
from gemma_local.app.record import Unsaved
from gemma_local.models.message import Message, ToolCall
from tests.app.agent.working import repository, working
from tests.ggufs import Steps, build, call


def test_nothing_is_added_without_need() -> None:
    assert Notes(TodoList()).with_notes("hello", "auto", []) == ("hello", {})


def test_plan_mode_is_said_when_it_begins_and_ends() -> None:
    notes = Notes(TodoList())
    text, info = notes.with_notes("hello", "plan", [])
    assert text.startswith("hello\n\n[Plan mode is on")
    assert info == {"mode": "plan"}
    assert notes.with_notes("and?", "plan", []) == ("and?", {"mode": "plan"})
    entry = Unsaved().append(Message("user", text), info=info)
    for later in (notes, Notes.after([entry], TodoList())):
        assert later.with_notes("go", "edits", []) == (
            "go\n\n[Plan mode is off: changes may be made.]",
            {},
        )


def test_the_list_comes_back_when_it_was_summed_up() -> None:
    todos = TodoList()
    todos.items = (Item("look", "done"), Item("change"))
    notes = Notes(todos)
    record = Unsaved()
    calls = (ToolCall("todo", {"items": []}),)
    live = [record.append(Message("assistant", calls=calls))]
    assert notes.with_notes("go on", "auto", live) == ("go on", {})
    assert notes.with_notes("go on", "auto", [])[0] == (
        "go on\n\n[Your list of steps:\n[x] look\n[ ] change]"
    )
    todos.items = (Item("look", "done"),)
    assert notes.with_notes("go on", "auto", []) == ("go on", {})


def test_the_model_hears_of_files_that_were_restored(ggufs: Path, tmp_path: Path) -> None:
    root = repository(tmp_path / "project", {"a.py": "a = 1\n"})
    change = call("edit", path="a.py", old="a = 1", new="a = 2")
    steps = Steps.of(
        [call("read", path="a.py")], [change], ["Done."], ["Again. ", change], ["Done again."]
    )
    with working(build("edge", steps, ggufs / "restored"), root) as work:
        work.do("two")
        number = work.conversation.entries[0].number
        planned = work.agent.files_before(number)
        assert planned is not None
        assert [diff.path for diff in planned.diffs] == ["a.py"]
        work.agent.restore(planned)
        assert work.read("a.py") == "a = 1\n"
        turned = work.do("once more")
        said = [e.message.text for e in work.conversation.entries if e.message.role == "user"]
        assert said[1].startswith("once more\n\n[Restored to how they were before: a.py.")
        # It has to look first.
        assert [done.outcome for done in turned.calls] == ["failed"]
        redone = work.agent.redo()
        assert redone is not None
        work.agent.restore(redone)
        assert work.read("a.py") == "a = 2\n"
