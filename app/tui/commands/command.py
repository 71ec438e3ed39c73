"""A command, and an order to carry one out."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from gemma_local.app.tui.commands.target import CommandTarget
from gemma_local.models.errors import GemmaLocalError

Group = Literal["Conversation", "Model", "Texts", "Screen"]
"""Under which heading the help lists a command."""

Action: TypeAlias = Callable[[CommandTarget], None]
Bind: TypeAlias = Callable[[str], Action]
"""From the text behind a command's name to what is to be done. Raises ArgumentTypeError."""

T = TypeVar("T")


class BadArgument(GemmaLocalError):
    """Something behind a command's name that makes no sense; the sentence says what would."""


def _no_values(prefix: str) -> list[str]:
    return []


@dataclass(frozen=True, slots=True)
class Command:
    """One command.

    ``argument`` is how its argument is written, in brackets if it can be left out, "" if it takes
    none. ``keywords`` find it in the palette besides its name and summary. ``while_busy``: it can
    be carried out while an answer comes. ``values`` are the arguments, beginning with what is
    typed, that completion offers.
    """

    name: str
    summary: str
    group: Group
    bind: Bind
    argument: str = ""
    aliases: tuple[str, ...] = ()
    keywords: tuple[str, ...] = ()
    while_busy: bool = False
    values: Callable[[str], list[str]] = _no_values

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and its other names."""
        return (self.name, *self.aliases)

    @property
    def usage(self) -> str:
        """How it is written, such as "/draft auto|off|N"."""
        return f"/{self.name} {self.argument}".rstrip()

    @property
    def needs_argument(self) -> bool:
        """Whether it makes no sense without an argument."""
        return bool(self.argument) and not self.argument.startswith("[")


@dataclass(frozen=True, slots=True)
class Invocation:
    """A command with its argument, which has been found good."""

    command: Command
    argument: str
    action: Action


@dataclass(frozen=True, slots=True)
class UnknownCommand:
    """A line that looks like a command and is none; ``nearest`` is "" if nothing is near."""

    name: str
    nearest: str = ""

    def sentence(self) -> str:
        """What to do about it."""
        hint = f"did you mean /{self.nearest}?" if self.nearest else "/help lists them."
        return (
            f"There is no command /{self.name}; {hint} A blank before the slash makes it a message."
        )


def invoke(command: Command, argument: str = "") -> Invocation:
    """An order to carry out ``command``. Raises BadArgument."""
    argument = argument.strip()
    if command.needs_argument and not argument:
        raise BadArgument(f"/{command.name} needs something behind it: {command.usage}")
    try:
        return Invocation(command, argument, command.bind(argument))
    except ArgumentTypeError as error:
        raise BadArgument(f"/{command.name}: {error}") from error


def alone(action: Action) -> Bind:
    """For a command without an argument."""

    def bind(text: str) -> Action:
        if text:
            raise ArgumentTypeError(f"it takes nothing behind it, and there is {_shortened(text)}")
        return action

    return bind


def taking(convert: Callable[[str], T], action: Callable[[CommandTarget, T], None]) -> Bind:
    """For a command whose argument is read by ``convert``, which gets "" if there is none."""

    def bind(text: str) -> Action:
        value = convert(text)
        return lambda target: action(target, value)

    return bind


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 40 else f"{text[:40]}...")
