"""The grammar of ``gemma-local doctor``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from gemma_local.app.argument_values import some_text
from gemma_local.app.arguments import Parser, refuse
from gemma_local.app.exit_codes import ExitCode


@dataclass(kw_only=True, slots=True)
class DoctorOptions:
    """``size`` is the one to explain, None: the recommended one."""

    size: str | None = None
    json: bool = False


def parser() -> Parser:
    """The options of ``gemma-local doctor``."""
    made = Parser(
        "gemma-local doctor",
        "Looks at this machine: what llama.cpp can use of it, which Gemma 4 fits and how fast it\n"
        "would be, and what to do about problems. Takes a few seconds the first time, because the\n"
        "memory's speed is measured.",
        f"exit status {ExitCode.FAILED.value}: something must be mended before a model can run",
    )
    add = made.add_argument
    add("--size", metavar="SIZE", type=some_text, help="explain this size (default: the best one)")
    add("--json", action="store_true", help="print one JSON object, with all sizes explained")
    return made


def parse_doctor(arguments: Sequence[str]) -> DoctorOptions:
    """Options of ``gemma-local doctor``. Raises UsageError."""
    grammar, options = parser(), DoctorOptions()
    refuse(grammar, grammar.parse_known_args(arguments, options)[1])
    return options
