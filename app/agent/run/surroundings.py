"""Where a command runs, and where its paths lead."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gemma_local.app.agent.run.command_line import SimpleCommand
from gemma_local.app.agent.run.shell_reader import Word

_VARIABLE: Final = re.compile(
    r"\"?\$(?:\{(?P<braced>\w+)\}|(?P<plain>\w+))\"?(?P<rest>/[^\"]*)?\"?\Z"
)
_DEVICES: Final = ("/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/zero")
_GOING: Final = ("cd", "pushd", "chdir")


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``roots`` are the folders of the workspace, ``folder`` the one in which a command begins,
    ``temporary`` one that it may write to as well. All are absolute and free of links.

    ``is_confined``: a sandbox sees to it that nothing else is written. ``readable`` are folders
    elsewhere that may be looked at.
    """

    roots: tuple[Path, ...]
    folder: Path
    temporary: Path
    is_confined: bool = False
    readable: tuple[Path, ...] = ()

    def is_inside(self, path: Path) -> bool:
        """Whether a path lies in the workspace, or is temporary."""
        real = Path(os.path.realpath(path))
        return any(real.is_relative_to(root) for root in (*self.roots, self.temporary))

    def path_of(self, word: Word, folder: Path) -> Path | None:
        """Where a word leads from ``folder``, None if that is only known when it runs. Of a pattern
        it is the folder in which files are looked for."""
        text = word.text
        if not word.is_known:
            text = self._with_known_variable(text)
            if not text:
                return None
        if word.has_pattern:
            text = re.split(r"[*?\[]", text, maxsplit=1)[0]
            text = text.rpartition("/")[0] + "/" if "/" in text else "."
        if text.startswith("~") and not word.is_quoted:
            if text != "~" and not text.startswith("~/"):
                return None
            text = str(Path.home()) + text[1:]
        return Path(os.path.normpath(folder / text)) if "\0" not in text else None

    def _with_known_variable(self, text: str) -> str:
        found = _VARIABLE.match(text)
        if found is None:
            return ""
        match found["braced"] or found["plain"]:
            case "HOME":
                base = Path.home()
            case "PWD":
                base = self.folder
            case "TMPDIR":
                base = self.temporary
            case _:
                return ""
        rest = found["rest"] or ""
        # Another variable behind it could lead anywhere.
        return "" if set("$`*?[") & set(rest) else str(base) + rest

    def folders(
        self, commands: Sequence[SimpleCommand], *, in_order: bool = False
    ) -> tuple[Path | None, ...]:
        """All folders in which a command of the line may run; None among them if one of these is
        only known then. ``in_order``: only those for which each change of the folder happens, and
        works."""
        found: list[Path | None] = [self.folder]
        last: Path | None = self.folder
        for command in commands:
            if command.program not in _GOING or not command.is_sure:
                continue
            targets = [word for word in command.arguments if not word.text.startswith("-")]
            if any(word.text == "-" for word in command.arguments):
                continue
            for base in [last] if in_order else list(found):
                if not targets:
                    found.append(Path.home())
                elif base is not None:
                    found.append(self.path_of(targets[0], base))
            last = found[-1]
            found = list(dict.fromkeys(found))
            if len(found) > 30:
                return (None,)
        return tuple(found)

    def leads_out(self, word: Word, folders: Sequence[Path | None]) -> str:
        """Why what is written to ``word`` may be outside of the workspace, "" if it is not. What is
        only known when it runs is left to the sandbox, if there is one."""
        if word.text in _DEVICES or re.fullmatch(r"/dev/fd/\d+", word.text):
            return ""
        unknown = "" if self.is_confined else "where is only known when it runs"
        for folder in folders:
            is_anchored = word.text.startswith(("/", "~", "$", '"$'))
            path = self.path_of(word, folder or self.folder)
            if path is None or (folder is None and not is_anchored):
                if unknown:
                    return unknown
            elif not self.is_inside(path):
                return str(path)
        return ""

    def shows(self, word: Word, folders: Sequence[Path | None]) -> bool:
        """Whether what a word may name can be looked at without asking."""
        for folder in folders:
            path = self.path_of(word, folder) if folder is not None else None
            if path is None:
                return False
            real = Path(os.path.realpath(path))
            if not self.is_inside(path) and not any(map(real.is_relative_to, self.readable)):
                return False
        return True
