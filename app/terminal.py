"""What goes to the person's terminal besides the answer: notes, progress, and plain tables."""

from __future__ import annotations

import os
import re
import shutil
import sys
from collections.abc import Sequence
from typing import Final, TextIO

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def prepare_streams() -> None:
    """Make the standard streams safe to write to: never None, never a UnicodeEncodeError."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            # Closed by whoever started us; it lives as long as the process.
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115, PTH123
        elif not stream.isatty() and hasattr(stream, "reconfigure"):
            # A pipe has no encoding of its own, and JSON is UTF-8 by definition.
            stream.reconfigure(encoding="utf-8", errors="replace")
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def printable(text: str, stream: TextIO) -> str:
    """``text`` as it may be written to ``stream``: on a terminal without control characters.

    A model can be made to write escape sequences, which move the cursor or set the window's title.
    """
    return _CONTROL.sub("\ufffd", text) if stream.isatty() else text


def dim(text: str, stream: TextIO) -> str:
    """``text`` in a quieter colour, where the stream shows colours."""
    plain = not stream.isatty() or "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
    return text if plain else f"\x1b[2m{text}\x1b[0m"


def note(text: str) -> None:
    """Say something to the person, on standard error."""
    progress.clear()
    print(f"gemma-local: {text}", file=sys.stderr, flush=True)


class Progress:
    """One line on standard error that is replaced as work goes on; silent where nobody watches."""

    def __init__(self) -> None:
        self._shown = False

    def show(self, text: str) -> None:
        """Replace the line."""
        if sys.stderr is None or not sys.stderr.isatty():
            return
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r\x1b[K{dim(text[:width], sys.stderr)}")
        sys.stderr.flush()
        self._shown = True

    def clear(self) -> None:
        """Take the line away, so that something else can be written."""
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
            self._shown = False


progress: Final = Progress()
"""The one progress line of this process."""


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns under their headings: the first to the left, the others to the right."""
    lines = [list(header), *map(list, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
