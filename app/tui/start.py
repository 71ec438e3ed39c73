"""From the command line to the screens, and back to a terminal that is as it was."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from gemma_local.app import folders
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.options import AnswerOptions
from gemma_local.app.terminal import progress
from gemma_local.app.tui import garbage
from gemma_local.app.tui.early_terminal import EarlyTerminal, early_terminal
from gemma_local.app.tui.stderr_guard import guarded_stderr
from gemma_local.app.tui.terminal_keeper import TerminalKeeper

if TYPE_CHECKING:
    from gemma_local.app.tui.app import GemmaLocalApp


LONGEST_GOODBYE = 30
"""Seconds after which a process is gone whose window was closed, or that somebody wanted gone."""


def run(options: AnswerOptions) -> int:
    """Open the screens and stay until the person leaves.

    Raises BadSettings if the settings cannot be read, GemmaLocalError if the session that was
    asked for is not there, and whatever nobody thought of.
    """
    garbage.put_off()
    # Pydantic would look for plugins in all that is installed.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    with _kept_terminal(), early_terminal() as terminal:
        app = _run_app(options, terminal)
    if app.failure is not None:
        raise app.failure
    if app.crash is not None:
        raise app.crash
    return app.return_code or ExitCode.OK


def _run_app(options: AnswerOptions, terminal: EarlyTerminal | None) -> GemmaLocalApp:
    # Not at the top, like all that takes its time to import.
    from gemma_local.app.settings_file import load_settings

    settings = load_settings()
    if terminal is not None and settings.screen.theme == "auto":
        terminal.ask()
    # Textual reads it once, when it is imported.
    if settings.screen.animation == "none" or "SSH_CONNECTION" in os.environ:
        os.environ.setdefault("TEXTUAL_ANIMATIONS", "none")
    from gemma_local.app.tui.app import GemmaLocalApp

    def shown() -> None:
        garbage.begin()
        if terminal is not None:
            terminal.is_heard.set()

    app = GemmaLocalApp(options, settings, on_shown=shown, terminal=terminal)
    if terminal is not None and terminal.answers.is_owed:
        terminal.hear_answer()
    try:
        with guarded_stderr(folders.log_path()):
            app.run(mouse=settings.screen.mouse)
    finally:
        _say_goodbye(app)
    return app


@contextmanager
def _kept_terminal() -> Iterator[None]:
    keeper = TerminalKeeper()
    keeper.start()
    try:
        yield
    finally:
        keeper.dismiss()


def _say_goodbye(app: GemmaLocalApp) -> None:
    """Write down what was read, and say how to go on."""
    if app.is_interrupted:
        _be_gone_in(LONGEST_GOODBYE)
    else:
        progress.show("keeping what was read, for the next time")
    # Ctrl-C: they will not wait. What was not kept is read again, the next time.
    with suppress(KeyboardInterrupt):
        app.end()
    progress.clear()
    garbage.end()
    if (farewell := app.farewell) and sys.stdout.isatty():
        print(farewell, flush=True)


def _be_gone_in(seconds: int) -> None:
    """Whatever keeps this process: a thread that does not end would keep it for ever, with nobody
    left to see that. Where there are alarms."""
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
