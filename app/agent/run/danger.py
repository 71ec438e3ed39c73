"""Why a command must be asked for, whatever mode the person has chosen."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from gemma_local.app.agent.run.command import CommandLine, SimpleCommand
from gemma_local.app.agent.run.danger_table import DangerTable, dangers, has_option
from gemma_local.app.agent.run.git_settings import settings_of
from gemma_local.app.agent.run.habits import NAMING
from gemma_local.app.agent.run.sandbox import Opening
from gemma_local.app.agent.run.searches import secrets_searched
from gemma_local.app.agent.run.shell_reader import Word
from gemma_local.app.agent.run.surroundings import Surroundings
from gemma_local.app.workspace.sensitive import is_sensitive

_DELETING: Final = frozenset(["rm", "rmdir", "unlink", "trash", "del", "rd"])
_RECURSIVE: Final = ("-r", "-R", "--recursive", "-d")
_BOMB: Final = re.compile(
    r"(?P<name>[\w:.]{1,30})\s*\(\)\s*\{[^}]{0,200}?(?P=name)\s*\|\s*(?P=name)|:\s{0,5}\|\s{0,5}:"
)
"""A function that calls itself twice."""
_LONGEST: Final = 80


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason to ask: ``text`` goes behind the command ("deletes files: src"). ``opens`` is what
    consent lets the command do beyond the sandbox; ``has_rule``: a rule can give it for good.
    ``only_shows``: nothing is changed, but something is shown."""

    text: str
    opens: Opening | None = None
    has_rule: bool = False
    only_shows: bool = False


def reasons(line: CommandLine, text: str, surroundings: Surroundings) -> tuple[Reason, ...]:
    """Why ``text``, of which ``line`` is what is understood, must be asked for; none if the mode
    may decide."""
    opens: Opening | None
    found = [Reason(unclear) for unclear in line.unclear]
    if _BOMB.search(text):
        found.append(Reason("starts itself over and over"))
    # The sandbox holds back what was not foreseen here.
    folders = surroundings.folders(line.commands, in_order=surroundings.is_confined)
    for command in line.commands:
        found += _of_command(command, dangers())
        found += _deletions(command, surroundings)
        found += _secrets(command, surroundings, folders)
        found += _searched(command, surroundings, folders)
        for word in written(command):
            if word.text.startswith(("/dev/tcp/", "/dev/udp/")):
                found.append(Reason(f"uses the network: {_short(word.text)}", "network"))
            elif out := surroundings.leads_out(word, folders):
                opens = "outside" if out.startswith("/") else None
                found.append(Reason(f"writes outside the workspace: {_short(out)}", opens))
            elif _is_of_git(word):
                found.append(Reason(f"changes git's own files: {_short(word.text)}", "git"))
    return tuple(dict.fromkeys(found))


def written(command: SimpleCommand) -> list[Word]:
    """What a command writes to, as far as that can be told from its arguments."""
    found = [one.target for one in command.redirections if one.writes]
    for writer in dangers().writers:
        found += writer.written(command)
    if command.program == "dd":
        for word in command.arguments:
            if word.text.startswith("of="):
                found.append(Word(word.text[3:], word.is_known, word.has_pattern))
            elif not word.is_known:
                found.append(word)
    return found


def _of_command(command: SimpleCommand, known: DangerTable) -> Iterator[Reason]:
    steering = [name for name in command.variables if known.steers(name)]
    if command.program in ("export", "declare", "typeset", "readonly", "local"):
        names = [word.text.partition("=")[0] for word in command.arguments if "=" in word.text]
        steering += [name for name in names if known.steers(name)]
    if steering and command.is_sure:
        yield Reason(f"sets {steering[0]}, which decides what other programs run")
    if command.words and not command.program and command.is_sure:
        yield Reason("which program it runs is only known when it runs")
    for setting in settings_of(command):
        if not setting.is_harmless:
            shown = _short(setting.text)
            yield Reason(f"sets options of git that can name programs to run: {shown}")
    for danger in known.dangers:
        if danger.fits(command):
            shown = _short(command.program if len(command.words) == 1 else command.text)
            yield Reason(f"{danger.reason}: {shown}", danger.opens, danger.has_rule)


def _deletions(command: SimpleCommand, surroundings: Surroundings) -> Iterator[Reason]:
    """Deleting a folder with all that is in it, or files that are not named one by one."""
    if command.program not in _DELETING:
        return
    words = command.arguments
    targets = [word for word in words if not word.text.startswith("-") or not word.is_known]
    is_recursive = any(has_option(words, option) for option in _RECURSIVE)
    for word in targets:
        if not is_recursive and word.is_known and not word.has_pattern:
            continue
        if _is_made_again(word, surroundings):
            continue
        yield Reason(f"deletes files: {_short(word.text)}")


def _is_made_again(word: Word, surroundings: Surroundings) -> bool:
    """Whether a path leads into a folder of the workspace that a build makes."""
    if not word.is_known:
        return False
    path = surroundings.path_of(word, surroundings.folder)
    if path is None:
        return False
    # A link is deleted itself, but not one on the way.
    real = Path(os.path.realpath(path if path.name == ".." else path.parent))
    path = real if path.name == ".." else real / path.name
    for root in (*surroundings.roots, surroundings.temporary):
        if path.is_relative_to(root):
            inner = path.relative_to(root).parts
            if root == surroundings.temporary and inner:
                return True
            # Not a pattern's own files: "build*" is more than "build".
            return any(map(dangers().is_made_again, inner))
    return False


def _secrets(
    command: SimpleCommand, surroundings: Surroundings, folders: Sequence[Path | None]
) -> Iterator[Reason]:
    if not command.is_sure:
        return
    words = [*command.arguments, *(one.target for one in command.redirections)]
    for word in words:
        for text in (word.text, word.text.partition("=")[2], word.text.removeprefix("@")):
            path = PurePath(text.strip("\"'"))
            if path.name and is_sensitive(path):
                yield Reason(f"touches what may hold secrets: {_short(text)}")
                break
        else:
            # What a pattern or a link leads to is not in the word.
            is_read = command.program not in NAMING and not word.text.startswith("-")
            if is_read and (found := surroundings.secret_of(word, folders)):
                yield Reason(f"touches what may hold secrets: {_short(found)}")


def _searched(
    command: SimpleCommand, surroundings: Surroundings, folders: Sequence[Path | None]
) -> Iterator[Reason]:
    """Secrets that are not named, in folders that are looked through."""
    found = secrets_searched(command, surroundings, folders) if command.is_sure else []
    if found:
        root = next((one for one in surroundings.roots if found[0].is_relative_to(one)), Path())
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        shown = _short(str(found[0].relative_to(root)))
        yield Reason(f"looks into what may hold secrets: {shown}{more}", only_shows=True)


def _is_of_git(word: Word) -> bool:
    return ".git" in PurePath(word.text.lower()).parts


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
