"""gemma-local as processes that need not import it first.

Python takes a third of a second to import what an answer takes, and tests run hundreds of them: a
server that has imported it, and done nothing with it, forks a process for each. That has its own
arguments, environment, folder and pipes, ends as any other does, and starts the engine as ever.
"""

from __future__ import annotations

import locale
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Final

LOADED: Final = ("tests.app.forking", "gemma_local.app.cli", "gemma_local.app.one_shot")
"""What the server imports: nothing that screens, hubs or llama.cpp need."""
_READ_AT_THE_START: Final = ("PYTHON", "LANG", "LC_")
"""Beginnings of variables that Python reads before anything is imported."""

IS_POSSIBLE: Final = "forkserver" in multiprocessing.get_all_start_methods()


def is_enough(environment: Mapping[str, str]) -> bool:
    """Whether a forked process is like one that would be started with this environment."""
    names = {*environment, *os.environ}
    changed = [name for name in names if environment.get(name) != os.environ.get(name)]
    return IS_POSSIBLE and not any(name.startswith(_READ_AT_THE_START) for name in changed)


def run(
    words: Sequence[str], environment: Mapping[str, str], stdin: bytes, timeout: float
) -> subprocess.CompletedProcess[bytes]:
    """gemma-local with the arguments ``words``, run to the end.

    Raises subprocess.TimeoutExpired, as `subprocess.run` does.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(LOADED))
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "stdout"), Path(folder, "stderr")
        reads, writes = Pipe(duplex=False)
        given = (list(words), dict(environment), str(Path.cwd()), reads, str(out), str(err))
        process = context.Process(target=_be, args=given)
        process.start()
        reads.close()
        threading.Thread(target=_write, args=(writes, stdin), daemon=True).start()
        process.join(timeout)
        if process.exitcode is None:
            process.kill()
            process.join()
            raise subprocess.TimeoutExpired(list(words), timeout)
        return subprocess.CompletedProcess(
            list(words), process.exitcode, out.read_bytes(), err.read_bytes()
        )


def _write(writes: Connection, stdin: bytes) -> None:
    with os.fdopen(os.dup(writes.fileno()), "wb") as pipe:
        writes.close()
        try:
            pipe.write(stdin)
            pipe.flush()
        except BrokenPipeError:
            # It ended without having read all.
            pass


def _be(
    words: list[str],
    environment: dict[str, str],
    folder: str,
    reads: Connection,
    out: str,
    err: str,
) -> None:
    """Be gemma-local, from here to the end of this process."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(reads.fileno(), 0)
    reads.close()
    for fd, path in ((1, out), (2, err)):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(file, fd)
        os.close(file)
    # As Python opens them as it starts.
    encoding = locale.getpreferredencoding(do_setlocale=False)
    sys.stdin = os.fdopen(0, "r", encoding=encoding, closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding=encoding, closefd=False)
    sys.stderr = os.fdopen(2, "w", encoding=encoding, errors="backslashreplace", closefd=False)
    from gemma_local.app import cli

    sys.argv = [str(cli.__file__), *words]
    sys.exit(cli.main())
