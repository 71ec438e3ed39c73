"""The man page, from the command line's own grammar."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable, Iterator
from typing import Final

from gemma_local.app.arguments import EXAMPLES, Parser
from gemma_local.app.command_tree import Command, command_tree
from gemma_local.app.exit_codes import ExitCode

_WIDTH: Final = 72
_LITERAL: Final = str.maketrans(
    # Left alone the last three become quotation marks and accents, which no shell understands.
    {"\\": "\\e", "-": "\\-", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti"}
)
_VARIABLES: Final = {
    "GEMMA_LOCAL_MODEL": "The model to run, in place of --model.",
    "GEMMA_LOCAL_TABLE__NAME": "A setting, such as GEMMA_LOCAL_SCREEN__THEME. It goes before the "
    "settings file, and options go before it.",
    "HF_HOME, HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE": "As huggingface_hub knows them; they say "
    "where downloaded models lie and where they come from.",
    "NO_COLOR": "No colours outside of the screens.",
}
_FILES: Final = {
    "~/.config/gemma-local/config.toml": "The settings. `gemma-local config init` writes one with "
    "everything in it, commented out.",
    "~/.config/gemma-local/catalog.toml": "What you add to the list of models.",
    "~/.local/share/gemma-local": "Conversations, and models that you copied in.",
    "~/.local/state/gemma-local": "What was measured on this machine, and the log.",
    "~/.cache/gemma-local": "What can be made again.",
    "~/.cache/huggingface/hub": "Downloaded models, shared with other programs.",
}


def man_page(version: str) -> str:
    """The page in roff's man macros."""
    return "\n".join(_lines(command_tree(), version)) + "\n"


def _lines(tree: Command, version: str) -> Iterator[str]:
    yield f'.TH GEMMA\\-LOCAL 1 "" "gemma\\-local {_escaped(version)}" "User Commands"'
    yield ".SH NAME"
    yield "gemma\\-local \\- run Gemma 4 on this machine, offline, with speculative decoding"
    yield ".SH SYNOPSIS"
    yield ".B gemma\\-local"
    yield "[\\fIoptions\\fR]"
    yield ".br"
    yield ".B gemma\\-local"
    yield "\\fICOMMAND\\fR [\\fIoptions\\fR]"
    yield ".SH DESCRIPTION"
    yield from _paragraphs(tree.parser.description or "")
    yield ".SH OPTIONS"
    yield from _options(tree.parser)
    yield ".SH COMMANDS"
    for command in tree.commands:
        yield f".SS {_escaped(_synopsis(command.parser))}"
        yield from _paragraphs(command.parser.description or "")
        yield from _options(command.parser)
        for below in command.commands:
            yield ".TP"
            yield f".B {_escaped(_synopsis(below.parser))}"
            yield from _paragraphs(below.parser.description or "")
            if options := list(_options(below.parser)):
                yield from (".RS", *options, ".RE")
    yield from _facts("ENVIRONMENT", _VARIABLES.items())
    yield from _facts("FILES", _FILES.items())
    yield ".PP"
    yield _escaped("`gemma-local paths` lists the folders as they are on this system.")
    yield from _facts("EXIT STATUS", ((str(code.value), f"{code.meaning}.") for code in ExitCode))
    yield ".SH EXAMPLES"
    yield ".nf"
    for line in EXAMPLES.splitlines()[1:]:
        yield _escaped(line.strip())
    yield ".fi"


def _synopsis(parser: Parser) -> str:
    """The words before which argparse writes "usage: "."""
    return (parser.usage or parser.prog).replace("[options] ", "").removesuffix(" [options]")


def _options(parser: Parser) -> Iterator[str]:
    for group in parser._action_groups:
        actions = [action for action in group._group_actions if action.dest != "help"]
        if actions and group.title not in (None, "options", "positional arguments"):
            yield f".PP\n.I {_escaped(group.title or '')}"
        for action in actions:
            yield ".TP"
            yield _invocation(action)
            yield from _paragraphs(action.help or "")


def _invocation(action: argparse.Action) -> str:
    value = f" \\fI{_escaped(str(action.metavar))}\\fR" if action.metavar else ""
    if action.nargs == "?":
        value = f" [{value.strip()}]"
    if not action.option_strings:
        return value.strip()
    return ", ".join(f"\\fB{_escaped(name)}\\fR" for name in action.option_strings) + value


def _facts(title: str, facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield f".SH {title}"
    for name, what in facts:
        yield ".TP"
        yield f".B {_escaped(name)}"
        yield from _paragraphs(what)


def _paragraphs(text: str) -> Iterator[str]:
    for line in textwrap.wrap(text, _WIDTH, break_on_hyphens=False, break_long_words=False):
        yield _escaped(line)


def _escaped(text: str) -> str:
    """Text that roff takes as it stands."""
    plain = text.translate(_LITERAL)
    return f"\\&{plain}" if plain.startswith((".", "'")) else plain
