"""How a context is shared out between what is read and what is to be written.

All reserves are parts of the window: a fixed one that is right for 128k makes 8k compact after
every message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

REPLY_SHARE: Final = 8
REPLY_LEAST: Final = 1024
REPLY_MOST: Final = 8192

_COMPACT_AT: Final = ((8_192, 70), (32_768, 75))
_COMPACT_AT_ABOVE: Final = 80
_WARN_BEFORE: Final = 10
WORTHWHILE_PERCENT: Final = 5
"""A compaction that frees less of the window than this is not tried again."""


@dataclass(frozen=True, slots=True)
class Window:
    """The context of ``size`` tokens, and the lines in it."""

    size: int

    @property
    def reply(self) -> int:
        """Tokens kept for the reply: an eighth, 1,024 at least where there is as much, and 8,192
        at most."""
        least = min(REPLY_LEAST, self.size // 4)
        return max(least, min(self.size // REPLY_SHARE, REPLY_MOST))

    @property
    def room(self) -> int:
        """Tokens that a prompt may have if the reply is to have its reserve."""
        return self.size - self.reply

    @property
    def compact_at(self) -> int:
        """A prompt of so many tokens is compacted: 70 % of a small window, 80 % of a large one."""
        percent = next((p for size, p in _COMPACT_AT if self.size <= size), _COMPACT_AT_ABOVE)
        return min(self.size * percent // 100, self.room)

    @property
    def warn_at(self) -> int:
        """A prompt of so many tokens is worth a warning."""
        return self.compact_at - self.size * _WARN_BEFORE // 100

    @property
    def worthwhile(self) -> int:
        """Tokens that a compaction must free to be one."""
        return max(self.size * WORTHWHILE_PERCENT // 100, 1)


@dataclass(frozen=True, slots=True)
class ContextUse:
    """Tokens of the next prompt by what they are for.

    ``files`` is text that came from files and from standard input, ``history`` all other messages.
    """

    window: Window
    system: int = 0
    tools: int = 0
    files: int = 0
    history: int = 0

    @property
    def prompt(self) -> int:
        """Tokens of the whole prompt."""
        return self.system + self.tools + self.files + self.history

    @property
    def free(self) -> int:
        """Tokens that are neither used nor kept for the reply; negative when they overlap."""
        return self.window.size - self.window.reply - self.prompt

    @property
    def share(self) -> float:
        """The part of the window that the prompt takes, 0 to 1."""
        return self.prompt / self.window.size

    def line(self) -> str:
        """One line for a person."""
        parts = (
            ("system", self.system),
            ("tools", self.tools),
            ("files", self.files),
            ("history", self.history),
            ("kept for the reply", self.window.reply),
        )
        shown = " · ".join(f"{name} {count}" for name, count in parts if count)
        return f"context {self.prompt} of {self.window.size} ({self.share:.0%}) · {shown}"
