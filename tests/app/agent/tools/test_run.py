"""The tool that runs commands: real ones."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TypeAlias

import pytest

from gemma_local.app.agent.budget import Budget
from gemma_local.app.agent.files.workspace import Workspace
from gemma_local.app.agent.run.judgement import RunEffect
from gemma_local.app.agent.run.sandbox import Offer, Sandbox, offered
from gemma_local.app.agent.tool import Result, ToolProblem
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.app.agent.tools.run import MOST_SECONDS, Run
from gemma_local.app.stop import Stop
from gemma_local.models.message import Value

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses bash")
needs_sandbox = pytest.mark.skipif(not offered().is_any, reason="this machine offers no sandbox")

linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is no such signal")

Do: TypeAlias = Callable[..., Result]


@pytest.fixture
def outputs(tmp_path: Path) -> Path:
    return tmp_path / "outputs"


@pytest.fixture
def tool(kit: Kit, root: Path, outputs: Path) -> Iterator[Run]:
    sandbox = Sandbox([root])
    yield Run(kit, sandbox, outputs)
    sandbox.close()


@pytest.fixture
def do(tool: Run) -> Do:
    def run(command: str, **arguments: Value) -> Result:
        step = tool.step({"command": command, **arguments})
        return step.carry_out(Stop(), lambda text: None)

    return run


def test_what_came_out(do: Do) -> None:
    result = do("echo one; echo two >&2")
    assert result.ok
    first, *rest = result.text.split("\n")
    assert first.startswith("exit status 0, ")
    assert rest == ["one", "two"]
    assert result.summary == "exit status 0"


@pytest.mark.parametrize(
    ("command", "how"),
    [
        ("exit 3", "exit status 3, "),
        ("no-such-program", "exit status 127 (there is no such command), "),
        ("kill -9 $$", "ended by SIGKILL; perhaps it took too much memory, "),
        pytest.param("kill -33 $$", "ended by signal 33, ", marks=linux),
        ("bash -c 'kill -9 $$'; exit $?", "exit status 137 (SIGKILL; perhaps it took too much mem"),
        ("true", "exit status 0, "),
    ],
)
def test_how_it_ended(do: Do, command: str, how: str) -> None:
    result = do(command)
    assert result.text.startswith(how)
    assert result.ok == (command == "true")


def test_no_output_is_said(do: Do) -> None:
    assert do("true").text.split("\n")[1] == "(no output)"


def test_output_is_heard_as_it_comes(tool: Run) -> None:
    heard: list[str] = []
    tool.step({"command": "echo one; sleep 0.3; echo two"}).carry_out(Stop(), heard.append)
    assert "".join(heard) == "one\ntwo\n"
    assert len(heard) > 1


def test_endless_output_is_not_all_heard_nor_kept(tool: Run, outputs: Path) -> None:
    heard: list[str] = []
    step = tool.step({"command": "yes | head -c 3000000"})
    result = step.carry_out(Stop(), heard.append)
    assert len("".join(heard)) < 600_000
    assert heard[-1].strip().startswith("[it goes on")
    assert len(result.text) < 4_000
    assert (outputs / "run-0001.txt").stat().st_size == 3_000_000


def test_long_output_is_cut_and_saved(do: Do, kit: Kit, outputs: Path) -> None:
    result = do("seq 1 5000; echo the error >&2; exit 1")
    assert len(result.text) <= kit.budget.result_characters
    assert "\n1\n2\n" in result.text and "the error" in result.text and "left out" in result.text
    (saved,) = outputs.iterdir()
    assert saved.read_text() == "".join(f"{n}\n" for n in range(1, 5001)) + "the error\n"
    assert str(saved) in result.text


def test_what_was_saved_can_be_looked_at_without_asking(tool: Run, do: Do, outputs: Path) -> None:
    do("seq 1 5000")
    effect = tool.step({"command": f"grep -n 4999 {outputs}/run-0001.txt"}).effect
    assert isinstance(effect, RunEffect) and effect.judgement is not None
    assert effect.judgement.only_looks


def test_colours_and_progress_are_taken_out(do: Do, outputs: Path) -> None:
    result = do(r"printf '\033[31mred\033[0m\n'; printf '1%%\r50%%\r100%%\n'")
    assert result.text.split("\n")[1:] == ["red", "100%"]
    assert list(outputs.iterdir()) == []


def test_nobody_answers(do: Do) -> None:
    assert do('read x; echo "<$x>"; cat; git commit; echo $EDITOR').text.count("<>") == 1


def test_a_timeout_says_what_to_do(do: Do) -> None:
    result = do("echo begun; sleep 100", timeout=2)
    assert not result.ok
    assert result.text.startswith("Not finished after 2 s")
    assert f"up to {MOST_SECONDS}" in result.text and "begun" in result.text
    assert result.summary == "not finished after 2 s"


def test_a_stop(tool: Run) -> None:
    stop = Stop()
    step = tool.step({"command": "echo begun; sleep 100"})
    result = step.carry_out(stop, lambda text: threading.Timer(0.1, stop.ask).start())
    assert result.summary == "stopped"
    assert result.text.startswith("The person stopped it.") and "begun" in result.text


@pytest.mark.parametrize("seconds", [100_000, 0, -5])
def test_a_timeout_out_of_bounds_is_brought_into_them(tool: Run, seconds: int) -> None:
    result = tool.step({"command": "echo x", "timeout": seconds}).carry_out(Stop(), lambda _: None)
    assert result.ok


@pytest.mark.parametrize("command", ["", "  ", "a\0b", "x" * 30_000])
def test_what_is_no_command(tool: Run, command: str) -> None:
    with pytest.raises(ToolProblem):
        tool.step({"command": command})


def test_the_folder_is_kept(do: Do, tool: Run, root: Path) -> None:
    assert "[the folder is now src]" in do("cd src").text
    assert str(root / "src") in do("pwd").text
    assert tool.folder == root / "src"
    do("cd .. && exit 3")
    assert tool.folder == root
    do("(cd src)")
    assert tool.folder == root
    do("cd src; kill -9 $$")
    assert tool.folder == root


def test_the_folder_stays_in_the_workspace(do: Do, tool: Run, root: Path) -> None:
    (root / "out").symlink_to(root.parent)
    for command in ("cd /", "cd ..", "cd out", "cd src && rm -rf ../src"):
        do(command)
        assert tool.folder == root
    assert "is not in the workspace" in do("cd /").text


def test_a_folder_that_is_gone(do: Do, tool: Run, root: Path) -> None:
    (root / "gone").mkdir()
    do("cd gone")
    (root / "gone").rmdir()
    assert str(root) in do("pwd").text


@pytest.mark.timeout(30)
@pytest.mark.parametrize("made", ["ln -s $SECRET", "mkfifo", "mkdir"])
def test_where_it_ended_is_not_read_from_anything_else(
    kit: Kit, root: Path, outputs: Path, made: str
) -> None:
    secret = root.parent / "secret"
    secret.write_text("SECRET\n")
    sandbox = Sandbox([root])
    tool = Run(kit, sandbox, outputs)
    command = f"name=$(grep -ao '{sandbox.temporary}/folder[^ ]*' /proc/$$/cmdline | head -1)"
    # The shell that would write the folder down is given up for another.
    command += f'; rm -f "$name"; {made} "$name" && exec echo done'
    for text, expected in (
        (command.replace("$SECRET", str(secret)), "done"),
        ("echo fine", "fine"),
    ):
        result = tool.step({"command": text}).carry_out(Stop(), lambda _: None)
        assert result.ok and expected in result.text, result.text
        assert "SECRET" not in result.text
    sandbox.close()


def test_lines_are_counted_as_the_model_does(do: Do) -> None:
    assert "line 1:" in do("no-such-program").text
    assert "line 2:" in do("true\nno-such-program").text


def test_what_changed_is_said(do: Do) -> None:
    result = do("echo x >new.txt; echo y >>src/app.py")
    assert "[changed: src/app.py; new: new.txt]" in result.text
    assert "[" not in do("ls src").text.split("\n", 1)[1]


def test_what_it_is_known_to_change_can_be_undone(do: Do, kit: Kit, tool: Run, root: Path) -> None:
    before = (root / "src" / "app.py").read_bytes()
    effect = tool.step({"command": "sed -i s/a/b/ src/app.py; echo x > new"}).effect
    assert set(effect.touches) == {root / "new", root / "src" / "app.py"}
    do("echo lost > src/app.py; echo x > new")
    assert kit.checkpoints is not None
    restoration = kit.checkpoints.undo()
    assert restoration is not None
    assert {diff.path for diff in restoration.diffs} == {"src/app.py", "new"}
    assert before != (root / "src" / "app.py").read_bytes()


def test_what_could_not_be_undone_is_not_run(do: Do, root: Path) -> None:
    (root.parent / "checkpoints").touch()
    with pytest.raises(ToolProblem, match=r"Not run: src/app\.py was not changed: .* for undo"):
        do("echo lost > src/app.py; touch new")
    assert "lost" not in (root / "src" / "app.py").read_text() and not (root / "new").exists()


def test_where_nothing_can_be_undone_anyway_it_is_run(root: Path, outputs: Path) -> None:
    with closing(Sandbox([root])) as sandbox:
        tool = Run(Kit(Workspace([root]), Budget(8_192)), sandbox, outputs)
        result = tool.step({"command": "echo x > new"}).carry_out(Stop(), lambda _: None)
    assert result.ok and (root / "new").read_text() == "x\n"


def test_no_secrets_reach_it(kit: Kit, root: Path, outputs: Path) -> None:
    sandbox = Sandbox([root])
    environment = os.environ | {"MY_TOKEN": "SECRET", "PLAIN": "visible"}
    tool = Run(kit, sandbox, outputs, environment=environment)
    result = tool.step({"command": "env"}).carry_out(Stop(), lambda _: None)
    assert "PLAIN=visible" in result.text and "SECRET" not in result.text
    sandbox.close()


@needs_sandbox
def test_it_is_confined_and_says_why_it_failed(do: Do, root: Path) -> None:
    result = do("f=new; cd ..; echo x >$f")
    assert not (root.parent / "new").exists()
    assert "only the workspace and $TMPDIR can be written to" in result.text
    (root / "far.py").write_text("import socket; socket.create_connection(('192.0.2.1', 9), 5)")
    result = do("python3 far.py")
    assert not result.ok
    assert offered().has_namespaces <= ("commands have no network here" in result.text)


@needs_sandbox
def test_what_git_would_run_later_is_moved_aside_and_told(do: Do, root: Path) -> None:
    result = do("git init -q && d=.git/hooks && echo evil >$d/pre-commit")
    assert result.ok
    assert "[git could have run a program by .git/hooks/pre-commit: moved aside" in result.text
    assert result.summary == "exit status 0; moved aside what git could have run"
    assert not (root / ".git" / "hooks" / "pre-commit").exists()
    assert do("git status --short").summary == "exit status 0"


@needs_sandbox
def test_what_was_allowed_is_done(do: Do, tool: Run, root: Path) -> None:
    command = f"echo x >{root.parent}/new"
    effect = tool.step({"command": command}).effect
    assert effect.why.startswith("writes outside the workspace: ")
    assert effect.why.endswith("(without the sandbox)")
    assert effect.rule == ""
    assert do(command).ok
    assert (root.parent / "new").read_text() == "x\n"


def test_without_a_sandbox_it_runs_all_the_same(kit: Kit, root: Path, outputs: Path) -> None:
    sandbox = Sandbox([root], offer=Offer())
    tool = Run(kit, sandbox, outputs)
    effect = tool.step({"command": "echo $TMPDIR"}).effect
    assert isinstance(effect, RunEffect) and effect.judgement is not None
    assert not effect.judgement.is_confined
    result = tool.step({"command": "echo $TMPDIR"}).carry_out(Stop(), lambda _: None)
    assert str(sandbox.temporary) in result.text
    sandbox.close()


def test_what_the_person_sees(tool: Run) -> None:
    effect = tool.step({"command": "pytest -q \\\n  tests"}).effect
    assert (effect.kind, effect.command, effect.rule) == (
        "run",
        "pytest -q \\\n  tests",
        "run: pytest *",
    )
    long = tool.step({"command": "echo " + "x" * 500}).effect
    assert len(long.title) == 100 and len(long.command) > 500
