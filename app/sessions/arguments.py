"""The grammar of ``gemma-local sessions``."""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

from gemma_local.app.argument_values import one_of, some_text, whole
from gemma_local.app.arguments import Parser
from gemma_local.app.sessions.options import (
    BranchOptions,
    ExportOptions,
    ImportOptions,
    ListOptions,
    RemoveOptions,
    RenameOptions,
    RepairOptions,
    SearchOptions,
    SessionsOptions,
    ShowOptions,
)
from gemma_local.app.subcommands import Subcommands

COMMANDS: Final = {
    "list": "the sessions of this folder, or all",
    "show": "what was said in a session",
    "search": "find words in all sessions",
    "export": "a session as Markdown, JSON or HTML",
    "import": "save a session that was exported as JSON",
    "rm": "delete sessions",
    "rename": "give a session another title",
    "branch": "a copy of a session, up to one of its messages",
    "repair": "make a damaged file usable again",
}
"""Commands by name, with what they do."""

FORMATS: Final = ("markdown", "json", "html")
"""What a session can be exported as."""

SESSION: Final = "its id, the beginning of its id, or its title"

_GRAMMAR: Final = Subcommands(
    "gemma-local sessions",
    "Finds, shows and deletes what was said. Without a command it lists.",
    COMMANDS,
)
_SPAN: Final = re.compile(r"(\d{1,6})([hdw])")
_UNITS: Final = {"h": "hours", "d": "days", "w": "weeks"}


def parse_sessions(arguments: Sequence[str]) -> SessionsOptions:
    """Options of ``gemma-local sessions``; without a command it lists. Raises UsageError."""
    match arguments:
        case ["list", *rest]:
            return _GRAMMAR.parse("list", rest, ListOptions(), _list)
        case ["show", *rest]:
            return _GRAMMAR.parse("show", rest, ShowOptions(), _show)
        case ["search", *rest]:
            return _GRAMMAR.parse("search", rest, SearchOptions(), _search)
        case ["export", *rest]:
            return _GRAMMAR.parse("export", rest, ExportOptions(), _export)
        case ["import", *rest]:
            return _GRAMMAR.parse("import", rest, ImportOptions(), _import)
        case ["rm", *rest]:
            return _parse_remove(rest)
        case ["rename", *rest]:
            return _GRAMMAR.parse("rename", rest, RenameOptions(), _rename)
        case ["branch", *rest]:
            return _GRAMMAR.parse("branch", rest, BranchOptions(), _branch)
        case ["repair", *rest]:
            return _GRAMMAR.parse("repair", rest, RepairOptions(), _repair)
        case []:
            return ListOptions()
    raise _GRAMMAR.unknown(arguments)


def parser() -> Parser:
    """The options of ``gemma-local sessions`` without a command."""
    return _GRAMMAR.parser()


def parsers() -> dict[str, Parser]:
    """The options of each command."""
    adders = (_list, _show, _search, _export, _import, _remove, _rename, _branch, _repair)
    return {name: _GRAMMAR.parser_of(name, add) for name, add in zip(COMMANDS, adders, strict=True)}


def _list(parser: Parser) -> str:
    add = parser.add_argument
    add("--all", action="store_true", help="of every folder")
    add("--limit", metavar="N", type=whole(1, 1 << 20), help="the N that were used last")
    _add_json(add)
    return ""


def _show(parser: Parser) -> str:
    add = parser.add_argument
    add("session", metavar="SESSION", type=some_text, help=SESSION)
    add("--thoughts", action="store_true", help="with the model's thoughts")
    add("--json", action="store_true", help="all of it, as export --format json has it")
    return "SESSION"


def _search(parser: Parser) -> str:
    add = parser.add_argument
    add(
        "words",
        metavar="WORD",
        nargs="+",
        help="a message must have all of them; '\"two words\"' stand together. Letters in upper "
        "and lower case, with and without accents are the same",
    )
    add("--here", action="store_true", help="only in sessions of this folder")
    add("--limit", metavar="N", type=whole(1, 10_000), help="at most N places (default 50)")
    _add_json(add)
    return "WORD..."


def _export(parser: Parser) -> str:
    add = parser.add_argument
    add("session", metavar="SESSION", type=some_text, help=SESSION)
    add(
        "--format",
        metavar="FORMAT",
        type=one_of(*FORMATS),
        help="markdown (default), json or html; else what the name of FILE ends with",
    )
    add("-o", "--out", metavar="FILE", type=some_text, help="write a file, not standard output")
    add("--force", action="store_true", help="overwrite FILE")
    return "SESSION"


def _import(parser: Parser) -> str:
    parser.add_argument(
        "file", metavar="FILE", type=some_text, help="a session as JSON; - is standard input"
    )
    return "FILE"


def _parse_remove(arguments: Sequence[str]) -> RemoveOptions:
    options = _GRAMMAR.parse("rm", arguments, RemoveOptions(), _remove)
    parser = Parser(f"{_GRAMMAR.prog} rm", "")
    if options.sessions and (options.all or options.older_than):
        parser.error("--all and --older-than choose sessions themselves; leave SESSION out")
    if options.older_than and not options.all:
        parser.error("--older-than goes with --all: sessions of every folder are deleted")
    if not options.sessions and not options.all:
        parser.error("name the sessions to delete, or give --all")
    return options


def _remove(parser: Parser) -> str:
    add = parser.add_argument
    add("sessions", metavar="SESSION", nargs="*", type=some_text, help=SESSION)
    add("--all", action="store_true", help="every session of every folder")
    add(
        "--older-than",
        metavar="TIME",
        type=span,
        help="of all, those that were not used for TIME: 12h, 30d or 8w",
    )
    add("--yes", action="store_true", help="do not ask")
    return "SESSION..."


def _rename(parser: Parser) -> str:
    add = parser.add_argument
    add("session", metavar="SESSION", type=some_text, help=SESSION)
    add("title", metavar="TITLE", nargs="+", help="its new title")
    return "SESSION TITLE"


def _branch(parser: Parser) -> str:
    add = parser.add_argument
    add("session", metavar="SESSION", type=some_text, help=SESSION)
    add(
        "--at",
        metavar="N",
        type=whole(1, 1 << 31),
        help="the last message to copy, by the number that show has (default: all)",
    )
    return "SESSION"


def _repair(parser: Parser) -> str:
    parser.add_argument("--yes", action="store_true", help="do not ask")
    return ""


def _add_json(add: Callable[..., Any]) -> None:
    add("--json", action="store_true", help="print one JSON object")


def span(text: str) -> timedelta:
    """A converter for lengths of time."""
    match = _SPAN.fullmatch(text)
    if match is None or not int(match[1]):
        raise ArgumentTypeError(f"give a time such as 12h, 30d or 8w, not {text!r}")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})
