"""The engine as the rest of the program sees it: a process to start, requests in, events out.

Importing this module is cheap: no llama.cpp, no numpy.
"""

from __future__ import annotations

import contextlib
import queue
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, Final, TypeVar

from gemma_local.engine.endings import signal_name
from gemma_local.engine.environment import engine_environment
from gemma_local.engine.hardware.devices import DeviceList, death, too_late
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
    ListDevices,
    Listed,
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
_ENDING: Final = 2.0
"""Seconds that a process which closed its pipes may take to end."""

Reply = TypeVar("Reply", Verified, Counted, Listed, Saved)


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
        self._is_begun = False
        self._failed: subprocess.Popen[bytes] | None = None
        """The last process that failed somebody; it may take a moment to end."""
        self._open: dict[str | None, queue.SimpleQueue[Event]] = {}
        self._lock = threading.Lock()
        self._writing = threading.Lock()
        self._restarting = threading.Lock()

    # ------------------------------------------------------------------------------ lifetime

    def begin(self) -> None:
        """Start a process, which makes ready while it is found out what to load; `devices` may be
        asked of it, and `start` goes on with it.

        Raises EngineDied if it could not be started.
        """
        self.close()
        try:
            self._spawn()
        except OSError as error:
            raise EngineDied(
                f"the engine's process cannot be started: {error.strerror or error}; close other "
                f"programs, and see that its log can be written: {self.log_path}"
            ) from error
        self._is_begun = True

    @property
    def is_begun(self) -> bool:
        """Whether a process runs in which nothing was loaded yet."""
        return self._is_begun and self.is_alive

    def devices(self, timeout: float = 20.0) -> DeviceList:
        """What llama.cpp can compute on, as the process that was begun has it; never raises.

        Where a graphics driver keeps it waiting for more than ``timeout`` seconds, or kills it,
        the process is gone, and `start` takes another.
        """
        process = self._process
        try:
            return DeviceList.decode(self._ask(ListDevices(new_id()), Listed, timeout).devices)
        except EngineDied as error:
            with contextlib.suppress(subprocess.TimeoutExpired):
                if process is not None and (found := death(process.wait(_ENDING))):
                    return found
            return DeviceList(problem=str(error))
        except queue.Empty:
            self.close(timeout=0.0)
            return too_late(timeout)
        except (EngineFailed, ValueError) as error:
            return DeviceList(problem=f"llama.cpp did not name its devices: {error}")

    def start(self, load: Load, on_loading: Callable[[Loading], None] | None = None) -> Ready:
        """Load a pair into the process that was begun, or into one that is started for it; blocks
        until it is ready.

        Raises EngineFailed with a sentence for the person, EngineDied if the process ended or
        could not be started.
        """
        if not self.is_begun:
            self.begin()
        self._is_begun = False
        self._load = load
        events = self._listen(None)
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

    def _ask(
        self,
        question: Verify | Count | Save | ListDevices,
        answer: type[Reply],
        timeout: float | None = None,
    ) -> Reply:
        """Send a command that is answered with one event. Raises EngineFailed, and queue.Empty
        after ``timeout`` seconds without an answer."""
        events = self._listen(question.id)
        try:
            self._send(question)
            while True:
                event = events.get(timeout=timeout)
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
            process = start_process([str(self.log_path)], log)
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
            status = process.wait(_ENDING)
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


def start_process(words: Sequence[str], log: BinaryIO) -> subprocess.Popen[bytes]:
    """The engine's process with these arguments, with pipes for commands and events."""
    return subprocess.Popen(
        # -P: the person's working directory must not shadow our modules.
        [sys.executable, "-P", "-m", "gemma_local.engine.host", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=log,
        env=engine_environment(),
        # Ctrl-C in the terminal is for us to turn into a Cancel.
        start_new_session=True,
    )


def new_id() -> str:
    """A fresh id for a request."""
    return uuid.uuid4().hex[:12]


def resume(request: Generate, deltas: list[Delta]) -> Generate:
    """The rest of a request of which these deltas arrived before the engine died."""
    produced = tuple(token for delta in deltas for token in delta.tokens)
    return replace(request, id=new_id(), produced=request.produced + produced)
