"""``gemma-local completions``: what the shell needs to complete commands, options and values."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gemma_local.app.argument_values import OneOf, draft_length, one_of, thinking
from gemma_local.app.arguments import Parser, refuse
from gemma_local.app.exit_codes import ExitCode

if TYPE_CHECKING:
    from gemma_local.app.command_tree import Command

SHELLS: Final = ("bash", "zsh", "fish")

_WORDS: Final = {draft_length: ("auto", "off"), thinking: ("off", "on")}
"""The words that converters take besides numbers."""
_SIZES: Final = ("E2B", "E4B", "12B", "26B-A4B", "31B")


@dataclass(kw_only=True, slots=True)
class CompletionsOptions:
    """``shell`` is one of ``SHELLS``."""

    shell: str = ""


def parser() -> Parser:
    """The options of ``gemma-local completions``."""
    made = Parser(
        "gemma-local completions",
        "Prints a script with which the shell completes commands, options and values.",
        "examples:\n"
        '  eval "$(gemma-local completions bash)"             in ~/.bashrc\n'
        '  eval "$(gemma-local completions zsh)"              in ~/.zshrc, after compinit\n'
        "  gemma-local completions fish > ~/.config/fish/completions/gemma-local.fish",
    )
    made.usage = f"{made.prog} SHELL"
    made.add_argument(
        "shell", metavar="SHELL", type=one_of(*SHELLS), help=f"{', '.join(SHELLS[:-1])} or fish"
    )
    return made


def parse_completions(arguments: Sequence[str]) -> CompletionsOptions:
    """Options of ``gemma-local completions``. Raises UsageError."""
    grammar, options = parser(), CompletionsOptions()
    rest = grammar.parse_known_args(arguments, options)[1]
    refuse(grammar, rest)
    return options


def run(options: CompletionsOptions) -> ExitCode:
    """Print the script."""
    print(script(options.shell))
    return ExitCode.OK


def script(shell: str) -> str:
    """The script for one of ``SHELLS``."""
    import shtab

    from gemma_local.app.command_tree import command_tree

    return shtab.complete(_as_one_parser(command_tree()), shell).rstrip()


def _as_one_parser(tree: Command) -> argparse.ArgumentParser:
    """All commands as sub-commands of one parser, as argparse has them and shtab wants them."""
    root = argparse.ArgumentParser(tree.name, parents=[_completing(tree.parser)], add_help=False)
    _add_commands(root, tree)
    return root


def _add_commands(parser: argparse.ArgumentParser, tree: Command) -> None:
    if not tree.commands:
        return
    below = parser.add_subparsers(metavar="COMMAND", parser_class=argparse.ArgumentParser)
    for command in tree.commands:
        own = below.add_parser(
            command.name,
            help=command.what,
            description=command.what,
            parents=[_completing(command.parser)],
            add_help=False,
        )
        _add_commands(own, command)


def _completing(parser: Parser) -> Parser:
    """A parser whose options know what their values may be."""
    import shtab

    for action in parser._actions:
        convert = action.type
        if isinstance(convert, OneOf):
            action.choices = convert.words
        elif words := _WORDS.get(convert):  # type: ignore[arg-type]  # any callable may be asked for
            action.choices = words
        match action.metavar:
            case "FILE" | "MODEL":
                action.complete = shtab.FILE  # type: ignore[attr-defined]  # shtab's own mark
            case "FOLDER":
                action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]
            case "SIZE" | "WHAT":
                action.choices = _SIZES
    return parser
