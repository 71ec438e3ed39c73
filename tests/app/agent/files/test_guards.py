"""What stands between a model's slip and a file: what it has seen, what it leaves out, and what it
breaks."""

from __future__ import annotations

import shutil
import sys
import warnings
from pathlib import Path, PurePath

import pytest

from gemma_local.app.agent.files.checking import Linter, syntax_error
from gemma_local.app.agent.files.placeholders import placeholder_in
from gemma_local.app.agent.files.seen import Seen
from gemma_local.app.agent.tool import ToolProblem
from gemma_local.app.stop import Stop

PATH = Path("/project/a.py")


class TestSeen:
    def test_unread(self) -> None:
        with pytest.raises(ToolProblem, match=r"a\.py has not been read"):
            Seen().check(PATH, "a.py", "1")

    def test_read(self) -> None:
        seen = Seen()
        seen.saw(PATH, "1", 1, 10, 10)
        seen.check(PATH, "a.py", "1", whole=True)
        with pytest.raises(ToolProblem, match="has changed since"):
            seen.check(PATH, "a.py", "2")

    def test_in_parts(self) -> None:
        seen = Seen()
        seen.saw(PATH, "1", 1, 10, 30)
        seen.saw(PATH, "1", 21, 30, 30)
        seen.check(PATH, "a.py", "1")
        with pytest.raises(ToolProblem, match=r"Lines 11-20 .* would be lost"):
            seen.check(PATH, "a.py", "1", whole=True)
        seen.saw(PATH, "1", 8, 20, 30)
        seen.check(PATH, "a.py", "1", whole=True)

    def test_parts_of_an_older_content_count_for_nothing(self) -> None:
        seen = Seen()
        seen.saw(PATH, "1", 1, 10, 20)
        seen.saw(PATH, "2", 11, 20, 20)
        with pytest.raises(ToolProblem, match="Lines 1-10"):
            seen.check(PATH, "a.py", "2", whole=True)

    def test_a_change_of_its_own_is_known(self) -> None:
        seen = Seen()
        seen.saw(PATH, "1", 1, 10, 10)
        seen.changed(PATH, "2", 12, is_known=False)
        seen.check(PATH, "a.py", "2", whole=True)

    def test_a_copy_of_the_folder_is_known_as_far_as_the_folder_is(self) -> None:
        seen, here = Seen(), Path("/copies/1/a.py")
        seen.saw(PATH, "1", 1, 5, 10)
        seen.saw(Path("/elsewhere/b.py"), "1", 1, 1, 1)
        moved = seen.moved(PATH.parent, here.parent)
        moved.check(here, "a.py", "1")
        for path in (PATH, here.with_name("b.py"), Path("/elsewhere/b.py")):
            with pytest.raises(ToolProblem, match="has not been read"):
                moved.check(path, path.name, "1")
        # From now on each knows for itself.
        moved.saw(here, "1", 6, 10, 10)
        moved.check(here, "a.py", "1", whole=True)
        with pytest.raises(ToolProblem, match="Lines 6-10"):
            seen.check(PATH, "a.py", "1", whole=True)

    def test_what_it_did_not_know_it_does_not_know_afterwards(self) -> None:
        seen = Seen()
        seen.saw(PATH, "1", 1, 5, 10)
        seen.changed(PATH, "2", 12, is_known=False)
        seen.check(PATH, "a.py", "2")
        with pytest.raises(ToolProblem, match="would be lost"):
            seen.check(PATH, "a.py", "2", whole=True)

    def test_forgotten(self) -> None:
        seen = Seen()
        seen.saw(PATH, "1", 1, 10, 10)
        seen.forget()
        with pytest.raises(ToolProblem, match="has not been read"):
            seen.check(PATH, "a.py", "1")


