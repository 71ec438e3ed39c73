"""Whether a file that was changed can still be read by what it is for."""

from __future__ import annotations

import ast
import json
import re
import tomllib
import warnings
from collections import Counter
from pathlib import Path, PurePath
from typing import Final

from gemma_local.app.stop import Stop
from gemma_local.app.workspace.command import Command
from gemma_local.app.workspace.programs import installed

_LONGEST: Final = 1_000_000
"""Characters of a file that is parsed."""
_SECONDS: Final = 5.0
_SHOWN: Final = 5
_RUFF: Final = ("check", "--quiet", "--no-cache", "--no-fix", "--force-exclude", "--output-format")
_FINDING: Final = re.compile(r":(?P<line>\d+):\d+: (?P<what>\S+ .+)\Z")


def syntax_error(path: PurePath, text: str) -> str:
    """What is wrong with the syntax of a Python, JSON or TOML file, with its line; "" if nothing,
    or if nobody here can tell."""
    if len(text) > _LONGEST:
        return ""
    try:
        match path.suffix.lower():
            case ".py" | ".pyi":
                with warnings.catch_warnings():
                    # They would go to the screen, and are not what was asked.
                    warnings.simplefilter("ignore")
                    ast.parse(text)
            case ".json":
                json.loads(text)
            case ".toml":
                tomllib.loads(text)
    except SyntaxError as error:
        return f"line {error.lineno or 1}: {error.msg}"
    except json.JSONDecodeError as error:
        return f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        # Of TOML the sentence says the line itself.
        return str(error) or "it is nested too deeply"
    return ""


class Linter:
    """Ruff's findings in one file, where the project has settings for ruff and the person has it.

    Not the project's own ruff: a program from a workspace is not run without asking.
    """

    def __init__(self, path: Path, root: Path) -> None:
        """``path`` is a file below ``root``."""
        self._path = path
        self._program = None
        if path.suffix in (".py", ".pyi") and _is_configured(path, root):
            self._program = installed("ruff", but_not_in=(root,))
        self._before: Counter[str] = Counter()

    def look(self, stop: Stop) -> None:
        """Remember what it finds before the change."""
        self._before = Counter(what for _, what in self._findings(stop))

    def new(self, stop: Stop) -> list[str]:
        """What it finds now and did not before, as "line 3: F821 Undefined name `x`"; the first
        few."""
        before = self._before.copy()
        found = []
        for line, what in self._findings(stop):
            if before[what]:
                before[what] -= 1
            else:
                found.append(f"line {line}: {what}")
        more = len(found) - _SHOWN
        return found if more <= 0 else [*found[:_SHOWN], f"and {more} more"]

    def _findings(self, stop: Stop) -> list[tuple[int, str]]:
        if self._program is None or not self._path.exists():
            return []
        command = [self._program, *_RUFF, "concise", "--", str(self._path)]
        try:
            ended = Command(command, self._path.parent, timeout=_SECONDS).run(stop)
        except OSError:
            return []
        # 0 is nothing found, 1 something; all else is ruff's own trouble.
        if ended.status not in (0, 1) or ended.timed_out or ended.stopped:
            return []
        matches = map(_FINDING.search, ended.output.splitlines())
        return [(int(found["line"]), found["what"]) for found in matches if found]


def _is_configured(path: Path, root: Path) -> bool:
    """Whether a folder from the file's up to the root has settings for ruff."""
    for folder in path.parents:
        if any((folder / name).is_file() for name in ("ruff.toml", ".ruff.toml")):
            return True
        try:
            settings = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            settings = {}
        tools = settings.get("tool")
        if isinstance(tools, dict) and "ruff" in tools:
            return True
        if folder == root:
            break
    return False
