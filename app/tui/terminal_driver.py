"""Textual's driver for a terminal that was taken before Textual was loaded."""

from __future__ import annotations

import os
import select
from codecs import getincrementaldecoder
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, Final

from textual._xterm_parser import XTermParser
from textual.drivers.linux_driver import LinuxDriver
from textual.message import Message

from gemma_local.app.tui.early_terminal import EarlyTerminal

if TYPE_CHECKING:
    from gemma_local.app.tui.app import GemmaLocalApp

_LOOK_EVERY: Final = 0.1
"""Seconds between two looks at whether it is over, and after which Escape is the key alone."""
_CHUNK: Final = 4096


class BackgroundTold(Message):
    """The terminal has said whether its background is dark, later than it was waited for."""


class LastingOutput:
    """A terminal's output, in which what is written is lost once the terminal is gone.

    An error would end Textual's thread that writes, and after thirty more texts whoever hands it
    one would wait for ever: the app, while it saves what it has because the window was closed.
    """

    def __init__(self, file: IO[str]) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write if it can be written; returns the length either way."""
        with suppress(OSError, ValueError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """Let go of what was written."""
        with suppress(OSError, ValueError):
            self._file.flush()

    def fileno(self) -> int:
        """The descriptor of the file."""
        return self._file.fileno()


class TerminalDriver(LinuxDriver):
    """Passes on what was typed before it began, once there is somebody to hear it, and keeps the
    terminal's own answers from being taken for keys."""

    def __init__(self, app: GemmaLocalApp, **options: Any) -> None:
        assert app.terminal is not None
        super().__init__(app, **options)
        self._file: Any = LastingOutput(self._file)
        self._terminal: EarlyTerminal = app.terminal
        self._is_first = True

    def start_application_mode(self) -> None:
        """Take the terminal, from whoever has it."""
        super().start_application_mode()  # type: ignore[no-untyped-call]
        if self._is_first:
            # So far the modes are ours, and not those that a shell or an editor wants back.
            self.attrs_before, self._is_first = self._terminal.modes, False

    def _sigcont_application(self, *signal: object) -> None:
        """Go on after a stop.

        Textual takes the terminal once more even if it had not let go of it: where the app was
        stopped by SIGSTOP, or not at all, as when its window is closed, which comes with a SIGCONT.
        Then two threads read what is typed, and one of them never ends, nor does the app.
        """
        if self._auto_restart and not self._must_signal_resume:
            reads = self._key_thread is not None and self._key_thread.is_alive()
            if not reads or not os.isatty(self.fileno):
                return
            self.suspend_application_mode()
            self._must_signal_resume = True
        super()._sigcont_application(*signal)

    def run_input_thread(self) -> None:
        """Read what is typed, until this driver lets go of the terminal."""
        while not self._terminal.is_heard.wait(0.05):
            if self.exit_event.is_set():
                return
        self._parser = XTermParser(self._debug)
        self._decode = getincrementaldecoder("utf-8")("replace").decode
        self._pass_on(self._terminal.take_typed())
        while not self.exit_event.is_set():
            if select.select([self.fileno], [], [], _LOOK_EVERY)[0]:
                self._take(self._read())
            else:
                self._pass_on(self._terminal.answers.let_go())
            for message in self._parser.tick():
                self.process_message(message)

    def _read(self) -> bytes:
        try:
            data = os.read(self.fileno, _CHUNK)
        except OSError:
            data = b""
        if not data:
            # The terminal is gone, and somebody is about to tell us.
            self.exit_event.wait(_LOOK_EVERY)
        return data

    def _take(self, data: bytes) -> None:
        answers = self._terminal.answers
        before = answers.is_dark
        typed = answers.sift(data)
        if answers.is_dark is not before:
            self.send_message(BackgroundTold())
        self._pass_on(typed)

    def _pass_on(self, typed: bytes) -> None:
        # Without any text it would be the end of all.
        if text := self._decode(typed):
            for message in self._parser.feed(text):
                self.process_message(message)
