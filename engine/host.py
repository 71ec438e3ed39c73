"""The engine's own process: commands in on fd 0, events out on fd 1.

llama.cpp aborts on a failed assertion, writes to fd 2 as it likes, and may be killed for memory;
none of that may touch the process that holds the conversation and the screen. Start it through
``engine.client``.
"""

from __future__ import annotations

import contextlib
import faulthandler
import io
import os
import queue
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from gemma_local.engine.hardware.devices import DeviceList
from gemma_local.engine.messages import (
    Cancel,
    Command,
    Count,
    Counted,
    Failed,
    Generate,
    ListDevices,
    Listed,
    Load,
    Read,
    Save,
    Shutdown,
    Verify,
    decode,
)
from gemma_local.engine.outbox import Outbox
from gemma_local.models.errors import GemmaLocalError

if TYPE_CHECKING:
    from gemma_local.engine.pair import Pair
    from gemma_local.engine.runtime.context import AbortFlag
    from gemma_local.engine.scheduler import Scheduler


class Host:
    """Carries out commands until it is told to shut down or its parent is gone."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._commands: queue.SimpleQueue[Command] = queue.SimpleQueue()
        self._abort: AbortFlag | None = None
        self._pair: Pair | None = None
        self._scheduler: Scheduler | None = None

    def read_commands(self, stream: BinaryIO) -> None:
        """Queue commands as they arrive. Runs in a thread of its own: it must be able to stop a
        decode call that is under way, and to notice the parent's end at any time."""
        for line in stream:
            try:
                command = decode(line)
            except ValueError:
                # Half a line is the last one: the parent died while it wrote.
                break
            self._commands.put(command)  # type: ignore[arg-type]
            abort = self._abort
            if abort is not None and self._is_urgent(command):
                abort.raise_flag()
        # End of file: the parent closed its end or died. Nothing here is worth finishing.
        os._exit(0)

    def run(self) -> None:
        """The loop: commands first, then one turn of decoding."""
        while True:
            if self._abort is not None:
                # Lowered before looking at the queue: whoever raised it has queued the reason.
                self._abort.lower()
            try:
                while True:
                    command = self._commands.get(block=self._is_idle)
                    if isinstance(command, Shutdown):
                        self._close()
                        return
                    self._carry_out(command)
            except queue.Empty:
                pass
            self._turn()

    def _is_urgent(self, command: object) -> bool:
        """Whether a command must not wait for the pass that is under way.

        A request waits for a slice of a prompt that is read for later: most often it needs it. The
        end of one request waits for a pass that others have their share in.
        """
        # Read once: the other thread may be closing the pair.
        scheduler = self._scheduler
        if isinstance(command, Generate):
            return scheduler is not None and scheduler.reads_long_slices
        if isinstance(command, Cancel):
            return scheduler is None or not scheduler.runs_beside(command.id)
        return isinstance(command, Shutdown)

    @property
    def _is_idle(self) -> bool:
        return self._scheduler is None or self._scheduler.is_idle

    def _carry_out(self, command: Command) -> None:
        match command:
            case Load():
                self._load(command)
            case ListDevices():
                self._list_devices(command)
            case Generate() | Read() | Save() | Verify() | Count() if self._scheduler is None:
                self._outbox.put(Failed(command.id, "no model is loaded"))
            case Generate() | Read():
                assert self._scheduler is not None
                self._scheduler.submit(command)
            case Save():
                assert self._scheduler is not None
                self._scheduler.save(command.id)
            case Count():
                self._count(command)
            case Cancel() if self._scheduler is not None:
                self._scheduler.cancel(command.id)
            case Verify():
                self._verify(command)

    def _turn(self) -> None:
        from gemma_local.engine.runtime.context import Aborted

        if self._scheduler is not None and not self._scheduler.is_idle:
            # Aborted: a command wants attention. The loop looks at the queue and goes on.
            with contextlib.suppress(Aborted):
                self._scheduler.turn()

    def _list_devices(self, command: ListDevices) -> None:
        from gemma_local.engine.runtime.devices import device_list

        try:
            found = device_list()
        except GemmaLocalError as error:
            found = DeviceList(problem=str(error))
        self._outbox.put(Listed(command.id, found.encode()))
        # Whoever asks is choosing what to load: time to import what that takes.
        import gemma_local.engine.pair
        import gemma_local.engine.scheduler  # noqa: F401

    def _load(self, command: Load) -> None:
        # Here and not at the top: a missing or unfit llama.cpp becomes an event.
        from gemma_local.engine.pair import Pair
        from gemma_local.engine.scheduler import Scheduler

        self._close()
        try:
            pair = Pair.load(command, self._outbox.put)
        except GemmaLocalError as error:
            self._outbox.put(Failed(None, str(error)))
            return
        self._pair = pair
        # A pass that cannot be undone is not broken off either.
        self._abort = pair.abort if pair.can_go_back else None
        self._scheduler = Scheduler(pair, self._outbox.put)
        self._outbox.put(pair.ready)

    def _count(self, command: Count) -> None:
        assert self._scheduler is not None
        try:
            self._outbox.put(Counted(command.id, self._scheduler.count(command.prompts)))
        except GemmaLocalError as error:
            self._outbox.put(Failed(command.id, str(error)))

    def _verify(self, command: Verify) -> None:
        from gemma_local.engine.comparison import compare
        from gemma_local.engine.runtime.context import Aborted

        assert self._pair is not None and self._scheduler is not None
        if not self._scheduler.is_idle:
            self._outbox.put(Failed(command.id, "the engine is busy; verify when it is idle"))
            return
        self._scheduler.forget()
        # Raised, perhaps, for a command that has been carried out since.
        self._pair.abort.lower()
        try:
            self._outbox.put(compare(self._pair, command))
        except GemmaLocalError as error:
            self._outbox.put(Failed(command.id, str(error)))
        except Aborted:
            self._outbox.put(Failed(command.id, "the comparison was stopped"))

    def _close(self) -> None:
        self._scheduler = None
        self._abort = None
        if self._pair is not None:
            self._pair.close()
            self._pair = None


def main() -> int:
    """Run the engine process. Takes one argument: the log file's path."""
    log_path = Path(sys.argv[1])
    commands = os.fdopen(os.dup(0), "rb", buffering=io.DEFAULT_BUFFER_SIZE)
    events = os.fdopen(os.dup(1), "wb", buffering=io.DEFAULT_BUFFER_SIZE)
    log_file = log_path.open("a", encoding="utf-8", errors="replace", buffering=1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(log_file.fileno(), 1)
    os.dup2(log_file.fileno(), 2)
    faulthandler.enable(log_file)
    _volunteer_for_the_oom_killer()
    outbox = Outbox(events)
    host = Host(outbox)
    reader = threading.Thread(target=host.read_commands, args=(commands,), daemon=True)
    reader.start()
    try:
        from gemma_local.engine.runtime import library

        library.start(log_file)
        host.run()
    except GemmaLocalError as error:
        outbox.put(Failed(None, str(error), died=True))
        outbox.close()
        return 1
    except Exception as error:  # noqa: BLE001 - a person gets a sentence, the log the traceback
        traceback.print_exc(file=log_file)
        outbox.put(
            Failed(None, f"internal error in the engine: {error!r}; see {log_path}", died=True)
        )
        outbox.close()
        return 1
    outbox.close()
    return 0


def _volunteer_for_the_oom_killer() -> None:
    """When memory runs out, let the kernel take this process and spare the conversation's."""
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("500")


if __name__ == "__main__":
    sys.exit(main())
