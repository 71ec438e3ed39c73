"""What takes its time besides the model: reading files, copying, writing an export."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec

from gemma_local.app.agent.consent import Proposal, Verdict
from gemma_local.app.unexpected import log_unexpected
from gemma_local.app.workspace.errors import Sensitive
from gemma_local.models.errors import GemmaLocalError

if TYPE_CHECKING:
    from gemma_local.app.attachments import Attached
    from gemma_local.app.quick_tasks import TaskName
    from gemma_local.app.tui.outgoing import Printed
    from gemma_local.app.tui.screens.chat import ChatScreen

P = ParamSpec("P")


class Errands:
    """Runs each in a thread of its own; what comes of it is told in the screen's."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen

    def prepare_message(
        self,
        text: str,
        printed: list[Printed],
        send: Callable[[Attached], None],
        give_up: Callable[[GemmaLocalError | None], None],
        *,
        may_read_secrets: bool = False,
    ) -> None:
        """Read the files of a message, and ``send`` it; ``give_up`` hears why that cannot be, None
        if the person does not want it."""
        screen = self._screen

        def read() -> None:
            # Here and below in the errand's own thread: the first picture waits for none of it.
            from gemma_local.app.tui.outgoing import prepared

            folder = screen.gemma.folder
            try:
                found = prepared(text, folder, printed, may_read_secrets=may_read_secrets)
            except Sensitive as error:
                self._tell(self._ask_for_secrets, text, printed, send, give_up, error)
            except GemmaLocalError as error:
                self._tell(give_up, error)
            except Exception:
                # `_run` says what it was; the message is the person's all the same.
                self._tell(give_up, None)
                raise
            else:
                self._tell(send, found)

        self._run(read)

    def _ask_for_secrets(
        self,
        text: str,
        printed: list[Printed],
        send: Callable[[Attached], None],
        give_up: Callable[[GemmaLocalError | None], None],
        error: Sensitive,
    ) -> None:
        def answer(verdict: Verdict) -> None:
            if verdict.is_yes:
                self.prepare_message(text, printed, send, give_up, may_read_secrets=True)
            else:
                give_up(None)

        proposal = Proposal("secrets", "message", "add it to the message", why=str(error))
        self._screen.consents.ask(proposal, answer)

    def prepare_task(self, name: TaskName, text: str) -> None:
        """Read the text of a small task, and begin it."""
        screen = self._screen

        def read() -> None:
            try:
                source = screen.commands.read_source(text)
            except GemmaLocalError as error:
                self._tell(screen.toast, str(error), "warning")
            else:
                self._tell(screen.commands.begin_task, name, source)

        self._run(read)

    def copy(self, text: str, what: str) -> None:
        """Copy a text, and say honestly how."""
        app = self._screen.app

        def copy() -> None:
            from gemma_local.app import clipboard

            done = clipboard.copy(text, lambda copied: self._tell(app.copy_to_clipboard, copied))
            self._tell(self._screen.toast, f"{what}: {done.sentence()}")

        self._run(copy)

    def export(self, path: Path, text: str) -> None:
        """Write an exported conversation to a new file."""
        screen = self._screen

        def write() -> None:
            from gemma_local.app.sessions.exporting import write_export

            try:
                write_export(path, text)
            except FileExistsError:
                self._tell(screen.toast, f"{path} exists; give another name", "warning")
            except GemmaLocalError as error:
                self._tell(screen.toast, str(error), "warning")
            else:
                self._tell(written)

        def written() -> None:
            is_seen = screen.transcript.at_end
            screen.say(f"written to {path}")
            if not is_seen:
                screen.toast(f"written to {path}")

        self._run(write)

    def _run(self, work: Callable[[], None]) -> None:
        def run() -> None:
            try:
                work()
            except Exception as error:  # noqa: BLE001 - nobody else hears of it
                self._tell(self._screen.toast, log_unexpected(error), "error")

        self._screen.run_worker(run, thread=True, group="errands", exit_on_error=False)

    def _tell(self, heard: Callable[P, object], *args: P.args, **kwargs: P.kwargs) -> None:
        self._screen.app.call_from_thread(heard, *args, **kwargs)
