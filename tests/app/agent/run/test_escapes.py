"""Ways out of a sandbox, all tried for real."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.app.agent.run.confined import (
    WAYS,
    Confined,
    confined,
    every_way,
    is_here,
)
from tests.app.agent.run.escapes import ESCAPES, GAPS

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses bash")

ANY = next((name for name, offer in WAYS.items() if is_here(offer)), "")
needs_any = pytest.mark.skipif(not ANY, reason="this machine offers no sandbox")


@contextmanager
def somebody_else() -> Iterator[subprocess.Popen[bytes]]:
    """A process of the same person, with a secret in its environment."""
    environment = os.environ | {"HIDDEN_TOKEN": "SECRET"}
    with subprocess.Popen(["sleep", "300"], env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def servers(home: Path) -> Iterator[tuple[int, list[str]]]:
    """Servers of all kinds, and a list of which were reached; the number is that of the port."""
    reached: list[str] = []
    tcp = socket.create_server(("127.0.0.1", 0))
    port = tcp.getsockname()[1]
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", port))
    abstract, service, elsewhere = (socket.socket(socket.AF_UNIX) for _ in range(3))
    abstract.bind(f"\0gemma-local-{port}")
    service.bind(str(home / ".ssh" / "agent"))
    elsewhere.bind(str(home.parent / "agent"))
    for each in (abstract, service, elsewhere):
        each.listen()
    everyone = {"tcp": tcp, "udp": udp, "abstract": abstract}
    everyone |= {"service": service, "service elsewhere": elsewhere}
    for each in everyone.values():
        each.setblocking(False)
    try:
        yield port, reached
        for name, each in everyone.items():
            try:
                each.recv(1) if name == "udp" else each.accept()
                reached.append(name)
            except BlockingIOError:
                pass
    finally:
        for each in everyone.values():
            each.close()


@contextmanager
def terminal() -> Iterator[str]:
    """The name of a terminal in which the person could be."""
    ours, theirs = os.openpty()
    try:
        yield os.ttyname(theirs)
    finally:
        os.close(ours)
        os.close(theirs)


@every_way
def test_no_way_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    with confined(tmp_path, monkeypatch, way) as box, somebody_else() as other:
        subprocess.run(["git", "init", "-q", str(box.root)], check=True)
        with servers(box.home) as (port, reached), terminal() as name:
            given = {"OTHER": str(other.pid), "PORT": str(port), "TERMINAL": name}
            given |= {"LOOPBACK": "" if way == "Landlock alone" else "its own"}
            is_open = tried(box, given)
            assert other.poll() is None
        allowed = GAPS if way == "Landlock alone" else frozenset()
        assert is_open <= allowed
        assert set(reached) <= {"service", "service elsewhere"} & allowed
        assert (box.outside / "file").read_text() == "theirs\n"
        assert list(box.outside.iterdir()) == [box.outside / "file"]
        assert sorted(each.name for each in box.home.iterdir()) == [".netrc", ".ssh", "notes"]


def test_outside_of_a_sandbox_most_ways_are_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else those that are tried would prove nothing."""
    names = {"redirection", "symlink", "rename out", "mode", "key", "TCP", "UDP", "abstract socket"}
    names |= {"service", "git hook", "git settings", "environment of another", "signal", "delete"}
    names |= {"service elsewhere", "terminal", "git settings of a copy"}
    with confined(tmp_path, monkeypatch, "none") as box, somebody_else() as other:
        subprocess.run(["git", "init", "-q", str(box.root)], check=True)
        with servers(box.home) as (port, reached), terminal() as name:
            given = {"OTHER": str(other.pid), "PORT": str(port), "TERMINAL": name}
            assert tried(box, given, names) == names
        assert set(reached) == {"tcp", "udp", "abstract", "service", "service elsewhere"}
        assert other.wait() == -9


def tried(box: Confined, given: dict[str, str], names: Collection[str] = ()) -> set[str]:
    """The escapes that worked."""
    lines = []
    for name, text in ESCAPES.items():
        if not names or name in names:
            # Each in a folder of its own, but git's are about the workspace.
            place = "." if name.startswith("git") else "$(mktemp -d -p .)"
            text = text.replace("../outside", "../../outside")
            lines.append(f"echo; echo {shlex.quote('@' + name)}; (cd {place} && {{ {text}; }})")
    done = box.run("exec 2>/dev/null\n" + "\n".join(lines), environment=given, timeout=60)
    assert done.status in (0, 1), done
    sections = done.output.split("\n@")[1:]
    assert len(sections) == len(lines), done.output
    return {part.split("\n")[0] for part in sections if "DONE" in part.split("\n")}
