"""The sandbox keeps what runs in it where it belongs, and lets it work there."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from gemma_local.app import folders
from gemma_local.app.agent.run.confinement import REFUSED
from gemma_local.app.agent.run.git_files import GitFiles
from gemma_local.app.agent.run.sandbox import (
    KEPT_PREFIX,
    Offer,
    Sandbox,
    hidden_paths,
    sockets_of_person,
)
from gemma_local.app.stop import Stop
from tests.app.agent.run.confined import (
    HERE,
    WAYS,
    Confined,
    confined,
    every_way,
    is_here,
    main_ways,
)
from tests.waiting import nap, until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses bash")

ANY = next((name for name, offer in WAYS.items() if is_here(offer)), "")
needs_any = pytest.mark.skipif(not ANY, reason="this machine offers no sandbox")


SURVIVORS = [
    "NAP &",
    "setsid NAP >/dev/null 2>&1 &",
    "nohup NAP >/dev/null 2>&1 & disown",
    "env -i $(command -v setsid) NAP >/dev/null 2>&1 &",
    (
        "python3 -c 'import os\nif not os.fork():\n os.setsid()\n if not os.fork():\n"
        '  os.execlp("env", "env", "-i", *"NAP".split())\n\''
    ),
    "trap '' TERM INT HUP; (trap '' TERM; NAP & wait) &",
]


@pytest.fixture
def box(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Confined]:
    """The best sandbox of this machine."""
    with confined(tmp_path, monkeypatch, ANY) as made:
        yield made


@every_way
def test_nothing_survives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    with confined(tmp_path, monkeypatch, way) as box:
        mark = nap(7101)
        count = f"$(ps -eo args | grep -c '^{mark}$')"
        wait = f"until [ {count} = {len(SURVIVORS)} ]; do sleep 0.1; done; echo all of them"
        assert box.run("\n".join([*SURVIVORS, wait]).replace("NAP", mark)).output == "all of them\n"
        assert _running(mark) == []


@main_ways
@pytest.mark.parametrize("how", ["timeout", "stop", "killed from outside"])
def test_an_end_is_the_end_of_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str, how: str
) -> None:
    mark = nap(7102)
    text = f"trap '' TERM; setsid {mark} >/dev/null 2>&1 & echo begun; {mark}; {mark}"
    with confined(tmp_path, monkeypatch, way) as box:
        stop = Stop()
        if how == "killed from outside":
            # As if gemma-local were killed: the launcher dies with it.
            words = box.sandbox.wrapped(["bash", "-c", text], box.root)
            process = subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True)
            assert process.stdout is not None
            assert process.stdout.readline() == b"begun\n"
            process.kill()
            process.wait()
            process.stdout.close()
            # Without processes of its own those that hide from their parents are left.
            most = 0 if WAYS[way].has_own_processes else 2
            try:
                until(lambda: len(_running(mark)) <= most, every=0.05)
            finally:
                for each in _running(mark):
                    each.kill()
            return
        if how == "stop":
            ended = box.run(text, timeout=60, stop=stop, on_output=lambda _: stop.ask())
            assert ended.output == "begun\n"
        else:
            ended = box.run(text, timeout=1.5)
        assert (ended.timed_out, ended.stopped) == (how == "timeout", how == "stop")
        assert _running(mark) == []


def _running(mark: str) -> list[psutil.Process]:
    return [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if " ".join(process.info["cmdline"] or ()) == mark
        and process.info["status"] != psutil.STATUS_ZOMBIE
    ]


@main_ways
def test_it_ends_as_the_command_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    with confined(tmp_path, monkeypatch, way) as box:
        assert box.run("exit 3").status == 3
        assert box.run("echo out; echo err >&2; cat; pwd").output == f"out\nerr\n{box.root}\n"
        # Bubblewrap tells of signals as a shell does.
        assert box.run("kill -9 $$").status in (-9, 128 + 9)
        assert box.run("kill -SEGV $$").status in (-11, 128 + 11)


@every_way
def test_work_goes_on_as_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    with confined(tmp_path, monkeypatch, way) as box:
        done = box.run(
            "set -e; mkdir -p a/b; echo x >a/f; mv a/f a/b/f; ln a/b/f g; ln -s g h; rm g h\n"
            "cat <<EOF >heredoc\n$(cat a/b/f)\nEOF\n"
            'echo y >"$TMPDIR/t"; mktemp; diff <(echo 1) <(echo 1)\n'
            "echo z >/dev/null 2>/dev/stderr\n"
            "echo piped | tee >(cat >teed) | cat; test -r $HOME/notes && cat $HOME/notes\n"
            "mkfifo p; (echo through >p &) ; cat p; chmod 600 a/b/f; truncate -s 0 a/b/f"
        )
        assert done.status == 0, done.output
        assert "no secret" in done.output and "through" in done.output


@main_ways
@pytest.mark.parametrize(
    ("program", "files", "text", "expected"),
    [
        (
            "git",
            {"a.txt": "a\n"},
            (
                "git init -q && git add . && git -c user.name=n -c user.email=e commit -qm first"
                " && git mv a.txt b.txt && git status --short && git log --format=%s"
            ),
            "first",
        ),
        (
            "gcc",
            {"a.c": '#include <stdio.h>\nint main(void) { puts("compiled"); return 0; }\n'},
            "gcc -o a a.c && ./a",
            "compiled",
        ),
        (
            "make",
            {"Makefile": "all: built\nbuilt:\n\techo made > $@\n"},
            "make -s && cat built",
            "made",
        ),
        (
            "npm",
            {"package.json": '{"scripts": {"test": "node -e \\"console.log(6 * 7)\\""}}'},
            "npm test --silent",
            "42",
        ),
        (
            "cargo",
            {
                "Cargo.toml": '[package]\nname = "one"\nversion = "0.1.0"\nedition = "2021"\n',
                "src/main.rs": 'fn main() { println!("rusty"); }\n',
            },
            "cargo run --quiet --offline",
            "rusty",
        ),
    ],
)
def test_tools_work(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
    program: str,
    files: dict[str, str],
    text: str,
    expected: str,
) -> None:
    if not _works(program):
        pytest.skip(f"needs a {program} that works")
    # With the made-up home it would not find its tools.
    tools = {name: str(Path.home() / f".{name.split('_')[0].lower()}") for name in _RUST}
    with confined(tmp_path, monkeypatch, way) as box:
        for name, content in files.items():
            (box.root / name).parent.mkdir(exist_ok=True)
            (box.root / name).write_text(content)
        done = box.run(text, environment=tools, timeout=100)
        if (
            program == "gcc"
            and way == "Landlock alone"
            and "Cannot create temporary" in done.output
        ):
            pytest.skip("this gcc takes no TMPDIR where it can't be sure that it may write there")
        assert done.status == 0, done.output
        assert expected in done.output


def _works(program: str) -> bool:
    try:
        done = subprocess.run([program, "--version"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


_RUST = ("CARGO_HOME", "RUSTUP_HOME")


@main_ways
def test_tests_can_be_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    with confined(tmp_path, monkeypatch, way) as box:
        (box.root / "test_it.py").write_text(
            "import multiprocessing, socket, subprocess, tempfile\n"
            "def test_files(tmp_path):\n"
            "    (tmp_path / 'f').write_text('x')\n"
            "    assert tempfile.mkdtemp()\n"
            "def test_processes():\n"
            "    with multiprocessing.get_context('fork').Pool(2) as pool:\n"
            "        assert pool.map(abs, [-1, -2]) == [1, 2]\n"
            "    assert subprocess.run(['true']).returncode == 0\n"
        )
        if "namespaces" in way:
            with (box.root / "test_it.py").open("a") as file:
                file.write(
                    "def test_server():\n"
                    "    with socket.create_server(('127.0.0.1', 0)) as server:\n"
                    "        socket.create_connection(server.getsockname()).close()\n"
                )
        done = box.run(
            f"{sys.executable} -m pytest -q -p no:cacheprovider --rootdir=. -c /dev/null"
        )
        assert done.status == 0, done.output


@every_way
def test_the_network_is_there_when_it_is_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    with (
        confined(tmp_path, monkeypatch, way) as box,
        socket.create_server(("127.0.0.1", 0)) as server,
    ):
        text = f"exec 9<>/dev/tcp/127.0.0.1/{server.getsockname()[1]} && echo DONE"
        assert "DONE" not in box.run(text).output
        assert box.run(text, "network").output == "DONE\n"
        assert "DONE" not in box.run(f"{text}; echo x >$OUTSIDE/new && echo DONE").output


@needs_any
def test_consent_opens_what_it_was_given_for(box: Confined) -> None:
    subprocess.run(["git", "init", "-q", str(box.root)], check=True)
    assert box.run("git config a.b c", "git").status == 0
    assert "a.b=c" in box.run("git config --list").output
    assert box.run("echo x >$OUTSIDE/new", "git").status != 0
    assert box.run("echo x >$OUTSIDE/new", "outside").status == 0
    assert (box.outside / "new").read_text() == "x\n"


@needs_any
def test_what_starts_the_command_takes_nothing_from_the_workspace(box: Confined) -> None:
    for name in ("json", "ctypes", "sitecustomize", "gemma_local"):
        (box.root / f"{name}.py").write_text(f"open({str(box.outside / 'new')!r}, 'w')\n")
    there = {"PYTHONPATH": str(box.root), "PYTHONSTARTUP": str(box.root / "json.py")}
    assert box.run("echo fine", environment=there).output == "fine\n"
    assert not (box.outside / "new").exists()


@needs_any
def test_without_its_sandbox_nothing_is_run(box: Confined) -> None:
    shutil.rmtree(box.root)
    (box.root.parent / "elsewhere").mkdir()
    words = box.sandbox.wrapped(["touch", str(box.outside / "new")], box.root)
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert HERE.bubblewrap or done.stderr.startswith(REFUSED)
    assert not (box.outside / "new").exists()


def test_without_any_it_says_so(tmp_path: Path) -> None:
    sandbox = Sandbox([tmp_path], offer=Offer())
    assert not sandbox.is_any
    assert sandbox.wrapped(["ls"], tmp_path) == ["ls"]
    assert sandbox.words().startswith("no sandbox: ")
    assert sandbox.gaps == (sandbox.words().removeprefix("no sandbox: "),)
    sandbox.close()


def test_what_holds_is_said(tmp_path: Path) -> None:
    sandbox = Sandbox([tmp_path], offer=Offer(7, True, True))
    assert sandbox.words() == "sandbox: writes only in the workspace, no network"
    assert sandbox.words(frozenset(["network"])).endswith("with the network")
    assert sandbox.words(frozenset(["outside", "network"])) == "without the sandbox"
    assert sandbox.gaps == ()
    assert len(Sandbox([tmp_path], offer=Offer(2)).gaps) > len(
        Sandbox([tmp_path], offer=Offer(7)).gaps
    )


def test_temporary_files_and_caches_go_with_the_sandbox(tmp_path: Path) -> None:
    sandbox = Sandbox([tmp_path], offer=Offer(7))
    given = sandbox.environment({"PATH": "/bin", "TMPDIR": "/elsewhere"})
    assert given["PATH"] == "/bin"
    for name in ("TMPDIR", "XDG_CACHE_HOME", "npm_config_cache"):
        assert Path(given[name]).is_dir() and Path(given[name]).is_relative_to(sandbox.temporary)
    sandbox.close()
    assert not sandbox.temporary.exists()


def test_a_workspace_among_secrets_can_be_worked_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / ".ssh" / "project"
    (root / ".git" / "hooks").mkdir(parents=True)
    (tmp_path / ".aws").mkdir()
    hidden = hidden_paths([root])
    assert tmp_path / ".aws" in hidden and tmp_path / ".ssh" not in hidden
    assert GitFiles.there([root]).guarded() == [root / ".git" / "hooks"]


@every_way
def test_of_what_commands_put_out_only_ones_own_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    for name in ("own", "other"):
        (folders.checkpoints_path() / name / "outputs").mkdir(parents=True)
        (folders.checkpoints_path() / name / "outputs" / "run-0001.txt").write_text(name)
    with (
        tempfile.TemporaryDirectory(prefix=KEPT_PREFIX) as kept,
        confined(tmp_path / "here", monkeypatch, way) as box,
    ):
        (Path(kept) / "run-0001.txt").write_text("other\n")
        own = folders.checkpoints_path() / "own" / "outputs"
        sandbox = Sandbox([box.root], offer=WAYS[way], shown=[own])
        try:
            done = replace(box, sandbox=sandbox).run(
                f"cat {own}/run-0001.txt {own}/../../other/outputs/run-0001.txt {kept}/*;"
                f" echo x >{own}/new && echo DONE"
            )
        finally:
            sandbox.close()
        assert done.output.startswith("own")
        assert "other\n" not in done.output and "DONE" not in done.output
        assert not (own / "new").exists()


def test_what_says_where_gits_settings_are_stays(tmp_path: Path) -> None:
    main, worktree, plain = (tmp_path / name for name in ("main", "worktree", "plain"))
    (main / ".git").mkdir(parents=True)
    worktree.mkdir()
    (worktree / ".git").write_text("gitdir: ../main/.git/worktrees/worktree\n")
    plain.mkdir()
    found = GitFiles.there([main, worktree, plain])
    assert found.pinned() == [main / ".git"]
    assert found.guarded() == [worktree / ".git"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lists them")
def test_sockets_of_other_programs_are_found(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one, socket.socket(socket.AF_UNIX) as other:
        for each, name in ((one, "a b"), (other, "below/c")):
            (tmp_path / name).parent.mkdir(exist_ok=True)
            each.bind(str(tmp_path / name))
            each.listen()
        found = sockets_of_person(but_below=[tmp_path / "below"])
        assert tmp_path / "a b" in found
        assert tmp_path / "below" / "c" not in found
        (tmp_path / "a b").unlink()
        assert tmp_path / "a b" not in sockets_of_person()
