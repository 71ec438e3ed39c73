"""Processes of gemma-local and of its engine that need not import anything first.

Python takes a third of a second to import what an answer takes, and as long again for the engine,
and tests start hundreds of both. So a server that has imported it, and done nothing with it, forks
a process for each. That has its own arguments, environment, folder and files, is killed and ends as
any other, and its parent is all that it does not have in common with one that was started. Where
the start itself is what matters, tests start them: on terminals, in documents, in `tests/engine`.

Run as a program this file is the server.
"""

from __future__ import annotations

import array
import atexit
import functools
import gc
import importlib
import json
import locale
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final

from gemma_local.engine import client
from gemma_local.engine.environment import engine_environment

APP: Final = ("gemma_local.app.cli", "gemma_local.app.one_shot")
ENGINE: Final = (
    "gemma_local.engine.host",
    "gemma_local.engine.pair",
    "gemma_local.engine.scheduler",
)
"""What a server imports; the first one's ``main`` is what its processes run."""
_READ_AT_THE_START: Final = ("PYTHON", "LANG", "LC_", "LD_", "OMP_", "GOMP_", "GGML_", "OPENBLAS_")
"""Beginnings of variables that are read before anything is run."""
_LARGEST: Final = 1 << 17
_OPEN_FILES: Final = 1 << 12


def is_possible() -> bool:
    """Whether there are such servers."""
    return sys.platform == "linux"


class Forked:
    """A process, as far as it is like `subprocess.Popen`."""

    def __init__(
        self,
        line: socket.socket,
        stdin: BinaryIO | None = None,
        stdout: BinaryIO | None = None,
    ) -> None:
        self.stdin = stdin
        self.stdout = stdout
        self.returncode: int | None = None
        self.pid = int(line.recv(64))
        self._line = line
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """Its exit status, or minus the signal that ended it; None while it runs."""
        with self._lock:
            if self.returncode is None and select.select([self._line], [], [], 0)[0]:
                self.returncode = int(self._line.recv(64))
                self._line.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises subprocess.TimeoutExpired."""
        end = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if end is not None and time.monotonic() > end:
                assert timeout is not None
                raise subprocess.TimeoutExpired("a forked process", timeout)
            time.sleep(0.002)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            # It may have ended by now, as with `subprocess.Popen`.
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Server:
    """The server for some modules, which ends with this process."""

    def __init__(self, modules: Sequence[str], environment: Mapping[str, str]) -> None:
        self._environment = dict(environment)
        self._folder = tempfile.TemporaryDirectory()
        self.address = str(Path(self._folder.name, "server"))
        words = [sys.executable, "-P", __file__, self.address, *modules]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._environment
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()

    def suits(self, environment: Mapping[str, str]) -> bool:
        """Whether a process that it forks is like one that is started with this environment."""
        ours = self._environment
        changed = [
            name for name in {*environment, *ours} if environment.get(name) != ours.get(name)
        ]
        return not any(name.startswith(_READ_AT_THE_START) for name in changed)


@functools.cache
def app_server() -> Server:
    return Server(APP, os.environ)


@functools.cache
def engine_server() -> Server:
    return Server(ENGINE, engine_environment())


def run(
    words: Sequence[str], environment: Mapping[str, str], stdin: bytes, timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """gemma-local with the arguments ``words``, run to the end.

    Raises subprocess.TimeoutExpired, as `subprocess.run` does.
    """
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        reads, writes = os.pipe()
        request = _request(words, environment, engines=engine_server().address)
        files = (reads, out.fileno(), err.fileno())
        process = Forked(_ask(app_server().address, request, files))
        os.close(reads)
        threading.Thread(target=_write, args=(writes, stdin), daemon=True).start()
        try:
            status = process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(list(words), status, out.read(), err.read())


def start_engine(address: str, words: Sequence[str], log: BinaryIO) -> Forked:
    """In the place of ``engine.client.start_process``, by the server with this address."""
    (commands, to_it), (from_it, events) = os.pipe(), os.pipe()
    request = _request(words, engine_environment(), is_leader=True)
    line = _ask(address, request, (commands, events, log.fileno()))
    os.close(commands)
    os.close(events)
    return Forked(line, os.fdopen(to_it, "wb"), os.fdopen(from_it, "rb"))


@contextmanager
def engines_forked() -> Iterator[None]:
    """A block in which this process has its engines forked."""
    start = client.start_process

    def started(words: Sequence[str], log: BinaryIO) -> Any:
        server = engine_server()
        suits = server.suits(engine_environment())
        return start_engine(server.address, words, log) if suits else start(words, log)

    client.start_process = started if is_possible() else start
    try:
        yield
    finally:
        client.start_process = start


def _write(fd: int, text: bytes) -> None:
    # It may end without having read all.
    with os.fdopen(fd, "wb", buffering=0) as pipe, suppress(BrokenPipeError):
        pipe.write(text)


def _request(words: Sequence[str], environment: Mapping[str, str], **more: object) -> bytes:
    whole = {"words": list(words), "environment": dict(environment), "folder": str(Path.cwd())}
    return json.dumps({**whole, **more}).encode()


def _ask(address: str, request: bytes, files: Sequence[int]) -> socket.socket:
    line = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    line.connect(address)
    rights = (socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", files))
    line.sendmsg([request], [rights])
    return line


# ------------------------------------------------------------------------------------- the server


def serve(address: str, modules: Sequence[str]) -> None:
    """Fork a process for each who asks, and tell them its end."""
    first, *_ = [importlib.import_module(module) for module in modules]
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(address)
    listener.listen(64)
    woken, wakes = socket.socketpair()
    for end in (woken, wakes):
        end.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wakes.fileno())
    gc.collect()
    gc.freeze()
    print("ready", flush=True)
    running: dict[int, socket.socket] = {}
    while True:
        ready = select.select([listener.fileno(), woken.fileno(), 0], [], [])[0]
        if 0 in ready:
            # Whoever started it is gone.
            os._exit(0)
        if listener.fileno() in ready:
            line, _ = listener.accept()
            request, files, _, _ = socket.recv_fds(line, _LARGEST, 3)
            if not (pid := os.fork()):
                _be(first.main, json.loads(request), files)
            for file in files:
                os.close(file)
            running[pid] = line
            line.send(str(pid).encode())
        if woken.fileno() in ready:
            woken.recv(4096)
        while running:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                break
            # Perhaps nobody waits for it.
            with running.pop(pid) as line, suppress(OSError):
                line.send(str(os.waitstatus_to_exitcode(status)).encode())


def _be(main: Any, request: dict[str, Any], files: Sequence[int]) -> None:
    """Be what was asked for, from here to the end of this process."""
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if request.get("is_leader"):
        os.setsid()
    for fd, file in enumerate(files):
        os.dup2(file, fd)
    os.closerange(3, _OPEN_FILES)
    os.chdir(request["folder"])
    os.environ.clear()
    os.environ.update(request["environment"])
    # As Python opens them as it starts.
    encoding = locale.getpreferredencoding(do_setlocale=False)
    sys.stdin = os.fdopen(0, "r", encoding=encoding, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding=encoding, closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding=encoding, errors="backslashreplace", closefd=False)
    sys.argv = [main.__module__, *request["words"]]
    if engines := request.get("engines"):
        client.start_process = functools.partial(start_engine, engines)  # type: ignore[assignment]
    status = 1
    try:
        status = int(main() or 0)
    except SystemExit as end:
        status = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - as Python does where nobody catches it
        traceback.print_exc()
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)


if __name__ == "__main__":
    serve(sys.argv[1], sys.argv[2:])
