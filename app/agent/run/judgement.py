"""What is to be known of a command before it may run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from gemma_local.app.agent.run.command import SimpleCommand
from gemma_local.app.agent.run.danger import Reason, reasons
from gemma_local.app.agent.run.habits import only_looks, pattern_of
from gemma_local.app.agent.run.sandbox import Opening
from gemma_local.app.agent.run.surroundings import Surroundings
from gemma_local.app.agent.run.wrappers import understood
from gemma_local.app.agent.tool import Effect

_MOST_PATTERNS: Final = 3
_FOREIGN: Final = "the shell of this system is not understood here"


@dataclass(frozen=True, slots=True)
class Judgement:
    """``acting`` are the commands that do more than look, ``all_of_it`` all that are understood;
    those that a rule has to allow are in ``acting``. ``redirects``: files of the workspace are
    written by ">". ``computes``: what variables hold may be run, by way of arithmetic. ``reasons``
    are those to ask in every mode."""

    all_of_it: tuple[SimpleCommand, ...]
    acting: tuple[SimpleCommand, ...]
    reasons: tuple[Reason, ...]
    redirects: bool
    computes: bool
    is_confined: bool

    @property
    def only_looks(self) -> bool:
        """Whether nothing is changed."""
        return not (self.acting or self.computes or self.reasons)

    @property
    def only_shows(self) -> bool:
        """Whether nothing is changed, and what is asked for is to show something."""
        is_all = bool(self.reasons) and all(reason.only_shows for reason in self.reasons)
        return is_all and not (self.acting or self.computes)

    @property
    def why(self) -> str:
        """The reasons, for the person."""
        return "; ".join(reason.text for reason in self.reasons)

    @property
    def openings(self) -> frozenset[Opening]:
        """What the sandbox lets it do once it is allowed."""
        return frozenset(reason.opens for reason in self.reasons if reason.opens is not None)

    @property
    def rule(self) -> str:
        """What "always" would allow: "run: " and a pattern for each command, with && between; ""
        if there can be none."""
        # A rule for a command is none for files that its output goes to, nor for what is computed.
        if self.redirects or self.computes:
            return ""
        if not all(reason.has_rule for reason in self.reasons):
            return ""
        patterns = list(dict.fromkeys(map(pattern_of, self.acting)))
        if not patterns or len(patterns) > _MOST_PATTERNS or "" in patterns:
            return ""
        return f"run: {' && '.join(patterns)}"


@dataclass(frozen=True, slots=True)
class RunEffect(Effect):
    """What running a command would do."""

    judgement: Judgement | None = None


def judged(text: str, surroundings: Surroundings, *, is_posix: bool = True) -> Judgement:
    """Look at a command. ``is_posix`` is false for the shell of Windows, and where there is no bash
    for any other."""
    line = understood(text)
    if not is_posix:
        line = replace(line, unclear=(*line.unclear, _FOREIGN))
    folders = surroundings.folders(line.commands)
    acting = [
        command
        for command in line.commands
        if command.is_sure and not only_looks(command, surroundings, folders)
    ]
    found = reasons(line, text, surroundings)
    redirects = any(
        one.writes and one.target.text not in ("/dev/null", "/dev/stderr", "/dev/stdout")
        for command in line.commands
        for one in command.redirections
    )
    return Judgement(
        line.commands, tuple(acting), found, redirects, line.computes, surroundings.is_confined
    )
