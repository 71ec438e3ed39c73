"""``read``, ``search``, ``list`` and ``todo``."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gemma_local.app.agent.budget import Budget
from gemma_local.app.agent.files.searcher import unbraced
from gemma_local.app.agent.files.workspace import Workspace
from gemma_local.app.agent.tool import Result, Tool, ToolProblem
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.app.agent.tools.read import Read
from gemma_local.app.agent.tools.todo import TodoList
from gemma_local.app.stop import Stop
from gemma_local.models.message import Value
from gemma_local.models.prompt import Control, Text
from gemma_local.models.tool_call import read_calls
from gemma_local.models.tool_declaration import declaration_pieces

Call = Callable[..., Result]
posix = pytest.mark.skipif(os.name == "nt", reason="links and special files of POSIX")


class TestRead:
    def test_numbered(self, call: Call) -> None:
        result = call("read", path="src/app.py")
        assert result.text.startswith("1|import os\n2|\n3|\n4|def main():\n")
        assert result.text.endswith("7|    return x + y")
        assert result.summary == "7 lines"

    def test_a_part(self, call: Call) -> None:
        result = call("read", path="src/app.py", offset=4, limit=2)
        assert result.text == ("4|def main():\n5|    x = 1\n[lines 4-5 of 7; go on with offset=6]")

    def test_the_whole_of_a_long_file_in_parts(self, call: Call, root: Path) -> None:
        lines = [f"value_{i} = {i} * 'abcdefghijklmnop'" for i in range(1_000)]
        (root / "long.py").write_text("\n".join(lines) + "\n")
        found, offset = [], 1
        while True:
            result = call("read", path="long.py", offset=offset)
            assert len(result.text) <= Budget(8_192).result_characters
            *shown, note = result.text.split("\n")
            if "go on with" not in note:
                shown.append(note)
            found += [line.partition("|")[2] for line in shown if "|" in line]
            if "go on with" not in note:
                break
            offset = int(note.rpartition("offset=")[2].rstrip("]"))
        assert found == lines
        call("write", path="long.py", content="x = 1\n")

    def test_a_huge_line_is_cut_and_not_known(self, call: Call, root: Path) -> None:
        (root / "data.txt").write_text("a\n" + "x" * 119_000 + "\nb\n")
        result = call("read", path="data.txt")
        assert "[... 119,000 characters]" in result.text
        assert len(result.text) <= Budget(8_192).result_characters
        with pytest.raises(ToolProblem, match="Lines 2-2"):
            call("write", path="data.txt", content="new\n")
        call("edit", path="data.txt", old="a", new="A")

    def test_in_a_small_window(self, root: Path) -> None:
        (root / "long.txt").write_text("x" * 50_000)
        result = (
            Read(Kit(Workspace([root]), Budget(1_024)))
            .step({"path": "long.txt"})
            .carry_out(Stop(), lambda text: None)
        )
        assert len(result.text) <= 400

    @pytest.mark.parametrize(
        ("name", "data", "text"),
        [
            ("empty.txt", b"", "is empty"),
            ("latin.txt", b"caf\xe9\n", "it is not UTF-8: read as Latin-1"),
            ("dos.txt", b"a\r\nb\r\n", "its lines end in CRLF"),
            ("short.txt", b"a\nb\n", "has only 2 lines"),
        ],
    )
    def test_what_is_unusual_is_said(
        self, call: Call, root: Path, name: str, data: bytes, text: str
    ) -> None:
        (root / name).write_bytes(data)
        offset = 9 if "only" in text else 1
        assert text in call("read", path=name, offset=offset).text

    @pytest.mark.parametrize(
        ("name", "data", "problem"),
        [
            ("a.png", b"\x89PNG", "is an image and cannot be read as text"),
            ("a.dat", b"\0\1\2", "is binary"),
        ],
    )
    def test_what_is_no_text(
        self, call: Call, root: Path, name: str, data: bytes, problem: str
    ) -> None:
        (root / name).write_bytes(data)
        with pytest.raises(ToolProblem, match=problem):
            call("read", path=name)

    @posix
    def test_a_pipe(self, call: Call, root: Path) -> None:
        os.mkfifo(root / "pipe")
        with pytest.raises(ToolProblem, match="no ordinary file"):
            call("read", path="pipe")

    def test_a_large_file(self, call: Call, root: Path) -> None:
        with (root / "large.log").open("wb") as file:
            file.truncate(20_000_000)
        with pytest.raises(ToolProblem, match="20 MB"):
            call("read", path="large.log")

    def test_a_folder_is_listed(self, call: Call) -> None:
        assert "app.py" in call("read", path="src").text

    @pytest.mark.parametrize(
        ("path", "why", "rule"),
        [
            ("src/app.py", "", ""),
            ("../x/y", "outside the workspace", "read: {above}/x/**"),
            (".env", "may hold secrets", ""),
            ("../.env", "outside the workspace, may hold secrets", ""),
        ],
    )
    def test_who_is_asked(
        self, tools: dict[str, Tool], root: Path, path: str, why: str, rule: str
    ) -> None:
        effect = tools["read"].step({"path": path}).effect
        assert (effect.kind, effect.why) == ("read", why)
        assert effect.rule == rule.format(above=root.parent.as_posix())


@pytest.fixture(params=["ripgrep", "own"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    """With ripgrep on the path, and without it."""
    if request.param == "ripgrep":
        if shutil.which("rg") is None:
            pytest.skip("needs ripgrep")
    else:
        git = shutil.which("git")
        (tmp_path / "programs").mkdir()
        if git is not None and os.name != "nt":
            (tmp_path / "programs" / "git").symlink_to(git)
        monkeypatch.setenv("PATH", str(tmp_path / "programs"))
        assert shutil.which("rg") is None
    return str(request.param)


@pytest.fixture
def tree(root: Path) -> Path:
    """Files of many kinds."""
    files = {
        ".gitignore": b"build/\n*.log\n",
        ".github/ci.yml": b"run: needle\n",
        "a/needle.txt": b"first\nNeedle here\n",
        "a.txt": b"needle\r\nneedle again\r\n",
        "b.py": "caf\xe9 needle\n".encode("latin-1"),
        "build/out.txt": b"needle\n",
        "deep/er/x.ts": b"call(needle)\n",
        "image.bin": b"needle\0needle\n",
        "trace.log": b"needle\n",
        "node_modules/x/y.js": b"needle\n",
        ".env": b"KEY=needle\n",
        "long.txt": b"x" * 3_000 + b" needle " + b"y" * 3_000 + b"\n",
    }
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)
    return root


@pytest.mark.usefixtures("engine", "tree")
class TestSearch:
    def test_every_hit_in_order(self, call: Call) -> None:
        result = call("search", pattern="needle")
        *hits, note = result.text.split("\n")
        assert hits[:-1] == [
            ".github/ci.yml:1: run: needle",
            "a/needle.txt:2: Needle here",
            "a.txt:1: needle",
            "a.txt:2: needle again",
            "b.py:1: caf\xe9 needle",
            "deep/er/x.ts:1: call(needle)",
        ]
        assert hits[-1].startswith("long.txt:1: ...xxx") and hits[-1].endswith("yyy...")
        assert " needle " in hits[-1] and len(hits[-1]) < 530
        assert note == "[7 matches in 6 files; files that may hold secrets were left out]"

    def test_upper_case_is_meant(self, call: Call) -> None:
        assert call("search", pattern="Needle").summary == "1 match in 1 file"
        assert call("search", pattern=r"\Sere").summary == "1 match in 1 file"

    @pytest.mark.parametrize(
        ("arguments", "files"),
        [
            ({"glob": "*.txt"}, {"a/needle.txt", "a.txt", "long.txt"}),
            ({"glob": "*.{py,ts}"}, {"b.py", "deep/er/x.ts"}),
            ({"glob": "deep/**"}, {"deep/er/x.ts"}),
            ({"glob": "!*.txt"}, {".github/ci.yml", "b.py", "deep/er/x.ts"}),
            ({"path": "deep"}, {"deep/er/x.ts"}),
            ({"path": "a.txt"}, {"a.txt"}),
            ({"path": "trace.log"}, {"trace.log"}),
            ({"path": "build"}, {"build/out.txt"}),
        ],
    )
    def test_where(self, call: Call, arguments: dict[str, str], files: set[str]) -> None:
        text = call("search", pattern="needle", **arguments).text
        hits = [line for line in text.split("\n") if not line.startswith("[")]
        assert {line.partition(":")[0] for line in hits} == files

    def test_expressions(self, call: Call) -> None:
        assert call("search", pattern=r"^needle$").text.startswith("a.txt:1: needle\n")
        # What ripgrep cannot do.
        assert call("search", pattern=r"(?<=call\()needle").summary == "1 match in 1 file"

    def test_what_is_no_expression_is_looked_for_as_it_stands(self, call: Call) -> None:
        text = call("search", pattern="call(need").text
        assert text.startswith("deep/er/x.ts:1: call(needle)\n")
        assert "no regular expression" in text

    def test_what_matches_only_as_it_stands(self, call: Call, root: Path) -> None:
        (root / "c.txt").write_text("f(x)[0]\n")
        text = call("search", pattern="f(x)[0]").text
        assert "c.txt:1: f(x)[0]" in text and "as it stands it does" in text

    def test_nothing(self, call: Call) -> None:
        result = call("search", pattern="haystack", glob="*.txt")
        assert result.ok and result.summary == "no match"
        assert result.text.startswith('No match for "haystack" in *.txt.')

    def test_too_many(self, call: Call, root: Path) -> None:
        (root / "many.txt").write_text("pin\n" * 500)
        result = call("search", pattern="pin")
        assert len(result.text.split("\n")) == Budget(8_192).hits + 1
        assert "500 matches in 1 file, the first 20 shown" in result.text

    def test_secrets_that_were_allowed(self, call: Call, tools: dict[str, Tool]) -> None:
        effect = tools["search"].step({"pattern": "needle", "path": ".env"}).effect
        assert effect.why == "may hold secrets"
        assert call("search", pattern="needle", path=".env").text.startswith(".env:1: KEY=needle")

    @pytest.mark.parametrize(
        ("arguments", "problem"),
        [
            ({"pattern": ""}, "is empty"),
            ({"pattern": "a\nb"}, "one line at a time"),
            ({"pattern": "a", "path": "nowhere"}, "There is no nowhere"),
        ],
    )
    def test_problems(self, call: Call, arguments: dict[str, str], problem: str) -> None:
        with pytest.raises(ToolProblem, match=problem):
            call("search", **arguments)

    def test_stopped(self, tools: dict[str, Tool]) -> None:
        stop = Stop()
        stop.ask()
        result = tools["search"].step({"pattern": "needle"}).carry_out(stop, lambda text: None)
        assert "ended early" in result.text

    def test_a_module_in_the_workspace_is_not_run(self, call: Call, root: Path) -> None:
        (root / "gemma_local").mkdir()
        for name in ("re.py", "json.py", "gemma_local/__init__.py"):
            (root / name).write_text("raise SystemExit(7)\n")
        assert call("search", pattern="haystack").summary == "no match"
        assert call("search", pattern="SystemExit").summary == "3 matches in 3 files"


@pytest.mark.usefixtures("engine")
def test_an_expression_that_never_ends(
    tools: dict[str, Tool], root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gemma_local.app.agent.files.hits.SECONDS", 1.0)
    (root / "trap.txt").write_text("a" * 60 + "!\n")
    step = tools["search"].step({"pattern": r"(?=a)(a+)+$"})
    assert "ended early" in step.carry_out(Stop(), lambda text: None).text


@pytest.mark.parametrize(
    ("glob", "found"),
    [
        ("*.py", ("*.py",)),
        ("*.{ts,tsx}", ("*.ts", "*.tsx")),
        ("{a,b}/{c,d}", ("a/c", "a/d", "b/c", "b/d")),
        ("{a", ("{a",)),
    ],
)
def test_choices_in_braces(glob: str, found: tuple[str, ...]) -> None:
    assert unbraced(glob) == found


def test_choices_without_end() -> None:
    assert len(unbraced("{a,b}" * 40)) == 100


@posix
def test_a_program_of_the_workspace_is_not_run(
    call: Call, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "rg").write_text("#!/bin/sh\ntouch ran\n")
    (root / "rg").chmod(0o755)
    monkeypatch.chdir(root)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    call("search", pattern="main")
    assert not (root / "ran").exists()


class TestList:
    @pytest.mark.usefixtures("tree")
    def test_two_levels_with_sizes(self, call: Call) -> None:
        text = call("list").text
        assert text.startswith("./ (")
        for line in ("deep/", "  er/ (1 file)", "  app.py  61 B", "long.txt  6.0 kB"):
            assert line in text.split("\n")
        assert "build/ (empty or ignored)" in text.split("\n")
        assert "trace.log" not in text

    def test_long_folders_leave_room(self, call: Call, root: Path) -> None:
        for i in range(300):
            (root / f"f{i:03}").touch()
        (root / "z").mkdir()
        (root / "z" / "last.txt").touch()
        lines = call("list").text.split("\n")
        assert len(lines) <= Budget(8_192).entries + 2
        assert "  last.txt  0 B" in lines and "... 260 more files" in lines

    def test_a_folder_that_holds_everything(
        self, call: Call, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HOME", str(root.parent))
        monkeypatch.setenv("USERPROFILE", str(root.parent))
        (root.parent / "notes.txt").touch()
        lines = call("list", path="..").text.split("\n")
        assert lines[1:] == ["notes.txt", "project/"]

    def test_problems(self, call: Call, root: Path) -> None:
        (root / "none").mkdir()
        assert call("list", path="none").text == "none/ is empty."
        with pytest.raises(ToolProblem, match=r"is a file\. Use read"):
            call("list", path="src/app.py")
        with pytest.raises(ToolProblem, match="There is no folder nowhere"):
            call("list", path="nowhere")


class TestTodo:
    def test_the_whole_list_each_time(self, call: Call, todos: TodoList) -> None:
        items: list[Value] = ["[x] one", "- [~] two", "[ ] three", "4. four", "  "]
        result = call("todo", items=items)
        assert str(todos) == "[x] one\n[~] two\n[ ] three\n[ ] four"
        assert result.text == "1 of 4 done. Now: two"
        call("todo", items="[X] one\n[x] two")
        assert str(todos) == "[x] one\n[x] two"
        assert call("todo", items=[]).summary == "empty"

    def test_problems(self, call: Call) -> None:
        with pytest.raises(ToolProblem, match="list of texts"):
            call("todo", items=[1])
        with pytest.raises(ToolProblem, match="keep it to 50"):
            call("todo", items=["x"] * 51)


class TestDeclarations:
    def test_they_stay_short(self, tools: dict[str, Tool]) -> None:
        pieces = [p for tool in tools.values() for p in declaration_pieces(tool.declaration)]
        # With Gemma 4's vocabulary 2,203 characters of them are 532 tokens.
        written = "".join(
            piece.token if isinstance(piece, Control) else piece.text
            for piece in pieces
            if isinstance(piece, Control | Text)
        )
        assert len(written) < 2_400

    @pytest.mark.parametrize(
        ("name", "written", "fitted"),
        [
            ("read", {"filePath": "a", "offset": "3"}, {"path": "a", "offset": 3}),
            ("read", {"file": "a", "max_lines": 5}, {"path": "a", "limit": 5}),
            (
                "edit",
                {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": "true"},
                {"path": "a", "old": "x", "new": "y", "all": True},
            ),
            ("write", {"filename": "a", "text": "x"}, {"path": "a", "content": "x"}),
            ("search", {"query": "x", "include": "*.py"}, {"pattern": "x", "glob": "*.py"}),
            ("todo", {"todos": ["x", "y"]}, {"items": ["x", "y"]}),
        ],
    )
    def test_other_names_are_understood(
        self, tools: dict[str, Tool], name: str, written: dict[str, Value], fitted: dict[str, Value]
    ) -> None:
        text = f"call:{name}{{{','.join(f'{k}:{json.dumps(v)}' for k, v in written.items())}}}"
        declared = [tool.declaration for tool in tools.values()]
        call = read_calls([text], declared, ended=True)[0]
        assert (call.problem, call.arguments) == ("", fitted)
