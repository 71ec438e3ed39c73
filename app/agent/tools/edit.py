"""The tool that replaces a piece of a file by another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gemma_local.app.agent.budget import shortened
from gemma_local.app.agent.files.likeness import nearest_lines
from gemma_local.app.agent.files.matching import Ambiguous, Level, Matched, match
from gemma_local.app.agent.files.reading import data_of, text_in
from gemma_local.app.agent.files.text_file import TextFile, digest_of
from gemma_local.app.agent.files.workspace import Place
from gemma_local.app.agent.tool import Step, ToolProblem
from gemma_local.app.agent.tools.arguments import declared, flag_of, text_of
from gemma_local.app.agent.tools.change import changed, check_placeholder, check_writable
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.models.message import Tool as Declaration
from gemma_local.models.message import Value

_HOW: Final[dict[Level, str]] = {
    "exact": "",
    "line ends": ", matched but for blanks at the ends of lines",
    "line numbers": ", matched without the line numbers in old",
    "indentation": ", matched and indented as the file is",
    "blanks": ", matched but for blanks and line breaks",
    "similar": ", matched lines that are only similar to old: check them",
}
_TELLING: Final = 8
"""Characters of a new text that is recognised in the file."""
_LINE: Final = 200


class Edit:
    """``edit(path, old, new, all)``."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def declaration(self) -> Declaration:
        """As the model reads it."""
        return declared(
            "edit",
            "Replace a piece of a file that was read. One place a call.",
            path=("string", ""),
            old=("string", "exact lines of the file, enough to be unique, without numbers"),
            new=("string", "what replaces them, complete"),
            all=("boolean?", "replace every occurrence"),
        )

    def step(self, arguments: Mapping[str, Value]) -> Step:
        """Raises ToolProblem."""
        old = text_of(arguments, "old").replace("\r\n", "\n")
        new = text_of(arguments, "new", "").replace("\r\n", "\n")
        every = flag_of(arguments, "all")
        kit = self._kit
        place = kit.workspace.writing(text_of(arguments, "path"))
        check_writable(place)
        data = data_of(kit.workspace, place, remedy="A new file is made with write.")
        file = text_in(data, place)
        kit.seen.check(place.path, place.shown, digest_of(data))
        if not old.strip():
            raise ToolProblem(
                '"old" is empty. To add lines, give a line beside them as old, and it with them as'
                " new; to fill an empty file, use write."
            )
        if old == new:
            raise ToolProblem(f"old and new are the same: {place.shown} was not changed.")
        check_placeholder(new, file.text)
        found = match(file.text, old, new, every=every)
        if not isinstance(found, Matched):
            raise ToolProblem(
                _where(found, place, every=every)
                if isinstance(found, Ambiguous)
                else _nowhere(file, old, new, place)
            )
        places = f", {len(found.spans)} places" if len(found.spans) > 1 else ""
        after = file.replaced(found.spans, found.texts)
        return changed(kit, place, data, file, after, note=places + _HOW[found.level])


def _where(found: Ambiguous, place: Place, *, every: bool) -> str:
    lines = ", ".join(map(str, found.lines))
    remedy = "Give more of the lines around it"
    if found.level == "exact" and not every:
        remedy += ", or all=true to change every one"
    return f'"old" is in {place.shown} several times, at lines {lines}. {remedy}.'


def _nowhere(file: TextFile, old: str, new: str, place: Place) -> str:
    """What is there instead, and what to do."""
    if len(new.strip()) >= _TELLING and (at := file.text.find(new.strip())) >= 0:
        line = file.text.count("\n", 0, at) + 1
        return (
            f'"old" is not in {place.shown}, but "new" is already there, at line {line}: this'
            " change seems to be applied. Go on with the next."
        )
    numbers = nearest_lines(file.lines, old.split("\n"))
    if not numbers:
        return f'"old" is not in {place.shown}, nor anything like it. Read the file again.'
    near = "\n".join(f"{i + 1}|{shortened(file.lines[i], _LINE)}" for i in numbers)
    return (
        f'"old" is not in {place.shown}. The nearest lines there are:\n{near}\n'
        "Give them as they are, without numbers, or read the file again."
    )
