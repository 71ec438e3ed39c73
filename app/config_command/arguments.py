"""The grammar of ``gemma-local config``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gemma_local.app.arguments import Parser, answer_parser, parse_given, refuse
from gemma_local.app.config_command.options import (
    ConfigOptions,
    InitOptions,
    SchemaOptions,
    ShowOptions,
)
from gemma_local.app.subcommands import Subcommands

COMMANDS: Final = {
    "show": "what holds, and where each value comes from",
    "init": "write a settings file with everything in it, commented out",
    "schema": "print the JSON schema of the settings file",
}
"""Commands by name, with what they do."""

_GRAMMAR: Final = Subcommands(
    "gemma-local config",
    "Shows and describes the settings. Without a command it shows them.",
    COMMANDS,
)


def parse_config(arguments: Sequence[str]) -> ConfigOptions:
    """Options of ``gemma-local config``; without a command it shows. Raises UsageError."""
    match arguments:
        case ["show", *rest]:
            return _parse_show(rest)
        case ["init", *rest]:
            options = InitOptions()
            refuse(parsers()["init"], parsers()["init"].parse_known_args(rest, options)[1])
            return options
        case ["schema", *rest]:
            refuse(parsers()["schema"], parsers()["schema"].parse_known_args(rest)[1])
            return SchemaOptions()
        case []:
            return ShowOptions()
    raise _GRAMMAR.unknown(arguments)


def parser() -> Parser:
    """The options of ``gemma-local config`` without a command."""
    return _GRAMMAR.parser()


def parsers() -> dict[str, Parser]:
    """The options of each command."""
    made = {
        name: Parser(f"{_GRAMMAR.prog} {name}", f"{what[0].upper()}{what[1:]}.")
        for name, what in COMMANDS.items()
    }
    add = made["show"].add_argument
    add("--changed", action="store_true", help="only what is not as it comes")
    add("--json", action="store_true", help="print one JSON object")
    made["show"].epilog = (
        "Options of gemma-local itself may follow, to see what they change:\n"
        f"  {_GRAMMAR.prog} show --ctx 8192 --temperature 0"
    )
    made["init"].add_argument(
        "--print", action="store_true", help="to standard output, not into the file"
    )
    return made


def _parse_show(arguments: Sequence[str]) -> ShowOptions:
    show = parsers()["show"]
    options = ShowOptions()
    rest = show.parse_known_args(arguments, options)[1]
    options.given, unknown = parse_given(answer_parser(), rest)
    refuse(show, unknown)
    return options
