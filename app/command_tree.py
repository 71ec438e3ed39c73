"""All commands with their options, for what describes them: the man page and the completions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gemma_local.app import arguments, completions, paths_command
from gemma_local.app.arguments import Parser
from gemma_local.app.batch import arguments as batch
from gemma_local.app.config_command import arguments as config
from gemma_local.app.doctor import arguments as doctor
from gemma_local.app.models_command import arguments as models
from gemma_local.app.sessions import arguments as sessions


@dataclass(frozen=True, slots=True)
class Command:
    """A command: its name, what it does in a few words, its options, and the commands below."""

    name: str
    what: str
    parser: Parser
    commands: tuple[Command, ...] = ()


def command_tree() -> Command:
    """``gemma-local`` itself, with everything below."""
    parsers: dict[str, tuple[Parser, tuple[Command, ...]]] = {
        "batch": (batch.parser(), ()),
        "bench": (arguments.bench_parser(), ()),
        "verify": (arguments.verify_parser(), ()),
        "doctor": (doctor.parser(), ()),
        "sessions": (sessions.parser(), _below(sessions.parsers(), sessions.COMMANDS)),
        "models": (models.parser(), _below(models.parsers(), models.COMMANDS)),
        "config": (config.parser(), _below(config.parsers(), config.COMMANDS)),
        "paths": (paths_command.parser(), ()),
        "completions": (completions.parser(), ()),
    }
    below = tuple(Command(name, what, *parsers[name]) for name, what in arguments.COMMANDS.items())
    return Command("gemma-local", "a local assistant", arguments.answer_parser(), below)


def _below(parsers: Mapping[str, Parser], what: Mapping[str, str]) -> tuple[Command, ...]:
    return tuple(Command(name, what[name], parser) for name, parser in parsers.items())
