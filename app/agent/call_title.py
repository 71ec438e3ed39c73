"""What a call is about, in one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_TELLING: Final = ("path", "command", "pattern")
_LONGEST: Final = 100


def call_title(arguments: Mapping[str, object]) -> str:
    """The argument that says most: a path, a command, a pattern, else the first text."""
    texts = [arguments.get(name) for name in _TELLING] + list(arguments.values())
    line = " ".join(next((text for text in texts if isinstance(text, str)), "").split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 3]}..."
