"""A run of pip: its output as it comes, and a sign of life while a build says nothing."""

from __future__ import annotations

import queue
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

TAIL_LINES = 20
HEARTBEAT_SECONDS = 60.0

NETWORK = (
    "pip could not reach its package index: check the network and the proxy settings, then run "
    "the same command again."
)
CERTIFICATE = (
    "Somebody on the way (a company's proxy, mostly) shows a certificate that is not trusted here: "
    "name the file of your network's certificates in PIP_CERT, then run the same command again."
)
NO_RELEASE = (
    "pip found no fitting release: check the index that it is set up with (`pip config list`) and "
    "this machine's Python version."
)
DISK_FULL = "The disk is full: free some space and run the same command again."
OUT_OF_MEMORY = (
    "The compiler ran out of memory: run the same command again with "
    "CMAKE_BUILD_PARALLEL_LEVEL=1 in front of it."
)
BUILD_STOPPED = (
    "llama.cpp's build stopped: the first line with 'error' above names the cause. Once it is "
    "mended, run the same command again."
)
OTHERWISE = "Mend what the last lines name, then run the same command again."

# What a failing pip says, and what helps then. The first that is found counts: a later one may also
# show up in the wake of an earlier one.
REMEDIES = (
    ("No space left on device", DISK_FULL),
    ("Killed signal", OUT_OF_MEMORY),
    ("CMake Error", BUILD_STOPPED),
    ("FAILED: ", BUILD_STOPPED),
    ("CERTIFICATE_VERIFY_FAILED", CERTIFICATE),
    ("NameResolutionError", NETWORK),
    ("NewConnectionError", NETWORK),
    ("ConnectTimeoutError", NETWORK),
    ("ReadTimeoutError", NETWORK),
    ("ProxyError", NETWORK),
    ("Could not find a version that satisfies", NO_RELEASE),
)


def run_pip(
    arguments: Sequence[str],
    *,
    python: Path,
    environ: Mapping[str, str],
    say: Callable[[str], None],
    heartbeat: float = HEARTBEAT_SECONDS,
) -> str | None:
    """Run ``pip ARGUMENTS`` and give each line to ``say``.

    Returns None if it went well, else its last lines and one sentence on what to do.
    """
    process = subprocess.Popen(
        [python, "-m", "pip", *arguments],
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    seen: deque[str] = deque(maxlen=2000)
    try:
        for line in _lines(process, heartbeat):
            if isinstance(line, str):
                seen.append(line)
                say(line)
            else:
                say(f"... still at it, {_duration(line)} so far")
        code = process.wait()
    except BaseException:  # Ctrl-C above all: a build must not go on unseen.
        process.terminate()
        process.wait()
        raise
    if code == 0:
        return None
    tail = "\n".join(f"    {line}" for line in list(seen)[-TAIL_LINES:])
    return f"pip failed (exit code {code}). Its last lines:\n\n{tail}\n\n{remedy(seen)}"


def remedy(lines: Sequence[str] | deque[str]) -> str:
    """One sentence on what to do about a pip that ended with ``lines``."""
    text = "\n".join(lines)
    for sign, advice in REMEDIES:
        if sign in text:
            return advice
    return OTHERWISE


def _lines(process: subprocess.Popen[str], heartbeat: float) -> Iterator[str | float]:
    """What ``process`` prints and, for each ``heartbeat`` s of silence, the seconds so far."""
    pending: queue.SimpleQueue[str | None] = queue.SimpleQueue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            pending.put(line.rstrip())
        pending.put(None)

    threading.Thread(target=read, daemon=True).start()
    start = time.monotonic()
    beat = start + heartbeat
    while True:
        try:
            line = pending.get(timeout=max(0.0, beat - time.monotonic()))
        except queue.Empty:
            beat = time.monotonic() + heartbeat
            yield time.monotonic() - start
            continue
        if line is None:
            return
        # pip's own sign of life, which tells no time.
        if not line.endswith("still running..."):
            beat = time.monotonic() + heartbeat
            yield line


def _duration(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"
