"""What the model is told, how much of it, and that it stays the same to the byte."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gemma_local.app.agent.budget import Budget
from gemma_local.app.agent.files.workspace import Workspace
from gemma_local.app.agent.instructions import NestedInstructions, example_calls, instructions
from gemma_local.app.agent.terms import Terms
from gemma_local.app.agent.workbench import Workbench, why_without_tools
from gemma_local.models.chat_format import render_history
from gemma_local.models.message import Message
from gemma_local.models.prompt import Text
from gemma_local.models.tool_call import read_calls
from tests.app.agent.working import repository, working
from tests.ggufs import Steps, build, call

CHARACTERS_PER_TOKEN = 3.3
"""Gemma 4 reads these texts at 3.9 and more."""


def words(text: str) -> int:
    return len(text.split())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return repository(tmp_path / "project", {"app.py": "a = 1\n"})


def bench(root: Path, window: int, *, is_large: bool = False) -> Workbench:
    return Workbench.open(root, window, Terms(), words, is_large=is_large)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(("window", "most"), [(8_192, 1_200), (32_768, 2_000), (131_072, 3_000)])
@pytest.mark.parametrize("is_large", [False, True])
def test_system_and_tools_keep_to_their_budget(
    root: Path, window: int, most: int, is_large: bool
) -> None:
    made = bench(root, window, is_large=is_large)
    system = Message("system", made.instructions.text, calls=made.examples)
    rendering = render_history([system], tools=[tool.declaration for tool in made.tools])
    tokens = sum(
        len(piece.text) / CHARACTERS_PER_TOKEN if isinstance(piece, Text) else 1
        for piece in rendering.prompt
    )
    assert tokens <= most
    made.close()


@pytest.mark.usefixtures("home")
def test_every_tool_has_an_example_that_fits_its_schema(root: Path) -> None:
    made = bench(root, 8_192)
    tools = [tool.declaration for tool in made.tools]
    assert [example.name for example in made.examples] == [tool.name for tool in tools]
    rendering = render_history([Message("system", "x", calls=made.examples)], tools=tools)
    [section] = [section for section in rendering.sections if section.kind == "system"]
    text = "".join(piece.text if isinstance(piece, Text) else '"' for piece in section.prompt)
    assert text.count('"call:') == len(tools)
    for example in made.examples:
        written = f"call:{example.name}" + repr(dict(example.arguments)).replace("'", '"')
        [parsed] = read_calls([written], tools, ended=True)
        assert parsed.verdict != "rejected"
        assert parsed.arguments == dict(example.arguments)
    assert example_calls(["nothing"]) == ()
    made.close()


@pytest.mark.usefixtures("home")
def test_nothing_that_changes_is_in_it(root: Path) -> None:
    before = bench(root, 32_768)
    subprocess.run(["git", "checkout", "-qb", "other"], cwd=root, check=True)
    (root / "new.py").write_text("b = 1\n", encoding="utf-8")
    after = bench(root, 32_768)
    assert after.instructions == before.instructions
    assert str(root) not in after.instructions.text
    for made in (before, after):
        made.close()


def test_the_project_is_heard(root: Path) -> None:
    workspace = Workspace([root])
    plain = instructions(workspace, Budget(8_192), words)
    assert plain.source == ""
    (root / "GEMINI.md").write_text("Speak like a gem.\n", encoding="utf-8")
    (root / "CLAUDE.md").write_text("Speak like Claude.\n", encoding="utf-8")
    assert instructions(workspace, Budget(8_192), words).source == "CLAUDE.md"
    (root / "AGENTS.md").write_text("Use tabs.\n", encoding="utf-8")
    found = instructions(workspace, Budget(8_192), words)
    assert found.text == f"{plain.text}\n\nWhat this project asks for (AGENTS.md):\nUse tabs."
    assert (found.source, found.remark) == ("AGENTS.md", "")


def test_a_long_one_is_cut_at_a_line_and_that_is_said(root: Path) -> None:
    (root / "AGENTS.md").write_text("".join(f"rule {i} holds\n" for i in range(400)), "utf-8")
    found = instructions(Workspace([root]), Budget(8_192), words)
    own = found.text.partition("(AGENTS.md):\n")[2]
    assert own.splitlines()[-2:] == ["rule 165 holds", "[AGENTS.md goes on: 234 more lines]"]
    assert "first 500 tokens" in found.remark


def test_what_is_no_text_is_left_out(root: Path, tmp_path: Path) -> None:
    (root / "AGENTS.md").write_bytes(b"\0\1\2")
    (tmp_path / "secret").write_text("the combination is 1234", encoding="utf-8")
    (root / "CLAUDE.md").symlink_to(tmp_path / "secret")
    assert instructions(Workspace([root]), Budget(8_192), words).source == ""


def test_folders_further_down_are_heard_once_each(root: Path) -> None:
    for folder, text in (("src", "In src."), ("src/deep", "In deep."), ("docs", "In docs.")):
        (root / folder).mkdir(exist_ok=True)
        (root / folder / "AGENTS.md").write_text(text, encoding="utf-8")
    nested = NestedInstructions(Workspace([root]), Budget(8_192), words)
    assert nested.on_the_way_to(root / "app.py") == {}
    assert nested.on_the_way_to(root / "src/deep/a.py") == {
        "src/AGENTS.md": "In src.",
        "src/deep/AGENTS.md": "In deep.",
    }
    assert nested.on_the_way_to(root / "src/deep/b.py") == {}
    nested.mark_told(["docs/AGENTS.md"])
    assert nested.on_the_way_to(root / "docs") == {}
    assert nested.on_the_way_to(root.parent) == {}


def test_they_come_with_the_first_result_from_there(ggufs: Path, tmp_path: Path) -> None:
    files = {"src/AGENTS.md": "Names are short here.", "src/a.py": "a = 1\n", "src/b.py": "b = 1\n"}
    root = repository(tmp_path / "project", files)
    steps = Steps.of([call("read", path="src/a.py"), call("read", path="src/b.py")], ["Well."])
    with working(build("edge", steps, ggufs / "nested"), root) as work:
        work.do("read")
        first, second = work.results
        assert first.text == (
            "1|a = 1\n\nWhat this folder asks for (src/AGENTS.md):\nNames are short here."
        )
        assert second.text == "1|b = 1"
        assert work.conversation.entries[2].info["instructions"] == ["src/AGENTS.md"]


def test_tools_are_offered_where_there_is_a_project(home: Path, tmp_path: Path) -> None:
    def why(folder: Path, how: str = "auto", window: int = 8_192, knows: bool = True) -> str:
        terms = Terms(tools=how)  # type: ignore[arg-type]
        return why_without_tools(terms, folder, window, supports_tools=knows)

    plain = tmp_path / "plain"
    (plain / "deep").mkdir(parents=True)
    (plain / "deep" / "letter.txt").touch()
    assert "no project" in why(plain) and "git init" in why(plain)
    assert why(plain, "on") == ""
    (plain / "Makefile").touch()
    assert why(plain) == why(plain / "deep") == ""
    assert "off" in why(plain, "off")
    assert "--ctx 8192" in why(plain, window=4_096)
    assert why(plain, "on", window=4_096) == ""
    assert "template" in why(plain, "on", knows=False)
    # Not even when it is asked for.
    (home / "Makefile").touch()
    assert "more than one project" in why(home, "on")
    assert "more than one project" in why(Path("/"), "on")
