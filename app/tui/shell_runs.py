"""Commands that the person runs with "!": shown like a tool's, and told to the model later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gemma_local.app.agent.events import Outcome, ToolEnded, ToolOutput, ToolStarted
from gemma_local.app.stop import Stop
from gemma_local.app.tui.scribe import BY_PERSON
from gemma_local.app.unexpected import log_unexpected

if TYPE_CHECKING:
    from gemma_local.app.tui.news import News
    from gemma_local.app.tui.outgoing import Printed
    from gemma_local.app.workspace.command import Ended

TOOL: Final = "$"
"""The name of the tool in its card."""
_PATIENCE: Final = 3.0
"""Seconds that the end of a command is waited for: longer than a process has that does not listen
to the first signal."""


class ShellRuns:
    """Runs commands in threads of their own; ``tell`` hears what they write, in those threads."""

    def __init__(self, folder: Path, tell: Callable[[News], None]) -> None:
        self._folder = folder
        self._tell = tell
        self._lock = threading.Lock()
        self._running: dict[str, tuple[Stop, threading.Thread]] = {}
        self._printed: list[Printed] = []
        self._count = 0

    def run(self, line: str) -> None:
        """Begin a command; returns at once."""
        self._count += 1
        id_, stop = f"{BY_PERSON}{self._count}", Stop()
        thread = threading.Thread(target=self._carry_out, args=(id_, line, stop), daemon=True)
        with self._lock:
            self._running[id_] = (stop, thread)
        self._tell(ToolStarted(id_, TOOL, line))
        thread.start()

    def stop(self) -> bool:
        """End what runs; False if nothing does."""
        return bool(self._ask_to_stop())

    def end(self) -> None:
        """End what runs, and wait until it has ended: nothing outlives the screens."""
        for thread in self._ask_to_stop():
            thread.join(_PATIENCE)

    @property
    def is_running(self) -> bool:
        """Whether a command runs."""
        return bool(self._running)

    def take_printed(self) -> list[Printed]:
        """What commands printed since this was asked last, for the next message."""
        with self._lock:
            printed, self._printed = self._printed, []
        return printed

    def put_back(self, printed: list[Printed]) -> None:
        """The message that took this was not sent: the next one has it."""
        with self._lock:
            self._printed[:0] = printed

    def _ask_to_stop(self) -> list[threading.Thread]:
        """Those who were asked."""
        with self._lock:
            running = list(self._running.values())
        for stop, _ in running:
            stop.ask()
        return [thread for _, thread in running]

    def _carry_out(self, id_: str, line: str, stop: Stop) -> None:
        from gemma_local.app.tui.outgoing import Printed
        from gemma_local.app.workspace.command import Command

        def heard(text: str) -> None:
            self._tell(ToolOutput(id_, text))

        try:
            ended = Command(line, self._folder, on_output=heard).run(stop)
        except OSError as error:
            self._tell(ToolEnded(id_, "failed", f"cannot be started: {error.strerror or error}"))
        except Exception as error:  # noqa: BLE001 - a thread of its own: nobody else hears of it
            self._tell(ToolEnded(id_, "failed", log_unexpected(error)))
        else:
            with self._lock:
                self._printed.append(Printed(line, ended))
            outcome, summary = _outcome(ended)
            self._tell(ToolEnded(id_, outcome, summary, ended.output, seconds=ended.seconds))
        finally:
            with self._lock:
                del self._running[id_]


def _outcome(ended: Ended) -> tuple[Outcome, str]:
    if ended.stopped:
        return "stopped", "stopped"
    return ("ok", "") if ended.status == 0 else ("failed", f"exit status {ended.status}")
