"""A terminal's screen: what programs wrote, as a person sees it, and what they switched on."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import Any, Final

import pyte

ALTERNATE: Final = 1049
CURSOR: Final = 25
WRAP: Final = 7
SWITCHES: Final = {
    1000: "mouse clicks",
    1002: "mouse drags",
    1003: "mouse moves",
    1004: "reports of focus",
    1006: "SGR mouse reports",
    1015: "urxvt mouse reports",
    1016: "mouse pixels",
    2004: "bracketed paste",
    2026: "synchronised updates",
    2048: "reports of the size",
}
"""Private modes that a program may switch on and must switch off again."""

# pyte takes these for text. ">" pushes the keyboard's state on a stack, "<" pops it.
_KEYBOARD: Final = re.compile(rb"\x1b\[([<>=])[0-9;]*u")
_UNFINISHED: Final = re.compile(rb"\x1b(\[[0-9;<>=?$]*)?\Z")


class Emulator(pyte.Screen):
    """pyte's screen with a second, alternate one, and with the keyboard's stack."""

    def __init__(self, columns: int, lines: int) -> None:
        self._behind: dict[str, Any] | None = None
        self._rest = b""
        self._text: str | None = None
        self.keyboard_states = 0
        """How many states of the keyboard lie on the stack."""
        super().__init__(columns, lines)
        self._stream = pyte.ByteStream(self)

    def show(self, data: bytes) -> None:
        """Take what a program wrote."""
        self._text = None
        data = self._rest + data
        unfinished = _UNFINISHED.search(data)
        cut = unfinished.start() if unfinished else len(data)
        data, self._rest = data[:cut], data[cut:]
        for match in _KEYBOARD.finditer(data):
            self.keyboard_states += {b">": 1, b"<": -1, b"=": 0}[match[1]]
        # A program may take back more than it has put there.
        self.keyboard_states = max(0, self.keyboard_states)
        self._stream.feed(_KEYBOARD.sub(b"", data))

    @property
    def text(self) -> str:
        """All lines, without the blanks at their ends."""
        # Whoever waits looks often, and pyte puts two thousand cells together each time.
        if self._text is None:
            self._text = "\n".join(line.rstrip() for line in self.display)
        return self._text

    def resize(self, lines: int | None = None, columns: int | None = None) -> None:
        self._text = None
        super().resize(lines, columns)

    def is_on(self, mode: int) -> bool:
        """Whether a private mode is switched on."""
        return mode << 5 in self.mode

    @property
    def left_on(self) -> list[str]:
        """What a shell would not want to find switched on, or off."""
        found = [name for mode, name in SWITCHES.items() if self.is_on(mode)]
        found += ["the alternate screen"] if self.is_on(ALTERNATE) else []
        found += ["the keyboard's protocol"] if self.keyboard_states else []
        found += [] if self.is_on(CURSOR) else ["a hidden cursor"]
        found += [] if self.is_on(WRAP) else ["no line wrap"]
        return found

    def set_mode(self, *modes: int, **options: Any) -> None:
        if options.get("private") and ALTERNATE in modes and self._behind is None:
            kept = {"buffer": deepcopy(self.buffer), "cursor": deepcopy(self.cursor)}
            self.erase_in_display(2)
            self._behind = kept
        super().set_mode(*modes, **options)

    def reset_mode(self, *modes: int, **options: Any) -> None:
        super().reset_mode(*modes, **options)
        if options.get("private") and ALTERNATE in modes and self._behind is not None:
            self.buffer = self._behind["buffer"]
            hidden, self.cursor = self.cursor.hidden, self._behind["cursor"]
            self.cursor.hidden = hidden
            self._behind = None
            self.dirty.update(range(self.lines))
