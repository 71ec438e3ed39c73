"""The tool that runs a command of the shell."""

from __future__ import annotations

import os
import re
import secrets
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gemma_local.app.agent.budget import head_tail, tidied
from gemma_local.app.agent.checkpoints import NotKept
from gemma_local.app.agent.files.open_folder import OpenFolder
from gemma_local.app.agent.run.changes import Snapshot
from gemma_local.app.agent.run.confinement import NOT_SET_UP, REFUSED
from gemma_local.app.agent.run.danger import written
from gemma_local.app.agent.run.environment import without_secrets
from gemma_local.app.agent.run.git_guard import told
from gemma_local.app.agent.run.judgement import Judgement, RunEffect, judged
from gemma_local.app.agent.run.sandbox import Sandbox
from gemma_local.app.agent.run.shell import Shell, shell_here
from gemma_local.app.agent.run.surroundings import Surroundings
from gemma_local.app.agent.tool import Result, Step, ToolProblem
from gemma_local.app.agent.tools.arguments import declared, number_of, text_of
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.app.stop import Stop
from gemma_local.app.workspace.command import Command, Ended
from gemma_local.models.message import Tool as Declaration
from gemma_local.models.message import Value

SECONDS: Final = 120
MOST_SECONDS: Final = 600

_LONGEST: Final = 20_000
_KEPT: Final = 400_000
"""Characters of the output that are kept in memory: far more than the model gets."""
_HEARD: Final = 500_000
"""Characters that are handed on while it runs; nobody reads more as it comes."""
_LONGEST_PATH: Final = 10_000
_TITLE: Final = 100
_NO_NETWORK: Final = re.compile(
    r"network is unreachable|could not resolve|name resolution|name or service not known"
    r"|getaddrinfo|ENETUNREACH|ENOTFOUND|EAI_AGAIN|no address associated|failed to lookup",
    re.IGNORECASE,
)
_NO_WRITING: Final = re.compile(
    r"read-only file system|permission denied|EROFS|EACCES|EPERM|operation not permitted"
    r"|device or resource busy",
    re.IGNORECASE,
)


_SET_ASIDE: Final = "moved aside what git could have run"


