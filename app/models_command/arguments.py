"""The grammar of ``gemma-local models``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from gemma_local.app.argument_values import some_text
from gemma_local.app.arguments import Parser
from gemma_local.app.errors import UsageError
from gemma_local.app.models_command.options import (
    AddOptions,
    ExportOptions,
    GetOptions,
    ImportOptions,
    InfoOptions,
    ListOptions,
    ModelsOptions,
    RemoveOptions,
    ScanOptions,
    VerifyOptions,
)

COMMANDS: Final = {
    "list": "the models on this machine",
    "info": "what a model is, and where it lies",
    "get": "download a model with its drafter, or go on with it",
    "add": "take in a file that is here already",
    "rm": "delete models, or forget those that were added",
    "verify": "compare files with their checksums",
    "export": "copy models to a medium, for a machine without a network",
    "import": "take in what was exported",
    "scan": "find models of LM Studio, Ollama and llama.cpp",
}
"""Commands by name, with what they do."""

MODEL: Final = "its name as list shows it, the beginning of it, its size, or its path"

_PROG: Final = "gemma-local models"

_Options = TypeVar("_Options")


def parse_models(arguments: Sequence[str]) -> ModelsOptions:
    """Options of ``gemma-local models``; without a command it lists. Raises UsageError."""
    match arguments:
        case ["list", *rest]:
            return _parse("list", rest, ListOptions(), _list)
        case ["info", *rest]:
            return _parse("info", rest, InfoOptions(), _info)
        case ["get", *rest]:
            return _parse("get", rest, GetOptions(), _get)
        case ["add", *rest]:
            return _parse("add", rest, AddOptions(), _add)
        case ["rm", *rest]:
            return _parse_remove(rest)
        case ["verify", *rest]:
            return _parse("verify", rest, VerifyOptions(), _verify)
        case ["export", *rest]:
            return _parse("export", rest, ExportOptions(), _export)
        case ["import", *rest]:
            return _parse("import", rest, ImportOptions(), _import)
        case ["scan", *rest]:
            return _parse("scan", rest, ScanOptions(), _scan)
        case []:
            return ListOptions()
    parser().parse_known_args(arguments)
    raise UsageError(f"there is no command {arguments[0]!r} (see {_PROG} --help)")


def parser() -> Parser:
    """The options of ``gemma-local models`` without a command."""
    commands = "\n".join(f"  {name:9}{what}" for name, what in COMMANDS.items())
    return Parser(
        _PROG,
        "Shows, downloads, checks and moves models. Without a command it lists.",
        f"commands ({_PROG} COMMAND --help):\n{commands}",
    )


def parsers() -> dict[str, Parser]:
    """The options of each command."""
    adders = (_list, _info, _get, _add, _remove, _verify, _export, _import, _scan)
    return {name: _parser(name, add) for name, add in zip(COMMANDS, adders, strict=True)}


def _parser(name: str, add: Callable[[Parser], str]) -> Parser:
    parser = Parser(f"{_PROG} {name}", f"{COMMANDS[name][0].upper()}{COMMANDS[name][1:]}.")
    parser.usage = f"{parser.prog} [options] {add(parser)}".rstrip()
    return parser


def _parse(
    name: str, arguments: Sequence[str], options: _Options, add: Callable[[Parser], str]
) -> _Options:
    parser = _parser(name, add)
    rest = parser.parse_known_args(arguments, options)[1]
    if rest:
        what = "option" if rest[0].startswith("-") else "place for"
        parser.error(f"there is no {what} {rest[0]!r}")
    return options


def _list(parser: Parser) -> str:
    _add_json(parser)
    return ""


def _info(parser: Parser) -> str:
    parser.add_argument("model", metavar="MODEL", type=some_text, help=MODEL)
    _add_json(parser)
    return "MODEL"


def _get(parser: Parser) -> str:
    add = parser.add_argument
    add(
        "what",
        metavar="WHAT",
        type=some_text,
        help="a size (E2B, E4B, 12B, 26B-A4B, 31B), a repository of the hub, or REPOSITORY:FILE",
    )
    add("--revision", metavar="REV", type=some_text, help="a branch, tag or commit (default main)")
    add("--no-drafter", dest="drafter", action="store_false", help="without the MTP drafter")
    add("--projector", action="store_true", help="with what reads images, where there is one")
    add("--update", action="store_true", help="ask the hub for a newer version of what is here")
    add("--offline", action="store_true", help="use what is here and ask no network")
    add("--yes", action="store_true", help="do not ask before a large download")
    _add_json(parser)
    return "WHAT"


def _add(parser: Parser) -> str:
    add = parser.add_argument
    add("files", metavar="FILE", nargs="+", type=some_text, help="a GGUF file; of parts, the first")
    add("--copy", action="store_true", help="copy it, so that the original may go")
    _add_json(parser)
    return "FILE..."


def _parse_remove(arguments: Sequence[str]) -> RemoveOptions:
    options = _parse("rm", arguments, RemoveOptions(), _remove)
    if not options.models and not options.unfinished:
        raise UsageError(f"name the MODELs to delete, or give --unfinished (see {_PROG} rm --help)")
    return options


def _remove(parser: Parser) -> str:
    parser.add_argument("models", metavar="MODEL", nargs="*", type=some_text, help=MODEL)
    parser.add_argument(
        "--unfinished", action="store_true", help="what there is of downloads that did not end"
    )
    parser.add_argument("--yes", action="store_true", help="do not ask")
    return "MODEL..."


def _verify(parser: Parser) -> str:
    parser.add_argument(
        "models", metavar="MODEL", nargs="*", type=some_text, help=f"{MODEL} (default: all)"
    )
    _add_json(parser)
    return "[MODEL...]"


def _export(parser: Parser) -> str:
    add = parser.add_argument
    add(
        "folder", metavar="FOLDER", type=some_text, help="where to, such as a folder on a USB stick"
    )
    add("models", metavar="MODEL", nargs="+", type=some_text, help=MODEL)
    add("--no-drafter", dest="drafter", action="store_false", help="without the MTP drafters")
    _add_json(parser)
    return "FOLDER MODEL..."


def _import(parser: Parser) -> str:
    parser.add_argument("folder", metavar="FOLDER", type=some_text, help="what export wrote")
    _add_json(parser)
    return "FOLDER"


def _scan(parser: Parser) -> str:
    parser.add_argument("--add", action="store_true", help="add what can be used (no copies)")
    _add_json(parser)
    return ""


def _add_json(parser: Parser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")
