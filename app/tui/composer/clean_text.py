"""Text from a clipboard or a terminal, without what is no text."""

from __future__ import annotations

import re
from typing import Final

# With their arguments, of which nothing must stay behind: colours, titles, links.
_ESCAPES: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?"
)
_NEWLINES: Final = re.compile("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufeff]")

_BROKEN_REPORT: Final = re.compile(r"\^?\[<\d+;(?:NaN|-?\d+);(?:NaN|-?\d+)[Mm]\Z")


def cleaned(text: str) -> str:
    """``text`` with "\\n" at the end of lines, and no control characters but tabs.

    What else ends a line for Python ends one for the widget that shows it, too.
    """
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return _CONTROL.sub("", _NEWLINES.sub("\n", text))


def broken_mouse_report(typed: str) -> int:
    """How many characters at the end of ``typed`` are a report of the mouse, 0 if none.

    VS Code's terminal sends some with NaN for a place; they are no report to anybody, and so come
    as keys.
    """
    match = _BROKEN_REPORT.search(typed, max(0, len(typed) - 40))
    return len(match[0]) if match is not None and "NaN" in match[0] else 0