class Run:
    """``run(command, timeout)``. The folder that a command ends in is where the next begins."""

    def __init__(
        self,
        kit: Kit,
        sandbox: Sandbox,
        outputs: Path,
        *,
        shell: Shell | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """``outputs`` is the session's folder for what was too long for the model, made when it is
        needed. ``environment`` is the person's own."""
        self._kit = kit
        self._sandbox = sandbox
        self._outputs = outputs
        self._shell = shell_here() if shell is None else shell
        self._environment = environment
        self._count = 0
        self.folder = kit.workspace.folder

    @property
    def declaration(self) -> Declaration:
        """As the model reads it."""
        return declared(
            "run",
            "Run a shell command. No input, no editor, no server that stays. cd is kept.",
            command=("string", ""),
            timeout=("integer?", f"seconds, default {SECONDS}, at most {MOST_SECONDS}"),
        )

    def step(self, arguments: Mapping[str, Value]) -> Step:
        """Raises ToolProblem."""
        command = text_of(arguments, "command").strip()
        if not command:
            raise ToolProblem('"command" is empty. Give one line for the shell.')
        if "\0" in command or len(command) > _LONGEST:
            raise ToolProblem(
                "The command is no text for a shell, or too long. Write a script with write, and"
                " run that."
            )
        seconds = number_of(arguments, "timeout", SECONDS)
        surroundings = Surroundings(
            self._kit.workspace.roots,
            self.folder,
            self._sandbox.temporary,
            is_confined=self._sandbox.is_any,
            readable=(self._outputs,),
        )
        judgement = judged(command, surroundings, is_posix=self._shell.is_posix)
        timeout = min(max(seconds, 1), MOST_SECONDS)
        return _Running(self, command, timeout, judgement, _touched(judgement, surroundings))

    def start(self, running: _Running, stop: Stop, on_output: Callable[[str], None]) -> Result:
        """Run it now. Raises ToolProblem."""
        if not self.folder.is_dir():
            self.folder = self._kit.workspace.folder
        self._keep(running)
        self._count += 1
        save = self._outputs / f"run-{self._count:04}.txt"
        # A name of its own each time: whatever stands under one that a command knows stays there.
        left_in = self._sandbox.temporary / f"folder-{secrets.token_hex(8)}"
        words = self._shell.command(running.command, left_in)
        openings = running.judgement.openings
        git = self._sandbox.git_before(openings)
        if not isinstance(words, str):
            words = self._sandbox.wrapped(words, self.folder, openings, git=git)
        before = Snapshot(self._kit.workspace.roots)
        command = Command(
            words,
            self.folder,
            timeout=running.timeout,
            environment=self._sandbox.environment(without_secrets(self._environment)),
            on_output=_Hearing(on_output),
            most=_KEPT,
            save=save,
            is_foreign=True,
        )
        try:
            ended = command.run(stop)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ToolProblem(f"The command could not be started: {reason.lower()}.") from error
        finally:
            left = self._sandbox.git_guard(git).settle() if git is not None else []
            self._settle(running)
        if ended.status == NOT_SET_UP and ended.output.startswith(REFUSED):
            save.unlink(missing_ok=True)
            raise ToolProblem(
                "The command was not run, because its sandbox could not be set up. Tell the person:"
                f" {ended.output.removeprefix(REFUSED).strip()}"
            )
        changes = before.until(Snapshot(self._kit.workspace.roots))
        notes = [changes.words()] if changes is not None and changes.words() else []
        notes += self._moved(left_in)
        notes += [told(left, self._kit.workspace.roots)] if left else []
        if ended.status:
            notes += self._hints(ended.output, running.judgement)
        result = _result(ended, running, notes, save, self._kit.budget.result_characters)
        return replace(result, summary=f"{result.summary}; {_SET_ASIDE}") if left else result

    def _moved(self, left_in: Path) -> list[str]:
        """Go where the command ended, if that is in the workspace; what is to be said of it."""
        try:
            # A process of the command could have put anything there: a link to what it may not read
            # itself, or a pipe that nobody writes to.
            with OpenFolder(left_in.parent) as parent:
                written = parent.read(left_in.name, _LONGEST_PATH)
                parent.remove(left_in.name)
            folder = Path(written.decode().removesuffix("\n"))
        except (OSError, ValueError):
            return []
        roots = self._kit.workspace.roots
        shown = self._kit.workspace.shown
        is_inside = any(Path(os.path.realpath(folder)).is_relative_to(root) for root in roots)
        if not is_inside or not folder.is_dir():
            return [f"the folder is {shown(self.folder)} again: {folder} is not in the workspace"]
        if folder == self.folder:
            return []
        self.folder = folder
        return [f"the folder is now {shown(folder)}"]

    def _hints(self, output: str, judgement: Judgement) -> list[str]:
        """What a failure may come from."""
        if not self._sandbox.is_in_force(judgement.openings):
            return []
        hints = []
        has_network = self._sandbox.has_network or "network" in judgement.openings
        if not has_network and _NO_NETWORK.search(output):
            hints.append("commands have no network here; if it is needed, say so")
        if _NO_WRITING.search(output):
            hints.append("only the workspace and $TMPDIR can be written to")
        return hints

    def _keep(self, running: _Running) -> None:
        """What it is known to change can be undone."""
        checkpoints = self._kit.checkpoints
        if checkpoints is None:
            return
        for path in running.touches:
            try:
                checkpoints.keep(path)
            except NotKept as error:
                raise ToolProblem(f"Not run: {error}.") from error

    def _settle(self, running: _Running) -> None:
        if self._kit.checkpoints is not None and running.touches:
            with suppress(NotKept):
                self._kit.checkpoints.settle()

    def sandbox_words(self, judgement: Judgement) -> str:
        """What the sandbox does for a command."""
        return self._sandbox.words(judgement.openings)

    def shown_folder(self) -> str:
        """Where the next command begins, as the person sees it."""
        return self._kit.workspace.shown(self.folder)


@dataclass(frozen=True, slots=True)
class _Running:
    run: Run
    command: str
    timeout: int
    judgement: Judgement
    touches: tuple[Path, ...]

    @property
    def effect(self) -> RunEffect:
        """Running a command."""
        title = " ".join(self.command.split())
        why = self.judgement.why
        if "outside" in self.judgement.openings:
            why += f" ({self.run.sandbox_words(self.judgement)})"
        return RunEffect(
            "run",
            title if len(title) <= _TITLE else f"{title[: _TITLE - 3]}...",
            command=self.command,
            why=why,
            rule=self.judgement.rule,
            touches=self.touches,
            judgement=self.judgement,
        )

    def carry_out(self, stop: Stop, on_output: Callable[[str], None]) -> Result:
        """Raises ToolProblem."""
        return self.run.start(self, stop, on_output)


class _Hearing:
    """Hands on what a command writes, up to a length."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._left = _HEARD

    def __call__(self, text: str) -> None:
        if self._left > 0:
            self._tell(text[: self._left])
            self._left -= len(text)
            if self._left <= 0:
                self._tell("\n[it goes on; the rest is not shown while it runs]\n")


def _touched(judgement: Judgement, surroundings: Surroundings) -> tuple[Path, ...]:
    """The files of the workspace that a command says it writes."""
    found: list[Path] = []
    for command in judgement.acting:
        for word in written(command):
            path = surroundings.path_of(word, surroundings.folder)
            if path is None or word.has_pattern or not surroundings.is_inside(path):
                continue
            path = Path(os.path.realpath(path))
            is_file = path.is_file() or not path.exists()
            if is_file and not path.is_relative_to(surroundings.temporary):
                found.append(path)
    return tuple(dict.fromkeys(found))


def _result(ended: Ended, running: _Running, notes: list[str], save: Path, most: int) -> Result:
    text = tidied(ended.output).strip("\n")
    room = most - 200 - sum(len(note) + 3 for note in notes)
    shown = head_tail(text, max(room, 200))
    if shown != text or ended.length > len(ended.output):
        notes.append(f"all {ended.length:,} characters of the output: {save}")
    else:
        save.unlink(missing_ok=True)
    lines = [_how(ended, running.timeout)]
    lines.append(shown or "(no output)")
    lines += [f"[{note}]" for note in notes]
    is_ok = ended.status == 0 and not (ended.timed_out or ended.stopped)
    return Result("\n".join(lines), _summary(ended, running.timeout), ok=is_ok)


def _how(ended: Ended, timeout: int) -> str:
    """How it ended, for the model."""
    if ended.stopped:
        return "The person stopped it. What it had written:"
    if ended.timed_out:
        remedy = (
            f"give a longer timeout, up to {MOST_SECONDS}, if it only needs more time"
            if timeout < MOST_SECONDS
            else "do it in smaller parts"
        )
        return (
            f"Not finished after {timeout} s, and ended with all that it had started: {remedy};"
            " do not start what never ends, such as a server. What it had written:"
        )
    return f"{_status(ended.status)}, {ended.seconds:.1f} s"


def _status(status: int) -> str:
    number = -status if status < 0 else status - 128 if 128 < status < 160 else 0
    try:
        name = signal.Signals(number).name if number else ""
    except ValueError:
        # One without a name of its own.
        name = f"signal {number}"
    if name:
        memory = "; perhaps it took too much memory" if name == "SIGKILL" else ""
        return (
            f"ended by {name}{memory}" if status < 0 else f"exit status {status} ({name}{memory})"
        )
    words = {126: " (it cannot be executed)", 127: " (there is no such command)"}
    return f"exit status {status}{words.get(status, '')}"


def _summary(ended: Ended, timeout: int) -> str:
    """For the person."""
    if ended.stopped:
        return "stopped"
    return f"not finished after {timeout} s" if ended.timed_out else _status(ended.status)
