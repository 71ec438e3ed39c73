"""What could stand in the place of a token."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gemma_local.app.prompt_history import containing
from gemma_local.app.sessions.titles import one_line
from gemma_local.app.tui.composer.token import Token
from gemma_local.app.workspace.browse import entries_of
from gemma_local.app.workspace.fuzzy import Candidates, best_match
from gemma_local.app.workspace.mention import mention_of
from gemma_local.app.written import Written

if TYPE_CHECKING:
    from gemma_local.app.tui.commands.command import Command

_MOST_FILES = 50
_LONGEST_LABEL = 200


@dataclass(frozen=True, slots=True)
class Suggestion:
    """One line of what is offered.

    ``insert`` takes the place of the token, or ``written`` that of the whole text. ``marks`` are
    indices of characters of ``label`` that were typed.
    """

    insert: str
    label: str
    hint: str = ""
    marks: tuple[int, ...] = ()
    written: Written | None = None


def of_files(query: str, files: Candidates) -> list[Suggestion]:
    """Files whose path has all characters of ``query``, the best first."""
    return [
        Suggestion(f"{mention_of(match.text)} ", match.text, marks=match.positions)
        for match in files.best(query.replace("\\", "/"), _MOST_FILES)
    ]


def of_entries(query: str, folder: Path) -> list[Suggestion]:
    """What lies where a path that says so itself leads to, such as ~/ or ../; of a folder, one can
    go on with what is in it."""
    found = []
    for match in Candidates(entries_of(query, folder)).best(query, _MOST_FILES):
        is_folder = match.text.endswith("/")
        # The quote is closed when the path is at its end.
        insert = mention_of(match.text).removesuffix('"') if is_folder else mention_of(match.text)
        end = "" if is_folder else " "
        found.append(Suggestion(f"{insert}{end}", match.text, marks=match.positions))
    return found


def of_commands(token: Token, commands: Sequence[Command]) -> list[Suggestion]:
    """Commands that begin with what is typed, then those that have another name which does, then
    those that contain its characters; or the values of an argument."""
    if token.kind == "argument":
        return _of_values(token, commands)
    query = token.query.lower()
    ranked: list[tuple[float, Suggestion]] = []
    for command in commands:
        also = [alias for alias in command.aliases if query and alias.startswith(query)]
        # One character is in most names.
        match = best_match(query, command.name) if len(query) > 1 else None
        if command.name.startswith(query):
            rank, marks = 0.0, tuple(range(len(query)))
        elif also:
            rank, marks = 1.0, ()
        elif match is not None:
            rank, marks = 2.0 + 1 / (1 + abs(match.score)), match.positions
        else:
            continue
        other = f" (/{also[0]})" if also and rank else ""
        label = f"/{command.name} {command.argument}".rstrip()
        insert = f"/{command.name}{' ' if command.argument else ''}"
        hint = f"{command.summary}{other}"
        ranked.append((rank, Suggestion(insert, label, hint, tuple(i + 1 for i in marks))))
    ranked.sort(key=lambda item: item[0])
    return [suggestion for _, suggestion in ranked]


def of_history(query: str, texts: Sequence[Written]) -> list[Suggestion]:
    """Texts that contain ``query``, the newest first."""
    found = []
    for written in containing(query, texts):
        text = written.text
        # The place that was found is to be seen, also in a long text.
        at = text.lower().find(query.lower())
        label = one_line(text[max(0, at - _LONGEST_LABEL // 4) : at + _LONGEST_LABEL])
        start = label.lower().find(one_line(query).lower()) if query else -1
        marks = tuple(range(start, start + len(one_line(query)))) if start >= 0 else ()
        lines = text.count("\n") + 1
        hint = f"{lines:,} lines" if lines > 1 else ""
        found.append(Suggestion("", label, hint, marks, written))
    return found


def _of_values(token: Token, commands: Sequence[Command]) -> list[Suggestion]:
    for command in commands:
        if token.command in (command.name, *command.aliases):
            marks = tuple(range(len(token.query)))
            return [Suggestion(value, value, marks=marks) for value in command.values(token.query)]
    return []
