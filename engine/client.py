"""The engine as the rest of the program sees it: a process to start, requests in, events out.

Importing this module is cheap: no llama.cpp, no numpy.
"""

from __future__ import annotations

import contextlib
import os
import queue
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, TypeVar

from gemma_local.engine.endings import signal_name
from gemma_local.engine.messages import (
    Cancel,
    Command,
    Count,
    Counted,
    Delta,
    Done,
    Event,
    Failed,
    Generate,
    Load,
    Loading,
    Read,
    Ready,
    Save,
    Saved,
    Shutdown,
    Verified,
    Verify,
    decode,
    encode,
)
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.prompt import Prompt

_LOG_LIMIT: Final = 4 << 20

Reply = TypeVar("Reply", Verified, Counted, Saved)


class EngineFailed(GemmaLocalError):
    """The engine could not do what was asked of it."""


class EngineDied(EngineFailed):
    """The engine's process ended by itself: a crash, a kill, or no memory."""


class Engine:
    """One engine process and the pair loaded in it.

    Threads may generate and cancel at the same time. When the process dies, every open request
    ends with ``Failed(died=True)``; ``restart`` then brings back the same pair, and a request can
    go on where it was (``resume``).
    """

    def __init__(self, log_path: Path) -> None:
        """``log_path``: where the engine's and llama.cpp's messages go."""
        self.log_path = log_path
        self.ready: Ready | None = None
        self._load: Load | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._failed: subprocess.Popen[bytes] | None = None
        """The last process that failed somebody; it may take a moment to end."""
        self._open: dict[str | None, queue.SimpleQueue[Event]] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._restarting = threading.Lock()

    # ------------------------------------------------------------------------------ lifetime

    def start(self, load: Load, on_loading: Callable[[Loading], None] | None = None) -> Ready:
        """Start a process and load a pair into it; blocks until it is ready.

        Raises EngineFailed with a sentence for the person, EngineDied if the process ended or
        could not be started.
        """
        self.close()
        self._load = load
        events = self._listen(None)
        try:
            self._spawn()
        except OSError as error:
            raise EngineDied(
                f"the engine's process cannot be started: {error.strerror or error}; close other "
                f"programs, and see that its log can be written: {self.log_path}"
            ) from error
        try:
            self._send(load)
            while True:
                match event := events.get():
                    case Loading() if on_loading is not None:
                        on_loading(event)
                    case Ready():
                        self.ready = event
                        return event
                    case Failed():
                        raise (EngineDied if event.died else EngineFailed)(event.message)
        except BaseException:
            self.close()
            raise

    def restart(self, on_loading: Callable[[Loading], None] | None = None) -> Ready:
        """A new process with the pair that was loaded last; where one runs by now, because another
        thread was quicker, that one."""
        with self._restarting:
            is_other = self._process is not self._failed
            if is_other and self.ready is not None and self.is_alive:
                return self.ready
            if self._load is None:
                raise EngineFailed("no model was loaded yet")
            return self.start(self._load, on_loading)

    def close(self, timeout: float = 3.0) -> None:
        """End the process: politely, then by force after ``timeout`` seconds."""
        process, self.ready = self._process, None
        if process is None:
            return
        # Nobody is left to wait for what the process would have answered.
        self._fail_all(process, "the engine was closed", gone=True)
        with contextlib.suppress(OSError, ValueError):
            assert process.stdin is not None
            process.stdin.write(encode(Shutdown()))
            process.stdin.close()
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def is_alive(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """The engine's process id, None when none runs."""
        return self._process.pid if self._process is not None else None

    # ------------------------------------------------------------------------------ requests

    def generate(self, request: Generate) -> Generator[Event]:
        """Run a request; the last event is its Done or Failed.

        Closing the iterator early cancels the request.
        """
        return self._run(request)

    def read(self, request: Read) -> Generator[Event]:
        """Read a prompt into the cache for later; events and closing as with ``generate``."""
        return self._run(request)

    def _run(self, request: Generate | Read) -> Generator[Event]:
        events = self._listen(request.id)
        last: Event | None = None
        try:
            try:
                self._send(request)
            except EngineDied as error:
                last = Failed(request.id, str(error), died=True)
                yield last
                return
            while not isinstance(last, Done | Failed):
                last = events.get()
                yield last
        finally:
            self._forget(request.id)
            if not isinstance(last, Done | Failed):
                self.cancel(request.id)

    def cancel(self, request: str) -> None:
        """Stop a request; its Done arrives with what it produced."""
        with contextlib.suppress(EngineDied):
            self._send(Cancel(request))

    def verify(self, request: Verify) -> Verified:
        """Compare plain and drafted decoding of a prompt. Raises EngineFailed."""
        return self._ask(request, Verified)

    def count(self, prompts: Sequence[Prompt]) -> tuple[int, ...]:
        """Tokens of each prompt, or part of one. Raises EngineFailed."""
        return self._ask(Count(new_id(), tuple(prompts)), Counted).tokens

    def save(self) -> Saved:
        """Write the caches of named sessions to the state folder, where they have changed.

        Takes as long as the disk does; requests wait meanwhile. Raises EngineFailed.
        """
        return self._ask(Save(new_id()), Saved)

    def _ask(self, question: Verify | Count | Save, answer: type[Reply]) -> Reply:
        """Send a command that is answered with one event. Raises EngineFailed."""
        events = self._listen(question.id)
        try:
            self._send(question)
            while True:
                event = events.get()
                if isinstance(event, answer):
                    return event
                if isinstance(event, Failed):
                    raise (EngineDied if event.died else EngineFailed)(event.message)
        finally:
            self._forget(question.id)

    # ------------------------------------------------------------------------------- process

    def _spawn(self) -> None:
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(OSError):
            if self.log_path.stat().st_size > _LOG_LIMIT:
                self.log_path.replace(self.log_path.with_suffix(".old.log"))
        with self.log_path.open("ab") as log:
            process = subprocess.Popen(
                # -P: the person's working directory must not shadow our modules.
                [sys.executable, "-P", "-m", "gemma_local.engine.host", str(self.log_path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=engine_environment(),
                # Ctrl-C in the terminal is for us to turn into a Cancel.
                start_new_session=True,
            )
        self._process = process
        threading.Thread(target=self._read, args=(process,), daemon=True).start()

    def _send(self, command: Command) -> None:
        process = self._process
        if process is None or process.stdin is None:
            raise EngineDied("the engine is not running; start it again")
        try:
            with self._writing:
                process.stdin.write(encode(command))
                process.stdin.flush()
        except (OSError, ValueError):
            self._failed = process
            raise EngineDied(self._obituary(process)) from None

    def _read(self, process: subprocess.Popen[bytes]) -> None:
        """Hand events to whoever waits for them, as fast as they come."""
        assert process.stdout is not None
        why = ""
        for line in process.stdout:
            try:
                event = decode(line)
            except ValueError:
                continue
            if isinstance(event, Failed) and event.died:
                why = event.message
                self._fail_all(process, why)
            else:
                self._deliver(event)  # type: ignore[arg-type]
        if self._process is process:
            # Also when it said why: others may have asked something of it since.
            self._fail_all(process, why or self._obituary(process))

    def _deliver(self, event: Event) -> None:
        with self._lock:
            listener = self._open.get(getattr(event, "id", None))
        if listener is not None:
            listener.put(event)

    def _fail_all(
        self, process: subprocess.Popen[bytes], message: str, *, gone: bool = False
    ) -> None:
        """End what ``process`` was asked for, unless another has taken its place by now; ``gone``:
        it is no longer ours."""
        with self._lock:
            if self._process is not process:
                return
            self._failed = process
            if gone:
                self._process = None
            for request, listener in self._open.items():
                listener.put(Failed(request, message, died=True))

    def _listen(self, request: str | None) -> queue.SimpleQueue[Event]:
        events: queue.SimpleQueue[Event] = queue.SimpleQueue()
        with self._lock:
            self._open[request] = events
        return events

    def _forget(self, request: str) -> None:
        with self._lock:
            self._open.pop(request, None)

    def _obituary(self, process: subprocess.Popen[bytes]) -> str:
        """Why a process ended, as far as its exit status tells."""
        try:
            status = process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            return f"the engine stopped answering; its log is {self.log_path}"
        if name := signal_name(status):
            cause = {
                "SIGKILL": "it was killed, often because memory ran out: try a smaller --ctx or a "
                "smaller model",
                "SIGABRT": "llama.cpp gave up on a failed check",
                "SIGSEGV": "llama.cpp crashed",
                "SIGILL": "this build of llama.cpp uses instructions that this processor lacks",
            }.get(name, f"it received {name}")
        else:
            cause = f"it ended with status {status}"
        return f"the engine died: {cause}; its log is {self.log_path}"


def engine_environment() -> dict[str, str]:
    """The environment of the engine's process. What the person set themselves stays."""
    environment = dict(os.environ)
    # Threads that spin at barriers bring everything to a crawl when another process wants a CPU;
    # threads that never spin lose a fifth of the speed when none does. A short spin is between:
    # E2B's shape on two cores, idle and beside one busy process, drafting 3, tokens/s:
    # passive 14.6 and 9.2, short spin 17.4 and 7.4, active 18.8 and 6.5, once 2.3.
    # OpenMP reads this once, when it is loaded: it cannot be set later.
    if "OMP_WAIT_POLICY" not in environment:
        environment["OMP_WAIT_POLICY"] = "passive"
        environment.setdefault("GOMP_SPINCOUNT", "2000")
    # A failed assertion would otherwise start a debugger to print a backtrace.
    environment.setdefault("GGML_NO_BACKTRACE", "1")
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    return environment


def new_id() -> str:
    """A fresh id for a request."""
    return uuid.uuid4().hex[:12]


def resume(request: Generate, deltas: list[Delta]) -> Generate:
    """The rest of a request of which these deltas arrived before the engine died."""
    produced = tuple(token for delta in deltas for token in delta.tokens)
    return replace(request, id=new_id(), produced=request.produced + produced)
