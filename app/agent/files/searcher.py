"""Looks for a pattern in a folder's files, for machines without ripgrep, and says what it finds as
ripgrep does with ``--json``.

A process of its own: a regular expression can take longer than the world is old, and holds
everything else in its process while it does. Run as
``python -P -m gemma_local.app.agent.files.searcher JSON`` with the fields of ``Wish`` as an object.
Ends with 0 if something was found, 1 if nothing was, 2 if the pattern is no regular expression.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from gemma_local.app.agent.files.text_file import NotText, TextFile
from gemma_local.app.workspace.listing import list_files

MOST_BYTES: Final = 4_000_000
"""Of a file that is looked into."""

_MOST_FILES: Final = 200_000
_LIST_SECONDS: Final = 10.0
_BRACES: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")
_ESCAPED: Final = re.compile(r"\\.")


@dataclass(frozen=True, slots=True)
class Wish:
    """``folder`` is absolute; ``name`` is one file in it, "" for all; ``globs`` are as gitignore
    has them, without braces. A ``pattern`` in lower case finds any. ``root`` is the workspace that
    the folder lies in, "" if it is one itself."""

    folder: str
    pattern: str
    name: str = ""
    globs: tuple[str, ...] = ()
    is_literal: bool = False
    root: str = ""

    def to_json(self) -> str:
        """What ``main`` takes."""
        return json.dumps(asdict(self))


def unbraced(glob: str) -> tuple[str, ...]:
    """A glob with choices in braces as several without."""
    found: list[str] = []
    waiting = [glob]
    while waiting and len(found) < 100:
        one = waiting.pop(0)
        if match := _BRACES.search(one):
            parts = match[1].split(",")
            # One to its end before the next: there may be more than anybody waits for.
            waiting[:0] = [f"{one[: match.start()]}{part}{one[match.end() :]}" for part in parts]
        else:
            found.append(one)
    return tuple(found)


def expression(wish: Wish) -> re.Pattern[str]:
    """Raises re.error."""
    pattern = re.escape(wish.pattern) if wish.is_literal else wish.pattern
    plain = wish.pattern if wish.is_literal else _ESCAPED.sub("", wish.pattern)
    return re.compile(pattern, re.NOFLAG if plain != plain.lower() else re.IGNORECASE)


def search(wish: Wish) -> Iterator[str]:
    """Lines of JSON, one a hit, in the order of paths. Raises re.error, TooLarge."""
    sought = expression(wish)
    folder = Path(wish.folder)
    names = [wish.name] if wish.name else sorted(_chosen(wish), key=_parts)
    for name in names:
        try:
            path = folder / name
            if path.stat().st_size > MOST_BYTES or (path.is_symlink() and not wish.name):
                continue
            lines = TextFile.decoded(path.read_bytes()).lines
        except (OSError, NotText):
            continue
        for number, line in enumerate(lines, start=1):
            if found := sought.search(line):
                yield _hit(name, number, line, found)


def _chosen(wish: Wish) -> Sequence[str]:
    globs = wish.globs
    root = Path(wish.root) if wish.root else None
    paths = list_files(Path(wish.folder), most=_MOST_FILES, seconds=_LIST_SECONDS, root=root).paths
    if not globs:
        return paths
    import pathspec

    spec = pathspec.GitIgnoreSpec.from_lines(glob for glob in globs if not glob.startswith("!"))
    out = pathspec.GitIgnoreSpec.from_lines(glob[1:] for glob in globs if glob.startswith("!"))
    is_open = len(out) == len(globs)
    return [p for p in paths if (is_open or spec.match_file(p)) and not out.match_file(p)]


def _parts(path: str) -> list[str]:
    return path.split("/")


def _hit(name: str, number: int, line: str, found: re.Match[str]) -> str:
    start = len(line[: found.start()].encode("utf-8", "replace"))
    data = {
        "path": {"text": name},
        "lines": {"text": line + "\n"},
        "line_number": number,
        "submatches": [{"start": start}],
    }
    return json.dumps({"type": "match", "data": data})


def main(arguments: Sequence[str]) -> int:
    """Print what is found; the exit status."""
    plain = json.loads(arguments[0])
    wish = Wish(**{**plain, "globs": tuple(plain["globs"])})
    status = 1
    try:
        for line in search(wish):
            status = 0
            print(line, flush=True)
    except (re.error, OverflowError, RecursionError) as error:
        print(f"error: {error}")
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
