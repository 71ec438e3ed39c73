"""What a search finds, by ripgrep where there is one and else by our own searcher."""

from __future__ import annotations

import base64
import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any, Final

from gemma_local.app.agent.budget import HIT_SHOWN
from gemma_local.app.agent.files.searcher import MOST_BYTES, Wish
from gemma_local.app.stop import Stop
from gemma_local.app.workspace.command import Command, Ended
from gemma_local.app.workspace.listing import SKIPPED
from gemma_local.app.workspace.programs import installed
from gemma_local.app.workspace.sensitive import is_sensitive

SECONDS: Final = 20.0
"""Time that a search may take."""

_MOST_OUTPUT: Final = 20_000_000
_BEFORE: Final = 100
"""Characters in front of what was found, of a line that is too long to be shown."""


@dataclass(slots=True)
class Hits:
    """``lines`` are "path:number: text", the first ``most``; ``count`` of all in ``files`` files.

    ``is_whole`` is false if the search did not come to its end; ``hides_secrets``: lines of files
    that may hold secrets were found, and left out. ``trouble`` is why the pattern could not be
    used.
    """

    most: int
    lines: list[str] = field(default_factory=list)
    count: int = 0
    files: set[str] = field(default_factory=set)
    is_whole: bool = True
    hides_secrets: bool = False
    trouble: str = ""


def find(wish: Wish, most: int, stop: Stop, *, shows_secrets: bool = False) -> Hits:
    """Look for a pattern. Stopping is no error: what was found until then is returned.

    Raises OSError if no search could be started.
    """
    hits = Hits(most)
    for command in _commands(wish):
        reader = _Reader(Hits(most), shows_secrets)
        ended = reader.run(command, Path(wish.folder), stop)
        hits = reader.hits
        hits.is_whole = not (ended.timed_out or reader.was_ended)
        if ended.status != 2 or hits.count or not hits.is_whole:
            return hits
        hits.trouble = reader.trouble
    return hits


def _commands(wish: Wish) -> list[list[str]]:
    own = [sys.executable, "-P", "-m", "gemma_local.app.agent.files.searcher", wish.to_json()]
    ripgrep = installed("rg", but_not_in=(Path(wish.folder), Path(wish.root or wish.folder)))
    if ripgrep is None:
        return [own]
    # Its expressions lack what Python's have, such as looking back: then ours is asked.
    return [_ripgrep(ripgrep, wish), own]


def _ripgrep(program: str, wish: Wish) -> list[str]:
    command = [program, "--json", "--no-config", "--no-messages", "--smart-case", "--crlf"]
    # The files that git sees, as everywhere here: no other ignore files, and hidden ones too.
    command += ["--hidden", "--no-ignore-dot", "--no-require-git", "--sort=path"]
    command += [f"--max-filesize={MOST_BYTES}"]
    command += [f"--glob={glob}" for glob in wish.globs]
    if not wish.name:
        command += [f"--glob=!{folder}" for folder in sorted(SKIPPED)]
    if wish.is_literal:
        command.append("--fixed-strings")
    return [*command, "-e", wish.pattern, "--", f"./{wish.name}"]


class _Reader:
    """Takes a program's lines of JSON as they come."""

    def __init__(self, hits: Hits, shows_secrets: bool) -> None:
        self.hits = hits
        self.trouble = ""
        self._shows_secrets = shows_secrets
        self._rest = ""
        self._length = 0
        self._enough = Stop()

    @property
    def was_ended(self) -> bool:
        """Whether somebody stopped it, or there was more than anybody reads."""
        return self._enough.is_asked

    def run(self, command: Sequence[str], folder: Path, stop: Stop) -> Ended:
        """Raises OSError."""
        with stop.calling(self._enough.ask):
            run = Command(command, folder, timeout=SECONDS, on_output=self._hear)
            ended = run.run(self._enough)
        self._take(self._rest)
        return ended

    def _hear(self, text: str) -> None:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            self._take(line)
        self._length += len(text)
        if self._length > _MOST_OUTPUT:
            self._enough.ask()

    def _take(self, line: str) -> None:
        try:
            event = json.loads(line) if line.startswith("{") else None
            if event is None:
                self.trouble = _reason(line) or self.trouble
            elif event["type"] == "match":
                self._add(event["data"])
        except (ValueError, KeyError, TypeError):
            # Half a line, of a search that was ended.
            return

    def _add(self, data: Any) -> None:
        path = _text(data["path"]).removeprefix("./").replace("\\", "/")
        if not self._shows_secrets and is_sensitive(PurePath(path)):
            self.hits.hides_secrets = True
            return
        self.hits.count += 1
        self.hits.files.add(path)
        if len(self.hits.lines) < self.hits.most:
            line = _text(data["lines"]).rstrip("\r\n")
            start = data["submatches"][0]["start"] if data["submatches"] else 0
            shown = _part(line, len(line.encode()[:start].decode("utf-8", "ignore")))
            self.hits.lines.append(f"{path}:{data['line_number']}: {shown}")


def _text(value: dict[str, str]) -> str:
    """A text of ripgrep's, which gives bytes that are no UTF-8 in base64."""
    if "text" in value:
        return value["text"]
    return base64.b64decode(value["bytes"]).decode("latin-1")


def _part(line: str, at: int) -> str:
    """A line, or as much of it around ``at`` as is shown."""
    if len(line) <= HIT_SHOWN:
        return line
    start = max(0, min(at - _BEFORE, len(line) - HIT_SHOWN))
    end = start + HIT_SHOWN
    return f"{'...' if start else ''}{line[start:end]}{'...' if end < len(line) else ''}"


def _reason(line: str) -> str:
    found = re.match(r"\s*error: (.+)", line)
    return found[1] if found else ""
