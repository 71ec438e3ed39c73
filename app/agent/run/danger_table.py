"""The commands that are always asked for, and which arguments of commands are written to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

from gemma_local.app.agent.run.command import SimpleCommand
from gemma_local.app.agent.run.sandbox import Opening
from gemma_local.app.agent.run.shell_reader import Word
from gemma_local.app.agent.run.tables import table

_CODE_SIGNS: Final = frozenset("(;{`\n ")
_REPLACING: Final = re.compile(r"[sy](?P<sign>[^\w\s]).*(?P=sign).*(?P=sign)")
"""An expression of sed or perl."""


@dataclass(frozen=True, slots=True)
class Danger:
    """A kind of command. ``names`` are programs with their first words, ``reason`` says what it
    does, ``opens`` what the sandbox allows it once a person has, None for nothing; ``has_rule``: a
    rule of the person's can allow it for good."""

    names: tuple[tuple[str, ...], ...]
    reason: str
    options: tuple[str, ...] = ()
    unless: tuple[str, ...] = ()
    code: re.Pattern[str] | None = None
    opens: Opening | None = None
    has_rule: bool = False

    def fits(self, command: SimpleCommand) -> bool:
        """Whether ``command`` is of this kind, or may be: what is not known could be anything."""
        words = command.arguments
        if not any(
            name[0] == command.program and leads_with(words, name[1:]) for name in self.names
        ):
            return False
        if self.options and not any(has_option(words, option) for option in self.options):
            return False
        if any(word.text in self.unless or _has_short(word, self.unless) for word in words):
            return False
        if self.code is None:
            return True
        texts = [word.text for word in words if _looks_like_code(word.text)]
        return any(self.code.search(text) for text in (*texts, command.text_in))


def _looks_like_code(text: str) -> bool:
    return bool(_CODE_SIGNS & set(text)) or _REPLACING.match(text) is not None


def leads_with(words: Sequence[Word], names: Sequence[str]) -> bool:
    """Whether ``names`` are the first words that are no options. An option may take the word
    behind it, so that each is looked at both ways."""
    if not names:
        return True
    for index, word in enumerate(words):
        is_name = word.text == names[0] or not word.is_known
        if is_name and leads_with(words[index + 1 :], names[1:]):
            return True
        is_option = word.text.startswith(("-", "+")) or not word.is_known
        may_be_value = index > 0 and words[index - 1].text.startswith("-")
        if not (is_option or may_be_value):
            return False
    return False


def has_option(words: Sequence[Word], option: str) -> bool:
    """Whether ``option`` is given, or may be: "-r" alone or among others, "--force" also cut short
    or with a value."""
    for word in words:
        if word.text == option or not word.is_known:
            return True
        if option.startswith("--") and len(option) > 2:
            name = word.text.partition("=")[0]
            if len(name) > 2 and option.startswith(name):
                return True
        elif _has_short(word, (option,)):
            return True
    return False


def _has_short(word: Word, options: Sequence[str]) -> bool:
    """Whether one of the options of one letter is in ``word``, alone or among others."""
    if not re.fullmatch(r"-[A-Za-z0-9]+.*", word.text, re.DOTALL):
        return False
    return any(re.fullmatch(r"-\w", option) and option[1] in word.text for option in options)


@dataclass(frozen=True, slots=True)
class Writer:
    """Programs that change what some of their arguments name: "all" of them, the "last", those from
    the "second" on, or only the values of the options ``into``."""

    programs: frozenset[str]
    which: str
    options: tuple[str, ...] = ()
    into: tuple[str, ...] = ()

    def written(self, command: SimpleCommand) -> list[Word]:
        """The arguments that ``command`` changes."""
        words = command.arguments
        if command.program not in self.programs:
            return []
        if self.options and not any(has_option(words, option) for option in self.options):
            return []
        plain = [word for word in words if not word.text.startswith("-") or not word.is_known]
        chosen = {
            "all": plain,
            "last": plain[-1:],
            "second": plain[1:],
            "options": [],
        }[self.which]
        return [*chosen, *self._values(words)]

    def _values(self, words: Sequence[Word]) -> list[Word]:
        found = []
        for index, word in enumerate(words):
            name, equals, value = word.text.partition("=")
            if name not in self.into:
                short = word.text[:2]
                if short in self.into and len(word.text) > 2 and not word.text.startswith("--"):
                    found.append(Word(word.text[2:], word.is_known, word.has_pattern))
            elif equals:
                found.append(Word(value, word.is_known, word.has_pattern))
            elif index + 1 < len(words):
                found.append(words[index + 1])
        return found


@dataclass(frozen=True, slots=True)
class DangerTable:
    """``folders`` can be made again; ``variables`` name programs or libraries to load."""

    dangers: tuple[Danger, ...]
    writers: tuple[Writer, ...]
    folders: tuple[str, ...]
    variables: tuple[str, ...]

    def is_made_again(self, name: str) -> bool:
        """Whether a folder of this name can be made again by building."""
        return any(fnmatchcase(name, pattern) for pattern in self.folders)

    def steers(self, variable: str) -> bool:
        """Whether a variable can make a program run another one."""
        return any(fnmatchcase(variable, pattern) for pattern in self.variables)


@cache
def dangers() -> DangerTable:
    """As it stands in danger.toml."""
    data = table("danger")
    return DangerTable(
        tuple(_danger(entry) for entry in data["danger"]),
        tuple(
            Writer(
                frozenset(entry["commands"]),
                entry["which"],
                tuple(entry.get("options", ())),
                tuple(entry.get("into", ())),
            )
            for entry in data["writes"]
        ),
        tuple(data["free"]["folders"]),
        tuple(data["free"]["variables"]),
    )


def _danger(entry: dict[str, Any]) -> Danger:
    code = entry.get("code")
    return Danger(
        tuple(tuple(name.split()) for name in entry["commands"]),
        entry["reason"],
        tuple(entry.get("options", ())),
        tuple(entry.get("unless", ())),
        re.compile("|".join(code)) if code else None,
        entry.get("opens"),
        entry.get("rule", False),
    )
