"""What the person sends: commands, lines for the shell, and messages, which wait for their turn."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from gemma_local.app.errors import UsageError
from gemma_local.app.sessions.titles import clipped, one_line
from gemma_local.app.tui.commands.command import UnknownCommand
from gemma_local.app.tui.commands.registry import parse
from gemma_local.app.tui.composer.token import kind_of
from gemma_local.models.errors import GemmaLocalError

if TYPE_CHECKING:
    from gemma_local.app.attachments import Attached
    from gemma_local.app.best.wish import Wish
    from gemma_local.app.tui.composer.composer import Composer
    from gemma_local.app.tui.outgoing import Printed
    from gemma_local.app.tui.screens.chat import ChatScreen

_SHOWN: Final = 40
"""Characters of a command that is named."""


class Sending:
    """Takes what the composer sends, and keeps messages until the model is free."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._queue: deque[str] = deque()
        # The desk's thread takes from it as well.
        self._lock = threading.Lock()
        self._is_preparing = False
        # The command that is carried out, as it was written.
        self._line = ""

    @property
    def waiting(self) -> int:
        """How many messages wait."""
        return len(self._queue)

    def take(self, sent: Composer.Sent) -> None:
        """Do what was sent, or have it wait."""
        if sent.kind == "shell":
            self._screen.shell.run(sent.command_line)
        elif sent.kind == "command" and self._command(sent.text):
            return
        elif sent.text.strip():
            self._queue.append(sent.text)
            self.go_on()

    def go_on(self) -> None:
        """Send what waits, as far as the model is free."""
        screen = self._screen
        while self._queue and screen.is_open and not screen.is_busy and not self._is_preparing:
            text = self._queue.popleft()
            if text.startswith("/") and self._command(text):
                continue
            self._say(text)
        self.show()

    def send(self, text: str) -> None:
        """Say something for the person, before what waits."""
        self._queue.appendleft(text)
        self.go_on()

    def take_for_steering(self) -> Sequence[str]:
        """What waits and can be told to a model in the middle of its work: messages up to the
        first that is a command or mentions files. Called by the desk's thread."""
        taken = []
        with self._lock:
            while self._queue and not self._queue[0].startswith("/") and "@" not in self._queue[0]:
                taken.append(self._queue.popleft())
        return taken

    def show(self) -> None:
        """Show what waits."""
        with self._lock:
            waiting = list(self._queue)
        self._screen.composer.set_queue(waiting)

    def best(self, wish: Wish) -> None:
        """Have attempts made at a task, with the files that it mentions. Raises UsageError while a
        message is on its way."""
        if self._is_preparing:
            raise UsageError("a message is on its way; the attempts have to wait for it")
        screen = self._screen

        def send(attached: Attached) -> None:
            screen.desk.best(replace(wish, attached=attached))

        # What commands printed waits for a message: of attempts that nobody takes nothing stays.
        self._prepare(wish.task, [], send, self._line)

    def unqueue(self, text: str) -> None:
        """The last message that waits is the person's again. If it was told to the model just
        before that, the others wait on."""
        with self._lock:
            if self._queue and self._queue[-1] == text:
                self._queue.pop()
        self.show()

    def take_back(self) -> None:
        """Everything was stopped: what waits is not sent, and becomes the person's again."""
        with self._lock:
            text = "\n\n".join(self._queue)
            self._queue.clear()
        if text:
            self.show()
            self._screen.give_back(text)

    def _say(self, text: str) -> None:
        """Send a message with all that belongs to it."""
        screen = self._screen

        def send(attached: Attached) -> None:
            screen.ask(attached.text, attached.spans, text)

        self._prepare(text, screen.shell.take_printed(), send, text)

    def _prepare(
        self, text: str, printed: list[Printed], send: Callable[[Attached], None], written: str
    ) -> None:
        """Have the files read that ``text`` mentions, then ``send`` it. If that cannot be,
        ``written`` goes back to where it was written."""
        screen = self._screen
        self._is_preparing = True

        def prepared(attached: Attached) -> None:
            self._is_preparing = False
            for path in attached.missing:
                screen.say(f"there is no file {path}; what stands behind the @ stays text")
            for note in attached.notes:
                screen.say(note)
            send(attached)

        def failed(error: GemmaLocalError | None) -> None:
            self._is_preparing = False
            if error is not None:
                screen.say(str(error), "warning")
            screen.shell.put_back(printed)
            self._return(written)

        screen.errands.prepare_message(text, printed, prepared, failed)

    def _command(self, line: str) -> bool:
        """Carry a line out if it is a command, or have it wait; False if it is a message after
        all."""
        screen = self._screen
        try:
            order = parse(line)
            if order is None:
                return False
            if isinstance(order, UnknownCommand):
                screen.toast(order.sentence(), "warning")
                self._return(line)
            elif screen.must_wait(order.command):
                self._queue.append(line)
                self.show()
            else:
                self._line = line
                screen.order(order)
        except GemmaLocalError as error:
            screen.toast(str(error), "warning")
            self._return(line)
        return True

    def _return(self, written: str) -> None:
        """Give back what could not be sent; but no command before something that is being written,
        which it would take for its argument: that one stays in the history."""
        screen = self._screen
        if kind_of(written) == "command" and screen.composer.has_text:
            shown = clipped(one_line(written), _SHOWN)
            screen.toast(f"what you are writing was left as it is; your history has {shown}")
        else:
            screen.give_back(written)
