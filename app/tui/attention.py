"""Calling the person back when they look elsewhere: bell, notification, and the window's title.

Everything here is control sequences, written by the screen's own driver so that they never land in
the middle of a frame. What the terminal can do is told by its environment variables.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

from gemma_local.app.sessions.titles import one_line
from gemma_local.app.settings import NotifySettings

if TYPE_CHECKING:
    from textual.app import App

Write = Callable[[str], None]
Notification = Literal["osc9", "osc777", "bell"]

BELL: Final = "\a"
_LONGEST: Final = 120
_OSC9: Final = {"iTerm.app", "WezTerm", "ghostty"}
"""Values of TERM_PROGRAM whose terminals show OSC 9 as a notification of the desktop."""


class Attention:
    """Notices for one terminal. ``focused`` follows the app's ``app_focus``."""

    def __init__(
        self, settings: NotifySettings, write: Write, environ: Mapping[str, str] = os.environ
    ) -> None:
        """``write`` passes control sequences to the terminal."""
        self.focused = True
        self._settings = settings
        self._write = write
        self._environ = environ
        self._has_title = False

    def answered(self, seconds: float, text: str) -> bool:
        """An answer has come after ``seconds``, or consent is asked for; whether that was worth a
        notice. ``text`` says it in one line."""
        when = self._settings.when
        if when == "never" or (when == "unfocused" and self.focused):
            return False
        if seconds < self._settings.after:
            return False
        self._write(notice(text, kind_of(self._environ, self._settings.how), self._environ))
        return True

    def title(self, text: str) -> None:
        """Name the window. The name that it had comes back with ``give_back``."""
        if not _has_window(self._environ):
            return
        if not self._has_title:
            # xterm's stack of titles: what it had is put aside.
            self._write("\x1b[22;2t")
            self._has_title = True
        self._write(f"\x1b]2;{clean(text)}\a")

    def give_back(self) -> None:
        """The window's own name again."""
        if self._has_title:
            self._write("\x1b[23;2t")
            self._has_title = False


def driver_write(app: App[Any]) -> Write:
    """Writes to the terminal of ``app``; does nothing while it has none."""

    def write(sequence: str) -> None:
        # Textual has no public way for sequences of one's own.
        driver = app._driver
        if driver is not None and not app.is_headless:
            driver.write(sequence)
            driver.flush()

    return write


def kind_of(environ: Mapping[str, str], how: Literal["auto", "bell", "osc9"]) -> Notification:
    """What the terminal is asked to do; the bell where it is not known to do more."""
    if how != "auto":
        return how
    term, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    # Inside tmux the terminal's own variables are still there, and they name it.
    is_known = (
        program in _OSC9
        or environ.get("LC_TERMINAL") == "iTerm2"
        or any(name in environ for name in ("KITTY_WINDOW_ID", "WEZTERM_PANE", "GHOSTTY_BIN_DIR"))
    )
    if is_known:
        return "osc9"
    if term.startswith(("foot", "rxvt-unicode")):
        return "osc777"
    return "bell"


def notice(text: str, kind: Notification, environ: Mapping[str, str]) -> str:
    """The control sequence of a notice."""
    # A semicolon ends a field, and "4;" at the beginning is a bar of progress in some terminals.
    plain = clean(text).replace(";", ",")
    match kind:
        case "osc9":
            sequence = f"\x1b]9;{plain}\a"
        case "osc777":
            sequence = f"\x1b]777;notify;gemma-local;{plain}\a"
        case _:
            return BELL
    if environ.get("TMUX"):
        # tmux passes it on only where that is allowed; the bell it always marks in its status.
        doubled = sequence.replace("\x1b", "\x1b\x1b")
        return f"\x1bPtmux;{doubled}\x1b\\{BELL}"
    return sequence


def clean(text: str) -> str:
    """``text`` as it can stand in a control sequence: one short line without control characters."""
    line = one_line(text[: 20 * _LONGEST])
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."


def _has_window(environ: Mapping[str, str]) -> bool:
    return environ.get("TERM", "") not in ("", "dumb", "linux")
