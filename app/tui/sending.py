"""What the person sends: commands, lines for the shell, and messages, which wait for their turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gemma_local.app.tui.commands.command import UnknownCommand
from gemma_local.app.tui.commands.registry import parse
from gemma_local.models.errors import GemmaLocalError

if TYPE_CHECKING:
    from gemma_local.app.attachments import Attached
    from gemma_local.app.tui.composer.composer import Composer
    from gemma_local.app.tui.screens.chat import ChatScreen


class Sending:
    """Takes what the composer sends, and keeps messages until the model is free."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._queue: deque[str] = deque()
        self._is_preparing = False
        self._written = ""

    @property
    def waiting(self) -> int:
        """How many messages wait."""
        return len(self._queue)

    def take(self, sent: Composer.Sent) -> None:
        """Do what was sent, or have it wait."""
        if sent.kind == "shell" and sent.command_line:
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
            self._is_preparing = True
            self._written = text
            screen.errands.prepare_message(text, screen.shell.take_printed())
        self.show()

    def send(self, text: str) -> None:
        """Say something for the person, before what waits."""
        self._queue.appendleft(text)
        self.go_on()

    def take_for_steering(self) -> Sequence[str]:
        """What waits and can be told to a model in the middle of its work: messages up to the
        first that is a command or mentions files. Called by the desk's thread."""
        taken = []
        while self._queue and not self._queue[0].startswith("/") and "@" not in self._queue[0]:
            taken.append(self._queue.popleft())
        return taken

    def show(self) -> None:
        """Show what waits."""
        self._screen.composer.set_queue(list(self._queue))

    def prepared(self, attached: Attached) -> None:
        """A message and its files are read."""
        self._is_preparing = False
        screen = self._screen
        for path in attached.missing:
            screen.say(f"there is no file {path}; what stands behind the @ stays text")
        for note in attached.notes:
            screen.say(note)
        screen.ask(attached.text, attached.spans, self._written)

    def failed(self, text: str, error: GemmaLocalError | None) -> None:
        """A message could not be sent, and goes back to where it was written."""
        self._is_preparing = False
        if error is not None:
            self._screen.say(str(error), "warning")
        self._screen.give_back(text)

    def unqueue(self) -> None:
        """The last message that waits is the person's again."""
        if self._queue:
            self._queue.pop()
        self._screen.composer.set_queue(list(self._queue))

    def take_back(self) -> None:
        """Everything was stopped: what waits is not sent, and becomes the person's again."""
        if self._queue:
            text = "\n\n".join(self._queue)
            self._queue.clear()
            self._screen.composer.set_queue([])
            self._screen.give_back(text)

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
                screen.give_back(line)
            elif screen.must_wait(order.command):
                self._queue.append(line)
                screen.composer.set_queue(list(self._queue))
            else:
                screen.order(order)
        except GemmaLocalError as error:
            screen.toast(str(error), "warning")
            screen.give_back(line)
        return True
