"""Commands that only look, and the pattern that a command is one of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Final

from gemma_local.app.agent.run.command import SimpleCommand
from gemma_local.app.agent.run.danger_table import dangers, has_option
from gemma_local.app.agent.run.shell_reader import Word
from gemma_local.app.agent.run.surroundings import Surroundings
from gemma_local.app.agent.run.tables import table
from gemma_local.app.workspace.sensitive import is_sensitive

_SPEAKING: Final = frozenset(
    ["echo", "printf", "test", "[", ":", "true", "false", "seq", "expr", "set", "export", "exit"]
)
"""They do nothing with what they are given but say it or compare it."""
NAMING: Final = frozenset(["ls", "stat", "echo", "printf", "test", "["])
"""They tell of files that there are, and not what is in them."""


def only_looks(
    command: SimpleCommand, surroundings: Surroundings, folders: Sequence[Path | None]
) -> bool:
    """Whether a command changes nothing and shows nothing but files of the workspace."""
    if any(dangers().steers(name) for name in command.variables):
        return False
    for redirection in command.redirections:
        if redirection.writes and redirection.target.text != "/dev/null":
            return False
        if redirection.sign == "<" and not surroundings.shows(redirection.target, folders):
            return False
    if not command.words:
        return True
    forbidden = _forbidden(command)
    if forbidden is None:
        return False
    if command.program in _SPEAKING:
        return not any(has_option(command.arguments, option) for option in forbidden)
    if not all(folder is not None and surroundings.is_shown(folder) for folder in folders):
        # Without a word about files it looks at the folder in which it runs.
        return False
    for word in command.arguments:
        if not _is_shown(word, surroundings, folders, only_names=command.program in NAMING):
            return False
    if command.program == "command":
        return has_option(command.arguments, "-v") or has_option(command.arguments, "-V")
    return not any(has_option(command.arguments, option) for option in forbidden)


def pattern_of(command: SimpleCommand) -> str:
    """The pattern that ``command`` is one of, such as "npm run test *"; "" if it has none that
    would not allow far more than itself."""
    if not command.program or command.program in table("habits")["never"]["programs"]:
        return ""
    if _forbidden(command) is not None:
        # It does more than look here; a rule for it would allow to look at anything anywhere.
        return ""
    words = command.words
    known: dict[str, int] = table("habits")["words"]
    count = known.get(words[0].text, 1)
    for length in (2, 3):
        count = max(count, known.get(" ".join(word.text for word in words[:length]), 0))
    chosen = words[:count]
    # With options first it is not clear what the next words are.
    if any(not word.is_known or word.has_pattern for word in chosen):
        return ""
    if any(word.text.startswith("-") and word.text != "-m" for word in chosen[1:]):
        return ""
    if any(not word.text or set(word.text) & set(" \t\n*?[]") for word in chosen):
        return ""
    if len(chosen) < count:
        # "make" alone is what it is: no more words.
        return " ".join(word.text for word in chosen)
    return " ".join([*(word.text for word in chosen), "*"])


def _forbidden(command: SimpleCommand) -> list[str] | None:
    """The options with which a command does more than look; None if it always does."""
    looks: dict[str, list[str]] = table("habits")["looks"]
    # Not by way of a folder: that would be a program of the same name.
    texts = [word.text for word in command.words[:3]]
    for length in (3, 2, 1):
        name = " ".join(texts[:length])
        if name in looks and len(texts) >= length:
            is_exact = name.startswith(("git branch", "git remote"))
            if is_exact and len(command.words) > length:
                return None
            return looks[name]
    return None


def _is_shown(
    word: Word,
    surroundings: Surroundings,
    folders: Sequence[Path | None],
    *,
    only_names: bool = False,
) -> bool:
    """Whether an argument, if it names a file, names one that may be looked at; with ``only_names``
    no more is looked at than which files there are."""
    if not word.is_known or (word.has_pattern and word.text.startswith(".")):
        return False
    text = word.text
    if text.startswith("-"):
        # The value of an option, also right behind its letter.
        if not set("=/") & set(text):
            return not any(is_sensitive(PurePath(text[at:])) for at in range(2, len(text)))
        text = text.partition("=")[2] if "=" in text else "/" + text.partition("/")[2]
        if text == "/":
            return True
    named = replace(word, text=text)
    if is_sensitive(PurePath(text)) or not surroundings.shows(named, folders):
        return False
    return only_names or not surroundings.secret_of(named, folders)
