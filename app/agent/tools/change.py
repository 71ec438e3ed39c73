"""A change to one file: checked, shown, and then made, if the file is still as it was."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from gemma_local.app.agent.budget import shortened
from gemma_local.app.agent.checkpoints import NotKept
from gemma_local.app.agent.file_diff import FileDiff
from gemma_local.app.agent.files.checking import Linter, syntax_error
from gemma_local.app.agent.files.open_folder import OpenFolder
from gemma_local.app.agent.files.placeholders import placeholder_in
from gemma_local.app.agent.files.reading import data_if_there
from gemma_local.app.agent.files.text_file import NotText, TextFile, check_name, digest_of
from gemma_local.app.agent.files.workspace import Place
from gemma_local.app.agent.tool import Effect, Result, ToolProblem
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.app.stop import Stop

_AROUND: Final = 3
_MOST_LINES: Final = 20
_LINE: Final = 200
_MOST_COMPARED: Final = 4_000_000
"""Pairs of lines: a second, at worst."""


@dataclass(frozen=True, slots=True)
class Change:
    """``before`` and ``data`` are None where there is no file yet. ``note`` says how the place was
    found; ``is_whole``: the model gave all of the content, and need not be shown it."""

    kit: Kit
    place: Place
    data: bytes | None
    before: TextFile | None
    after: TextFile
    note: str = ""
    is_whole: bool = False

    @property
    def diff(self) -> FileDiff:
        """For the person to see before."""
        before = None if self.before is None else self.before.text
        return FileDiff(self.place.shown, before, self.after.text)

    @property
    def effect(self) -> Effect:
        """Changing one file."""
        reasons = [self.place.why] if self.place.why else []
        if self._is_read_only():
            reasons.append("is read-only")
        return Effect(
            "edit",
            self.place.shown + (" (new)" if self.before is None else ""),
            self.diff,
            why=", ".join(reasons),
            rule=self.place.rule("edit"),
            touches=(self.place.path,),
        )

    def carry_out(self, stop: Stop, on_output: Callable[[str], None]) -> Result:
        """Raises ToolProblem, above all if the file changed while the person was asked."""
        place, kit = self.place, self.kit
        content = self._encoded()
        linter = Linter(place.path, place.base or place.path.parent)
        with kit.seen.lock(place.path):
            if data_if_there(place) != self.data:
                raise ToolProblem(
                    f"{place.shown} has changed just now. Read it again, then change it."
                )
            linter.look(stop)
            self._make(content)
            kit.seen.changed(
                place.path, digest_of(content), len(self.after.lines), is_known=self.is_whole
            )
        added, removed = self._counts()
        what = "new file" if self.before is None else "changed"
        lines = [f"{place.shown}: {what}, +{added} -{removed}{self.note}"]
        if not self.is_whole:
            lines.append(snippet(self.after.lines, *self._changed_lines()))
        lines += self._findings(linter, stop)
        return Result("\n".join(lines), f"+{added} -{removed}", diff=self.diff)

    def _encoded(self) -> bytes:
        try:
            return self.after.encoded()
        except UnicodeEncodeError as error:
            code = ord(error.object[error.start])
            raise ToolProblem(
                f"{self.place.shown} is {error.encoding.upper()}, which has no U+{code:04X}."
                " Use an escape for it, or give the whole file with write, as UTF-8."
            ) from error

    def _make(self, content: bytes) -> None:
        try:
            if self.kit.checkpoints is not None:
                self.kit.checkpoints.keep(self.place.path, content)
            with OpenFolder(self.place.path.parent, create=True) as folder:
                folder.write(self.place.path.name, content)
        except NotKept as error:
            raise ToolProblem(f"{error}.") from error
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise ToolProblem(f"{self.place.shown} was not changed: {reason}.") from error

    def _findings(self, linter: Linter, stop: Stop) -> list[str]:
        """What is wrong with the file now."""
        if broken := syntax_error(self.place.path, self.after.text):
            was = "" if self.before is None else syntax_error(self.place.path, self.before.text)
            said = f"Syntax error, {broken}."
            return [said + (" There was one before, too." if was else " Please fix it.")]
        found = linter.new(stop)
        return ["ruff:", *found] if found else []

    def _counts(self) -> tuple[int, int]:
        """Lines added and removed; of the part between what is equal at both ends all, if it is too
        long to be compared."""
        old, new = self._parts()
        if len(old) * len(new) > _MOST_COMPARED:
            return len(new), len(old)
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        same = sum(block.size for block in matcher.get_matching_blocks())
        return len(new) - same, len(old) - same

    def _changed_lines(self) -> tuple[int, int]:
        """The first line that is new and the last, by index."""
        _, new = self._parts()
        front = _equal_lines(self._old, self.after.lines)
        return front, front + max(len(new), 1) - 1

    def _parts(self) -> tuple[list[str], list[str]]:
        """The lines before and after, without those that are equal at both ends."""
        old, new = self._old, self.after.lines
        front = _equal_lines(old, new)
        old, new = old[front:], new[front:]
        back = _equal_lines(old[::-1], new[::-1])
        return old[: len(old) - back], new[: len(new) - back]

    @property
    def _old(self) -> list[str]:
        return [] if self.before is None else self.before.lines

    def _is_read_only(self) -> bool:
        # Replacing a file needs no permission to write it: that it was meant is asked for instead.
        found = _stat(self.place)
        return found is not None and not stat.S_IMODE(found.st_mode) & 0o222


def changed(
    kit: Kit,
    place: Place,
    data: bytes | None,
    before: TextFile | None,
    after: TextFile,
    *,
    note: str = "",
    is_whole: bool = False,
) -> Change:
    """Raises ToolProblem for a change that is none."""
    if before is not None and after == before:
        raise ToolProblem(f"This changes nothing: {place.shown} holds exactly that already.")
    return Change(kit, place, data, before, after, note + _links(place), is_whole)


def check_placeholder(text: str, known: str) -> None:
    """Raises ToolProblem if a line of ``text`` stands for code that was left out."""
    if (line := placeholder_in(text, known)) is not None:
        raise ToolProblem(
            f'"{shortened(line, 80)}" would stand in the file as it is. Write out all lines, or'
            " change only a few of them with edit."
        )


def check_writable(place: Place) -> None:
    """Raises ToolProblem for a file that is not text by its name."""
    try:
        check_name(place.path)
    except NotText as error:
        raise ToolProblem(f"{place.shown} {error}: only text can be written.") from error


def snippet(lines: list[str], first: int, last: int) -> str:
    """Lines ``first`` to ``last``, by index, with three before and behind, as ``read`` shows them;
    of many the ends."""
    start, end = max(0, first - _AROUND), min(len(lines), last + _AROUND + 1)
    numbers = list(range(start, end))
    shown = [f"{i + 1}|{shortened(lines[i], _LINE)}" for i in numbers]
    if len(shown) > _MOST_LINES:
        half = _MOST_LINES // 2
        shown = [*shown[:half], "...", *shown[-half:]]
    return "\n".join(shown)


def _equal_lines(one: list[str], other: list[str]) -> int:
    """How many lines are equal at the start."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))


def _links(place: Place) -> str:
    found = _stat(place)
    if found is None or found.st_nlink < 2:
        return ""
    return f" (it had {found.st_nlink} names: the others keep the old content)"


def _stat(place: Place) -> os.stat_result | None:
    try:
        return place.path.lstat()
    except OSError:
        return None
