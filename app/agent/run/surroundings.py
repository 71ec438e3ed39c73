"""Where a command runs, and where its paths lead."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gemma_local.app.agent.run.command import SimpleCommand
from gemma_local.app.agent.run.fitting import TooMany, fitting
from gemma_local.app.agent.run.shell_reader import Word
from gemma_local.app.workspace.sensitive import is_sensitive

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
        """Where a word leads from ``folder``, as it is written: a ".." behind a link leads out of
        the folder that the link leads to. None if that is only known when it runs. Of a pattern it
        is the folder in which files are looked for."""
        text = self._with_home(word, folder)
        if word.has_pattern and text:
            text = re.split(r"[*?\[]", text, maxsplit=1)[0]
            text = text.rpartition("/")[0] + "/" if "/" in text else "."
        return folder / text if text is not None and "\0" not in text else None

    def paths_of(self, word: Word, folder: Path) -> list[Path] | None:
        """As ``path_of``; of a pattern also all that fits it now, None if that is too much."""
        path, text = self.path_of(word, folder), self._with_home(word, folder)
        if path is None or text is None or not word.has_pattern:
            return None if path is None else [path]
        try:
            return [path, *fitting(text, folder, is_quoted=word.is_quoted)]
        except TooMany:
            return None

    def _with_home(self, word: Word, folder: Path) -> str | None:
        """The path that a word is, None if that is only known when it runs."""
        if not word.is_known:
            return self._with_known_variable(word.text, folder) or None
        if not word.text.startswith("~"):
            return word.text
        # Perhaps it is in quotes and means nothing; but they may also stand behind it.
        is_own = word.text == "~" or word.text.startswith("~/")
        return str(Path.home()) + word.text[1:] if is_own else None

    def _with_known_variable(self, text: str, folder: Path) -> str:
        found = _VARIABLE.match(text)
        if found is None:
            return ""
        match found["braced"] or found["plain"]:
            case "HOME":
                base = Path.home()
            case "PWD":
                base = folder
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
                    found += _gone_to(self.path_of(targets[0], base))
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
                shown = Path(os.path.normpath(path))
                return os.path.realpath(path) if self.is_inside(shown) else str(shown)
        return ""

    def shows(self, word: Word, folders: Sequence[Path | None]) -> bool:
        """Whether what a word may name can be looked at without asking."""
        for folder in folders:
            paths = self.paths_of(word, folder) if folder is not None else None
            if paths is None or not all(map(self.is_shown, paths)):
                return False
        return True

    def is_shown(self, path: Path) -> bool:
        """Whether a file or folder can be looked at without asking, but for secrets in it."""
        real = Path(os.path.realpath(path))
        return self.is_inside(path) or any(map(real.is_relative_to, self.readable))

    def secret_of(self, word: Word, folders: Sequence[Path | None]) -> str:
        """A file that a word may name and that may hold secrets by its name, or by the name of what
        it leads to; "" if there is none."""
        for folder in folders:
            for path in (self.paths_of(word, folder) or ()) if folder is not None else ():
                for one in (Path(os.path.normpath(path)), Path(os.path.realpath(path))):
                    root = next((each for each in self.roots if one.is_relative_to(each)), None)
                    if is_sensitive(one.relative_to(root) if root is not None else one):
                        return str(one)
        return ""


def _gone_to(path: Path | None) -> list[Path | None]:
    """Where "cd" may lead: the shell takes ".." for the way back through a link, but with -P, and
    programs, for what lies above the folder that it leads to."""
    if path is None:
        return [None]
    back = Path(os.path.normpath(path))
    return [back] if os.path.realpath(back) == os.path.realpath(path) else [path, back]
