"""Tasks that change files, from the first word to the last, and back."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.app.agent.tasks.conftest import Task
from tests.ggufs import call

APP = "def add(a, b):\n    return a - b\n\n\ndef twice(a):\n    return add(a, a)\n"
CHECK = "import app\n\nassert app.add(1, 2) == 3, app.add(1, 2)\nprint('all is well')\n"
RUN_CHECK = f"{sys.executable} check.py"
DONE = ["It is done."]


def test_a_line_is_changed(task: Task) -> None:
    steps = (
        ["I look. ", call("read", path="app.py")],
        [call("edit", path="app.py", old="a - b", new="a + b")],
        DONE,
    )
    with task({"app.py": APP}, *steps) as work:
        turned = work.do("add() subtracts")
        assert (turned.end, [done.outcome for done in turned.calls]) == ("answered", ["ok", "ok"])
        assert work.read("app.py") == APP.replace("a - b", "a + b")
        assert work.heard.answer == "I look. It is done."
        assert "2|    return a + b" in work.results[1].text
        [diff] = [ended.diff for ended in work.heard.ended if ended.diff is not None]
        assert diff.counts == (1, 1)


def test_tests_are_run_and_what_they_say_is_acted_upon(task: Task) -> None:
    steps = (
        [call("run", command=RUN_CHECK)],
        ["It subtracts. ", call("read", path="app.py")],
        [call("edit", path="app.py", old="a - b", new="a * b")],
        [call("run", command=f"{RUN_CHECK} ")],
        [call("edit", path="app.py", old="a * b", new="a + b")],
        ["Again. ", call("run", command=f" {RUN_CHECK}")],
        DONE,
    )
    with task({"app.py": APP, "check.py": CHECK}, *steps) as work:
        turned = work.do("make check.py pass")
        outcomes = [done.outcome for done in turned.calls]
        assert outcomes == ["failed", "ok", "ok", "failed", "ok", "ok"]
        assert "AssertionError: -1" in work.results[0].text
        assert "AssertionError: 2" in work.results[3].text
        assert "all is well" in work.results[5].text
        assert "all is well" in work.heard.output


def test_new_files_come_with_their_folders(task: Task) -> None:
    text = 'def hello():\n    return "hello"\n'
    steps = ([call("write", path="src/pkg/hello.py", content=text)], DONE)
    with task({"README.md": "# It\n"}, *steps) as work:
        work.do("make a module")
        assert work.read("src/pkg/hello.py") == text
        assert work.results[0].text.startswith("src/pkg/hello.py: new file, +2 -0")


def test_a_name_is_changed_in_all_files(task: Task) -> None:
    files = {
        "app.py": "def load():\n    return 1\n",
        "main.py": "from app import load\n\nload()\nload()\n",
        "docs/use.md": "Call `load()`.\n",
    }
    steps = (
        [call("search", pattern="load")],
        [*(call("read", path=path) for path in files)],
        [
            call("edit", path="app.py", old="def load", new="def fetch"),
            call("edit", path="main.py", old="load", new="fetch", all=True),
            call("edit", path="docs/use.md", old="`load", new="`fetch"),
        ],
        [call("search", pattern="load", path=".")],
        DONE,
    )
    with task(files, *steps) as work:
        turned = work.do("rename load to fetch")
        assert all(done.outcome == "ok" for done in turned.calls)
        assert "main.py" in work.results[0].text
        assert "[5 matches in 3 files]" in work.results[0].text
        assert "3 places" in work.results[5].text
        assert "No match" in work.results[-1].text
        for path in files:
            assert "load" not in work.read(path)


def test_a_file_is_rewritten_once_it_was_read(task: Task) -> None:
    steps = (
        [call("write", path="app.py", content="A = 1\n")],
        [call("read", path="app.py")],
        [call("write", path="app.py", content="A = 1\n")],
        DONE,
    )
    with task({"app.py": APP}, *steps) as work:
        turned = work.do("make it shorter")
        assert [done.outcome for done in turned.calls] == ["failed", "ok", "ok"]
        assert "has not been read" in work.results[0].text
        assert work.read("app.py") == "A = 1\n"


def test_what_was_not_read_is_not_changed(task: Task) -> None:
    steps = (
        [call("edit", path="app.py", old="a - b", new="a + b")],
        [call("read", path="app.py", limit=2)],
        [call("edit", path="app.py", old="a - b", new="a + b")],
        DONE,
    )
    with task({"app.py": APP}, *steps) as work:
        turned = work.do("add() subtracts")
        assert [done.outcome for done in turned.calls] == ["failed", "ok", "ok"]


def test_a_file_that_somebody_else_changes_is_read_again(task: Task) -> None:
    steps = (
        [call("read", path="app.py")],
        [call("edit", path="app.py", old="a - b", new="a + b")],
        ["Oh. ", call("read", path="app.py", offset=1)],
        ["So. ", call("edit", path="app.py", old="a - b", new="a + b")],
        DONE,
    )
    with task({"app.py": APP}, *steps, undoes=False) as work:
        path = work.root / "app.py"

        def write_by_hand(_: object) -> None:
            if len(work.heard.answers) == 2 and len(work.heard.ended) == 1:
                path.write_text(f"# by hand\n{APP}", encoding="utf-8")

        work.heard.does = write_by_hand
        turned = work.do("add() subtracts")
        assert [done.outcome for done in turned.calls] == ["ok", "failed", "ok", "ok"]
        assert "has changed since it was read" in work.results[1].text
        assert work.read("app.py") == f"# by hand\n{APP}".replace("a - b", "a + b")
        restoration = work.agent.undo()
        assert restoration is not None
        work.agent.restore(restoration)
        # What was there by hand is there again.
        assert work.read("app.py") == f"# by hand\n{APP}"


def test_a_wrong_place_is_answered_with_the_right_lines(task: Task) -> None:
    steps = (
        [call("read", path="app.py")],
        [call("edit", path="app.py", old="    return a-b  # wrong", new="    return a + b")],
        [call("edit", path="app.py", old="    return a - b", new="    return a + b")],
        DONE,
    )
    with task({"app.py": APP}, *steps) as work:
        turned = work.do("add() subtracts")
        assert [done.outcome for done in turned.calls] == ["ok", "failed", "ok"]
        assert "2|    return a - b" in work.results[1].text


def test_a_place_that_is_there_twice_is_not_guessed(task: Task) -> None:
    text = "x = 1\ny = 2\nx = 1\n"
    steps = (
        [call("read", path="a.py")],
        [call("edit", path="a.py", old="x = 1", new="x = 3")],
        [call("edit", path="a.py", old="x = 1", new="x = 3", all=True)],
        DONE,
    )
    with task({"a.py": text}, *steps) as work:
        turned = work.do("x is 3")
        assert [done.outcome for done in turned.calls] == ["ok", "failed", "ok"]
        assert "at lines 1, 3" in work.results[1].text
        assert work.read("a.py") == text.replace("1", "3")


def test_code_is_not_left_out(task: Task) -> None:
    lazy = "def add(a, b):\n    return a + b\n\n# ... rest of the code unchanged ...\n"
    steps = (
        [call("read", path="app.py")],
        [call("write", path="app.py", content=lazy)],
        ["Well. ", call("edit", path="app.py", old="a - b", new="a + b")],
        DONE,
    )
    with task({"app.py": APP}, *steps) as work:
        turned = work.do("add() subtracts")
        assert [done.outcome for done in turned.calls] == ["ok", "failed", "ok"]
        assert "twice" in work.read("app.py")


def test_a_mistake_in_the_syntax_is_told_at_once(task: Task) -> None:
    steps = (
        [call("read", path="app.py")],
        [call("edit", path="app.py", old="a - b", new="(a + b")],
        [call("edit", path="app.py", old="(a + b", new="a + b")],
        DONE,
    )
    with task({"app.py": APP}, *steps) as work:
        work.do("add() subtracts")
        assert "Syntax error" in work.results[1].text
        assert "Syntax error" not in work.results[2].text


def test_line_ends_and_byte_order_marks_stay(task: Task) -> None:
    steps = (
        [call("read", path="dos.txt")],
        [call("edit", path="dos.txt", old="two", new="2\n2.5")],
        DONE,
    )
    with task({"a.txt": "a\n"}, *steps, undoes=False) as work:
        path: Path = work.root / "dos.txt"
        path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")
        work.do("two is 2")
        assert path.read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n2.5\r\nthree\r\n"


def test_the_same_change_twice_is_said_to_be_made(task: Task) -> None:
    change = {"path": "app.py", "old": "a - b", "new": "a + bbb"}
    steps = ([call("read", path="app.py")], [call("edit", **change), call("edit", **change)], DONE)
    with task({"app.py": APP}, *steps) as work:
        turned = work.do("go on")
        assert [done.outcome for done in turned.calls] == ["ok", "ok", "failed"]


def test_a_list_of_steps_is_kept(task: Task) -> None:
    items = ["[x] look", "[~] change", "[ ] check"]
    with task({"a.py": "a = 1\n"}, [call("todo", items=items)], DONE) as work:
        work.do("three things")
        assert [str(item) for item in work.agent.bench.todos.items] == items
        assert "1 of 3 done. Now: change" in work.results[0].text
