"""What a line of the shell consists of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from gemma_local.app.agent.run.shell_reader import Word

_DESCRIPTOR: Final = re.compile(r"\d+-?|-")


@dataclass(frozen=True, slots=True)
class Redirection:
    """``sign`` without the number before it; ``target`` is a file, or for "<<<" a text."""

    sign: str
    target: Word

    @property
    def writes(self) -> bool:
        """Whether a file may be written."""
        is_copy = self.sign in (">&", "<&") and _DESCRIPTOR.fullmatch(self.target.text)
        return ">" in self.sign and not is_copy


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """A program and its arguments, ``words``, with the variables set for it alone.

    ``words`` is empty if there are only assignments or redirections. ``text_in`` is a
    here-document; ``is_fed``: another command's output is its input. ``is_sure`` is false for what
    only looks as if it were run.
    """

    words: tuple[Word, ...]
    variables: tuple[str, ...] = ()
    redirections: tuple[Redirection, ...] = ()
    text_in: str = ""
    is_fed: bool = False
    is_sure: bool = True

    @property
    def program(self) -> str:
        """Its name without folders; "" if it is only known when it runs, or if there is none."""
        if not self.words or not self.words[0].is_known or self.words[0].has_pattern:
            return ""
        return self.words[0].text.rpartition("/")[2]

    @property
    def arguments(self) -> tuple[Word, ...]:
        """The words behind the program."""
        return self.words[1:]

    @property
    def text(self) -> str:
        """On one line, to be read by a person."""
        return " ".join(word.text for word in self.words)


@dataclass(frozen=True, slots=True)
class CommandLine:
    """``unclear`` says in a few words each what is not understood; then there may be more commands
    than those that are listed. ``computes``: the shell does arithmetic with what is not known, and
    that runs commands which a variable's value has in the index of an array."""

    commands: tuple[SimpleCommand, ...]
    unclear: tuple[str, ...] = ()
    computes: bool = False