class TestPlaceholders:
    @pytest.mark.parametrize(
        "line",
        [
            "# ... rest of code ...",
            "    // ... existing code ...",
            "/* rest of the file unchanged */",
            "... (rest of the methods)",
            "<!-- ... remaining content ... -->",
            "# rest of the implementation",
            "[... unchanged ...]",
            "// Rest of the code remains the same",
            "{/* ... existing props ... */}",
            "-- … other fields as before",
            "# (... existing imports ...)",
            "// existing code...",
        ],
    )
    def test_found(self, line: str) -> None:
        assert placeholder_in(f"a = 1\n{line}\nb = 2\n") == line.strip()
        assert placeholder_in(f"a = 1\n{line}\n", known=f"x\n  {line}\n") is None

    @pytest.mark.parametrize(
        "line",
        [
            "...",
            "def f(self) -> int: ...",
            "# existing users keep their keys",
            "x = [...existing, y]",
            "  ...existing,",
            "  ...existingState,",
            "print('... remaining')",
            "# Wait for remaining tasks...",
            "# The rest of the arguments are passed on.",
            "// previous value ...",
            "return rest of",
            "# ... and so on",
        ],
    )
    def test_not_found(self, line: str) -> None:
        assert placeholder_in(line) is None


class TestSyntax:
    @pytest.mark.parametrize(
        ("name", "text", "error"),
        [
            ("a.py", "x = (\n", "line 1: '(' was never closed"),
            ("a.py", "def f():\nreturn 1\n", "line 2: expected an indented block"),
            ("a.pyi", "x: int = ...\n", ""),
            ("a.json", '{"a": 1,}', "line 1: "),
            ("a.toml", "[a]\nb = \n", "line 2"),
            ("a.txt", "x = (", ""),
            ("a.py", "x = '\\d'\n", ""),
            ("a.py", "(" * 5_000, "too many nested parentheses"),
            ("a.json", "[" * 100_000, "recursion"),
        ],
    )
    def test_what_is_wrong_is_said(self, name: str, text: str, error: str) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            said = syntax_error(PurePath(name), text)
        assert (error in said) if error else not said


@pytest.fixture
def ruff(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the ruff of this environment on the path."""
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    if shutil.which("ruff") is None:
        pytest.skip("needs ruff")


@pytest.mark.usefixtures("ruff")
class TestLinter:
    @pytest.mark.parametrize("name", ["pyproject.toml", "ruff.toml", ""])
    def test_only_what_is_new_and_only_where_it_is_configured(
        self, tmp_path: Path, name: str
    ) -> None:
        if name:
            (tmp_path / name).write_text(
                '[tool.ruff.lint]\nselect = ["F"]\n'
                if name == "pyproject.toml"
                else '[lint]\nselect = ["F"]\n'
            )
        path = tmp_path / "src" / "a.py"
        path.parent.mkdir()
        path.write_text("import os\n")
        linter = Linter(path, tmp_path)
        linter.look(Stop())
        path.write_text("\nimport os\nprint(nowhere)\n")
        found = linter.new(Stop())
        assert found == (["line 3: F821 Undefined name `nowhere`"] if name else [])

    def test_a_project_does_not_bring_its_own(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        own = tmp_path / "project" / ".venv" / "bin" / "ruff"
        own.parent.mkdir(parents=True)
        own.write_text(f"#!/bin/sh\ntouch '{tmp_path}/was-run'\n")
        own.chmod(0o755)
        (tmp_path / "project" / "ruff.toml").touch()
        path = tmp_path / "project" / "a.py"
        path.write_text("import os\n")
        monkeypatch.setenv("PATH", str(own.parent), prepend=":")
        Linter(path, tmp_path / "project").look(Stop())
        assert not (tmp_path / "was-run").exists()

    def test_nothing_is_left_in_the_project(self, tmp_path: Path) -> None:
        (tmp_path / "ruff.toml").touch()
        (tmp_path / "a.py").write_text("import os\n")
        Linter(tmp_path / "a.py", tmp_path).look(Stop())
        assert sorted(path.name for path in tmp_path.iterdir()) == ["a.py", "ruff.toml"]
