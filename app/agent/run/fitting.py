"""Which files the shell puts in the place of a pattern, such as ``src/*.py``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

_MOST: Final = 2_000
"""Names that are looked at."""
_SIGNS: Final = re.compile(r"[*?\[]")


class TooMany(Exception):
    """More names than are looked at."""


def fitting(pattern: str, folder: Path, *, is_quoted: bool) -> list[Path]:
    """The files and folders that ``pattern`` stands for in ``folder``, and perhaps some more: of
    sets in brackets, and with ``is_quoted``, where it is not known which signs are meant, all that
    begin alike. As they are called, links not followed.

    Raises TooMany.
    """
    found = [Path(pattern[:1] if pattern.startswith("/") else folder)]
    left = _MOST
    for part in pattern.split("/"):
        if part in ("", "."):
            continue
        if not _SIGNS.search(part):
            found = [one / part for one in found]
            continue
        if is_quoted or "[" in part:
            part = f"{_SIGNS.split(part, maxsplit=1)[0]}*"
        inner: list[Path] = []
        for one in found:
            for name in _names(one):
                left -= 1
                if left < 0:
                    raise TooMany
                if fnmatchcase(name, part) and name.startswith(".") == part.startswith("."):
                    inner.append(one / name)
        found = inner
    return [one for one in found if os.path.lexists(one)]


def _names(folder: Path) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            # The shell finds these two as well, for what begins with a dot.
            yield from (".", "..")
            yield from (entry.name for entry in entries)
    except OSError:
        return
