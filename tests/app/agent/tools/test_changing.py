"""``edit`` and ``write``: every guard, and what the model is told."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from gemma_local.app.agent.tool import Result, Tool, ToolProblem
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.app.stop import Stop

Call = Callable[..., Result]
posix = pytest.mark.skipif(os.name == "nt", reason="modes and links of POSIX")


def content(root: Path, name: str = "src/app.py") -> str:
    return (root / name).read_bytes().decode()


class TestEdit:
    def test_what_was_read_is_changed(self, call: Call, root: Path) -> None:
        call("read", path="src/app.py")
        result = call("edit", path="src/app.py", old="    x = 1\n", new="    x = 3\n    z = 4\n")
        assert content(root).count("    x = 3\n    z = 4\n    y = 2\n") == 1
        assert result.summary == "+2 -1"
        assert result.text.split("\n") == [
            "src/app.py: changed, +2 -1",
            "2|",
            "3|",
            "4|def main():",
            "5|    x = 3",
            "6|    z = 4",
            "7|    y = 2",
            "8|    return x + y",
        ]

    def test_again_without_reading_again(self, call: Call, root: Path) -> None:
        call("read", path="src/app.py")
        call("edit", path="src/app.py", old="x = 1", new="x = 2")
        call("edit", path="src/app.py", old="y = 2", new="y = 3")
        assert "x = 2\n    y = 3\n" in content(root)

    def test_the_level_is_said(self, call: Call) -> None:
        call("read", path="src/app.py")
        result = call("edit", path="src/app.py", old="5|    x = 1", new="5|    x = 2")
        assert "matched without the line numbers" in result.text

    def test_all(self, call: Call, root: Path) -> None:
        call("read", path="src/app.py")
        result = call("edit", path="src/app.py", old=" = ", new=": int = ", all=True)
        assert content(root).count(": int = ") == 2
        assert "2 places" in result.text

    def test_broken_syntax_is_said(self, call: Call) -> None:
        call("read", path="src/app.py")
        result = call("edit", path="src/app.py", old="y = 2", new="y = (")
        assert "Syntax error, line 6: '(' was never closed. Please fix it." in result.text
        result = call("edit", path="src/app.py", old="x = 1", new="x = 2")
        assert "There was one before, too." in result.text

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            ({"old": "", "new": "x"}, '"old" is empty'),
            ({"old": "x = 1", "new": "x = 1"}, "old and new are the same"),
            ({"old": "=", "new": "x"}, r"several times, at lines 5, 6\..*all=true"),
            ({"old": "x = 7", "new": "return x + y"}, '"new" is already there, at line 7'),
            ({"old": "    retrun x + y", "new": "z"}, r"nearest lines there are:\n(.*\n)*7\|  "),
            ({"old": "%$%$%", "new": "z"}, r"(?s)not in src/app\.py.*read the file again|Read the"),
            ({"old": "y = 2", "new": "# ... rest of the code"}, "Write out all lines"),
            ({"path": "src/ap.py", "old": "a", "new": "b"}, "Did you mean src/app.py"),
            ({"path": "zzz", "old": "a", "new": "b"}, "A new file is made with write"),
            ({"path": "src", "old": "a", "new": "b"}, "src is a folder"),
            ({"path": "../x", "old": "a", "new": "b"}, "outside the workspace"),
            ({"path": "a.png", "old": "a", "new": "b"}, "is an image: only text"),
            ({"old": 1, "new": "b"}, '"old" must be a text'),
        ],
    )
    def test_problems(
        self, call: Call, root: Path, arguments: dict[str, str], problem: str
    ) -> None:
        call("read", path="src/app.py")
        before = content(root)
        with pytest.raises(ToolProblem, match=problem):
            call("edit", **{"path": "src/app.py", **arguments})
        assert content(root) == before

    def test_unread(self, call: Call) -> None:
        with pytest.raises(ToolProblem, match="has not been read"):
            call("edit", path="src/app.py", old="x = 1", new="x = 2")

    def test_stale(self, call: Call, root: Path) -> None:
        call("read", path="src/app.py")
        (root / "src/app.py").write_text("x = 1\n")
        with pytest.raises(ToolProblem, match="has changed since it was read"):
            call("edit", path="src/app.py", old="x = 1", new="x = 2")

    def test_a_change_while_the_person_was_asked(
        self, call: Call, tools: dict[str, Tool], root: Path
    ) -> None:
        call("read", path="src/app.py")
        step = tools["edit"].step({"path": "src/app.py", "old": "x = 1", "new": "x = 2"})
        (root / "src/app.py").write_text("x = 1\n")
        with pytest.raises(ToolProblem, match="has changed just now"):
            step.carry_out(Stop(), lambda text: None)
        assert content(root) == "x = 1\n"

    def test_what_the_person_sees_before(self, call: Call, tools: dict[str, Tool]) -> None:
        call("read", path="src/app.py")
        effect = tools["edit"].step({"path": "src/app.py", "old": "x = 1", "new": "x = 2"}).effect
        assert (effect.kind, effect.title, effect.why) == ("edit", "src/app.py", "")
        assert effect.rule == "edit: src/**"
        assert effect.diff is not None and effect.diff.counts == (1, 1)
        assert [path.name for path in effect.touches] == ["app.py"]

    @pytest.mark.parametrize(
        ("before", "after"),
        [
            (b"a\r\nb\r\n", b"a\r\nx\r\ny\r\n"),
            (b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfa\nx\ny\n"),
            (b"a\nb", b"a\nx\ny"),
            (b"a\r\nb\nc", b"a\r\nx\ny\nc"),
            (b"\ta\n\tb\n", b"\ta\n\tx\ny\n"),
            (b"\xe9\nb\n", b"\xe9\nx\ny\n"),
            ("a\r\nb".encode("utf-16"), "a\r\nx\r\ny".encode("utf-16")),
        ],
    )
    def test_the_form_of_the_file_stays(
        self, call: Call, root: Path, before: bytes, after: bytes
    ) -> None:
        (root / "f.txt").write_bytes(before)
        call("read", path="f.txt")
        call("edit", path="f.txt", old="b", new="x\ny")
        assert (root / "f.txt").read_bytes() == after

    def test_a_sign_that_the_encoding_lacks(self, call: Call, root: Path) -> None:
        (root / "f.txt").write_bytes(b"\xe9 a\n")
        call("read", path="f.txt")
        with pytest.raises(ToolProblem, match=r"LATIN-1, which has no U\+2192"):
            call("edit", path="f.txt", old="a", new="\u2192")

    @posix
    def test_through_a_link_and_with_the_mode(self, call: Call, root: Path) -> None:
        (root / "src/app.py").chmod(0o750)
        (root / "alias.py").symlink_to("src/app.py")
        call("read", path="alias.py")
        call("edit", path="src/app.py", old="x = 1", new="x = 2")
        assert (root / "alias.py").is_symlink()
        assert "x = 2" in content(root, "alias.py")
        assert stat.S_IMODE((root / "src/app.py").stat().st_mode) == 0o750

    @posix
    def test_other_names_of_the_file_are_mentioned(self, call: Call, root: Path) -> None:
        (root / "other.py").hardlink_to(root / "src/app.py")
        call("read", path="src/app.py")
        result = call("edit", path="src/app.py", old="x = 1", new="x = 2")
        assert "2 names" in result.text
        assert "x = 1" in content(root, "other.py")

    @posix
    def test_what_is_read_only_is_asked_for(
        self, call: Call, tools: dict[str, Tool], root: Path
    ) -> None:
        (root / "src/app.py").chmod(0o444)
        call("read", path="src/app.py")
        step = tools["edit"].step({"path": "src/app.py", "old": "x = 1", "new": "x = 2"})
        assert step.effect.why == "is read-only"

    def test_it_can_be_undone(self, call: Call, kit: Kit, root: Path) -> None:
        before = content(root)
        call("read", path="src/app.py")
        call("edit", path="src/app.py", old="x = 1", new="x = 2")
        assert kit.checkpoints is not None
        plan = kit.checkpoints.undo()
        assert plan is not None and plan.foreign == ()
        kit.checkpoints.carry_out(plan)
        assert content(root) == before
        with pytest.raises(ToolProblem, match="has changed since it was read"):
            call("edit", path="src/app.py", old="y = 2", new="y = 3")


class TestWrite:
    def test_a_new_file_in_new_folders(
        self, call: Call, tools: dict[str, Tool], root: Path
    ) -> None:
        arguments = {"path": "lib/deep/new.py", "content": "x = 1\n"}
        effect = tools["write"].step({**arguments}).effect
        assert (effect.title, effect.rule) == ("lib/deep/new.py (new)", "edit: lib/deep/**")
        assert effect.diff is not None and effect.diff.before is None
        assert not (root / "lib").exists()
        result = call("write", **arguments)
        assert content(root, "lib/deep/new.py") == "x = 1\n"
        assert result.text == "lib/deep/new.py: new file, +1 -0"
        # What it wrote, it knows.
        call("edit", path="lib/deep/new.py", old="1", new="2")

    def test_a_file_that_was_read(self, call: Call, root: Path) -> None:
        call("read", path="src/app.py")
        call("write", path="src/app.py", content="x = 1")
        assert content(root) == "x = 1\n"

    def test_a_file_that_was_not_or_only_in_part(self, call: Call) -> None:
        with pytest.raises(ToolProblem, match="has not been read"):
            call("write", path="src/app.py", content="x = 1\n")
        call("read", path="src/app.py", limit=3)
        with pytest.raises(ToolProblem, match=r"Lines 4-7 of src/app\.py have not been read"):
            call("write", path="src/app.py", content="x = 1\n")

    def test_an_empty_file_need_not_be_read(self, call: Call, root: Path) -> None:
        (root / "empty.py").touch()
        call("write", path="empty.py", content="x = 1\n")
        assert content(root, "empty.py") == "x = 1\n"

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            (
                {"path": "src/app.py", "content": "import os\n# ... existing code ...\n"},
                "Write out",
            ),
            ({"path": "src", "content": "x"}, "src is a folder"),
            ({"path": "a.pdf", "content": "x"}, "only text can be written"),
            ({"path": "/etc/x", "content": "x"}, "outside the workspace"),
            ({"path": "src/app.py/x", "content": "x"}, "was not changed|no usable path"),
            ({"path": "a.py", "content": "\ud800"}, "which has no U\\+D800"),
            ({"path": "a.py", "content": "x" * 1_000_001}, "at most 1,000,000"),
            ({"path": "a.py"}, 'missing "content"'),
        ],
    )
    def test_problems(
        self, call: Call, root: Path, arguments: dict[str, str], problem: str
    ) -> None:
        call("read", path="src/app.py")
        with pytest.raises(ToolProblem, match=problem):
            call("write", **arguments)
        assert [path.name for path in root.iterdir()] == ["src"]

    def test_nothing_to_change(self, call: Call, root: Path) -> None:
        call("read", path="src/app.py")
        with pytest.raises(ToolProblem, match="changes nothing"):
            call("write", path="src/app.py", content=content(root))

    def test_a_fence_is_taken_off_code(self, call: Call, root: Path) -> None:
        result = call("write", path="a.py", content="```python\nx = 1\n```\n")
        assert content(root, "a.py") == "x = 1\n"
        assert "without the fence" in result.text
        call("write", path="a.md", content="```python\nx = 1\n```\n")
        assert content(root, "a.md").startswith("```")

    def test_line_ends_and_mark_stay(self, call: Call, root: Path) -> None:
        (root / "f.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
        call("read", path="f.txt")
        call("write", path="f.txt", content="c\nd\n")
        assert (root / "f.txt").read_bytes() == b"\xef\xbb\xbfc\r\nd\r\n"

    def test_secrets_are_asked_for(self, tools: dict[str, Tool]) -> None:
        effect = tools["write"].step({"path": ".env", "content": "A=1\n"}).effect
        assert (effect.why, effect.rule) == ("may hold secrets", "")
