"""The grammar of ``gemma-local models``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

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
from gemma_local.app.subcommands import Subcommands

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

_GRAMMAR: Final = Subcommands(
    "gemma-local models",
    "Shows, downloads, checks and moves models. Without a command it lists.",
    COMMANDS,
)


def parse_models(arguments: Sequence[str]) -> ModelsOptions:
    """Options of ``gemma-local models``; without a command it lists. Raises UsageError."""
    match arguments:
        case ["list", *rest]:
            return _GRAMMAR.parse("list", rest, ListOptions(), _list)
        case ["info", *rest]:
            return _GRAMMAR.parse("info", rest, InfoOptions(), _info)
        case ["get", *rest]:
            return _GRAMMAR.parse("get", rest, GetOptions(), _get)
        case ["add", *rest]:
            return _GRAMMAR.parse("add", rest, AddOptions(), _add)
        case ["rm", *rest]:
            return _parse_remove(rest)
        case ["verify", *rest]:
            return _GRAMMAR.parse("verify", rest, VerifyOptions(), _verify)
        case ["export", *rest]:
            return _GRAMMAR.parse("export", rest, ExportOptions(), _export)
        case ["import", *rest]:
            return _GRAMMAR.parse("import", rest, ImportOptions(), _import)
        case ["scan", *rest]:
            return _GRAMMAR.parse("scan", rest, ScanOptions(), _scan)
        case []:
            return ListOptions()
    raise _GRAMMAR.unknown(arguments)


def parser() -> Parser:
    """The options of ``gemma-local models`` without a command."""
    return _GRAMMAR.parser()


def parsers() -> dict[str, Parser]:
    """The options of each command."""
    adders = (_list, _info, _get, _add, _remove, _verify, _export, _import, _scan)
    return {name: _GRAMMAR.parser_of(name, add) for name, add in zip(COMMANDS, adders, strict=True)}


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
    options = _GRAMMAR.parse("rm", arguments, RemoveOptions(), _remove)
    if not options.models and not options.unfinished:
        raise UsageError(
            f"name the MODELs to delete, or give --unfinished (see {_GRAMMAR.prog} rm --help)"
        )
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
