"""Files that a text names: ``@path``, ``@"a path with blanks"``, ``@path:10-40``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# Not within a word, where it belongs to an e-mail address.
_MENTION: Final = re.compile(
    r'(?<![^\s(\[{<"\'`,;])@(?:"(?P<quoted>[^"\n]+)"(?P<of_quoted>:\d+(?:-\d+)?)?|(?P<plain>[^\s"@][^\s"]*))'
)
_LINES: Final = re.compile(r":(\d{1,9})(?:-(\d{1,9}))?\Z")
_TRAILING: Final = ".,;:!?)]}>'`*"
_LOOKS_LIKE_A_PATH: Final = re.compile(r"[/\\]|\.\w{1,8}\Z")
_NEEDS_QUOTES: Final = re.compile(r'[\s"]|[.,;:!?)\]}>\'`*]\Z|:\d+(?:-\d+)?\Z|\A@')
# Control characters, bytes that are no text, and the quote that surrounds a path.
_UNNAMEABLE: Final = re.compile('["\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]')


@dataclass(frozen=True, slots=True)
class Mention:
    """What stands behind an @. ``path`` is as written, ``target`` where that is, None where there
    is nothing; ``lines`` from first to last, counted from 1."""

    path: str
    target: Path | None
    lines: tuple[int, int] | None = None

    @property
    def looks_meant(self) -> bool:
        """Whether it must have been meant as a file, also where there is none."""
        return self.target is not None or bool(_LOOKS_LIKE_A_PATH.search(self.path))


def mentions(text: str, folder: Path) -> Iterator[Mention]:
    """What ``text`` mentions, in order. Looks whether files are there."""
    for match in _MENTION.finditer(text):
        if (quoted := match["quoted"]) is not None:
            yield Mention(quoted, _there(quoted, folder), _lines(match["of_quoted"] or ""))
        else:
            yield _plain_mention(match["plain"], folder)


def mention_of(path: str) -> str:
    """How ``path`` is mentioned."""
    return f'@"{path}"' if _NEEDS_QUOTES.search(path) else f"@{path}"


def is_nameable(path: str) -> bool:
    """Whether ``path`` can be mentioned."""
    return _UNNAMEABLE.search(path) is None


def shown_path(path: Path, folder: Path) -> str:
    """``path`` as a person would write it in ``folder``: relative where it lies in it."""
    for base, prefix in ((folder, ""), (_home(), "~/")):
        if base is not None and path.is_relative_to(base):
            return prefix + path.relative_to(base).as_posix()
    return str(path)


def _plain_mention(word: str, folder: Path) -> Mention:
    """A sentence goes on behind a path: of what could be one, the longest that is there."""
    rest = word
    while True:
        # A file's name may end like lines do.
        if (target := _there(rest, folder)) is not None:
            return Mention(rest, target)
        if match := _LINES.search(rest):
            path = rest[: match.start()]
            if (target := _there(path, folder)) is not None:
                return Mention(path, target, _lines(match[0]))
        if rest[-1] not in _TRAILING or len(rest) == 1:
            return Mention(word.rstrip(_TRAILING) or word, None)
        rest = rest[:-1]


def _lines(written: str) -> tuple[int, int] | None:
    if (match := _LINES.match(written)) is None:
        return None
    first = max(1, int(match[1]))
    last = max(1, int(match[2] or first))
    return min(first, last), max(first, last)


def _there(path: str, folder: Path) -> Path | None:
    # A name may begin like somebody's home.
    for expand in (Path, os.path.expanduser):
        try:
            target = folder / expand(path)
            if target.exists():
                return target
        except (OSError, ValueError):
            # Too long, or with a NUL in it.
            return None
    return None


def _home() -> Path | None:
    try:
        return Path.home()
    except RuntimeError:
        return None
