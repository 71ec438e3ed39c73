"""What the grammars of ``gemma-local models``, ``sessions`` and ``config`` have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gemma_local.app.arguments import Parser, refuse
from gemma_local.app.errors import UsageError

_Options = TypeVar("_Options")

Add = Callable[[Parser], str]
"""Adds the options of a command; returns what stands behind them in its usage."""


@dataclass(frozen=True, slots=True)
class Subcommands:
    """The commands below ``prog``, by name with what each does. ``about`` is what they are for."""

    prog: str
    about: str
    commands: Mapping[str, str]

    def parser(self) -> Parser:
        """The options of ``prog`` without a command."""
        names = "\n".join(f"  {name:9}{what}" for name, what in self.commands.items())
        return Parser(self.prog, self.about, f"commands ({self.prog} COMMAND --help):\n{names}")

    def parser_of(self, name: str, add: Add) -> Parser:
        """The options of one of the commands."""
        what = self.commands[name]
        parser = Parser(f"{self.prog} {name}", f"{what[0].upper()}{what[1:]}.")
        parser.usage = f"{parser.prog} [options] {add(parser)}".rstrip()
        return parser

    def parse(self, name: str, arguments: Sequence[str], options: _Options, add: Add) -> _Options:
        """Fill the options of one of the commands. Raises UsageError."""
        parser = self.parser_of(name, add)
        refuse(parser, parser.parse_known_args(arguments, options)[1])
        return options

    def unknown(self, arguments: Sequence[str]) -> UsageError:
        """What to raise for a command that there is not; arguments that ask for help get it."""
        self.parser().parse_known_args(arguments)
        return UsageError(f"there is no command {arguments[0]!r} (see {self.prog} --help)")
