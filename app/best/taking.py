"""Taking an attempt: its changes come into the person's files, and the conversation says so."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from gemma_local.app.agent.checkpoints import Checkpoints, NotKept
from gemma_local.app.agent.files.open_folder import OpenFolder
from gemma_local.app.agent.tool import ToolProblem
from gemma_local.app.agent.workbench import Workbench
from gemma_local.app.best.attempt import Outcome
from gemma_local.app.best.changes import FileChange, content_of
from gemma_local.app.best.contest import Result
from gemma_local.app.best.errors import NotTaken
from gemma_local.app.best.ground import message_of
from gemma_local.app.best.words import done_line
from gemma_local.app.dialogue import Dialogue
from gemma_local.app.sessions.entry import Entry
from gemma_local.models.message import Message


@dataclass(frozen=True, slots=True)
class _Target:
    """A file of the person's, free of links, and what becomes of it. ``mode`` is its own now."""

    path: Path
    change: FileChange
    mode: int

    def make(self) -> None:
        """Raises OSError."""
        change = self.change
        with OpenFolder(self.path.parent, create=change.after is not None) as folder:
            if change.after is None:
                folder.remove(self.path.name)
                return
            found = folder.stat(self.path.name)
            is_program = bool(found is not None and found.st_mode & 0o100)
            # What a copy's own mode is otherwise says nothing about the person's file.
            is_same = is_program == bool(change.mode & 0o100)
            folder.write(self.path.name, change.after, None if is_same else change.mode)

    def unmake(self) -> None:
        """Raises OSError."""
        with OpenFolder(self.path.parent, create=True) as folder:
            if self.change.before is None:
                folder.remove(self.path.name)
            else:
                folder.write(self.path.name, self.change.before, self.mode)


def take(dialogue: Dialogue, result: Result, outcome: Outcome) -> tuple[Entry, Entry]:
    """Change the person's files as the attempt did those of its copy, so that undo takes it back,
    and go on as if it had been done here: the task, and what the model said of it, are returned.

    Raises NotTaken, above all if a file has changed since the attempts began.
    """
    agent = dialogue.agent
    assert agent is not None
    bench, conversation = agent.bench, dialogue.conversation
    with ExitStack() as held:
        targets = _targets(bench, outcome.changes.files)
        for target in targets:
            held.enter_context(bench.kit.seen.lock(target.path))
        _check_fresh(targets)
        wish = result.wish
        said = message_of(wish.text, result.command)
        task = dialogue.say(said, files=wish.files, written=wish.task)
        try:
            bench.checkpoints.begin(task.number)
            _make(targets, bench.checkpoints)
        except NotTaken:
            conversation.withdraw()
            raise
    text = "\n\n".join(filter(None, [outcome.report, done_line(result, outcome)]))
    stream = conversation.answering()
    answer = stream.finish(Message("assistant", text), finish="stop")
    conversation.keep(answer)
    return task, answer


def _targets(bench: Workbench, changes: Sequence[FileChange]) -> list[_Target]:
    """Raises NotTaken for a path that leads somewhere else than in the copy."""
    workspace = bench.kit.workspace
    targets = []
    for change in changes:
        try:
            place = workspace.writing(str(workspace.folder / change.path))
        except ToolProblem as error:
            raise NotTaken(f"nothing was taken: {error}") from error
        if place.path != workspace.folder / change.path:
            raise NotTaken(
                f"nothing was taken: {change.path} leads by way of a link to {place.shown}"
            )
        targets.append(_Target(place.path, change, content_of(place.path)[1]))
    return targets


def _check_fresh(targets: Sequence[_Target]) -> None:
    stale = [each.change.path for each in targets if content_of(each.path)[0] != each.change.before]
    if stale:
        names = ", ".join(stale[:5]) + (f" and {len(stale) - 5} more" if len(stale) > 5 else "")
        raise NotTaken(
            f"nothing was taken: {names} changed since the attempts began, and what is there now"
            " would be lost; have it done anew, or take over by hand what the diff shows"
        )


def _make(targets: Sequence[_Target], checkpoints: Checkpoints) -> None:
    """All of them or none."""
    made: list[_Target] = []
    try:
        for target in targets:
            checkpoints.keep(target.path, target.change.after)
        for target in targets:
            target.make()
            made.append(target)
        checkpoints.settle()
    except (NotKept, OSError) as error:
        stuck = [target.change.path for target in reversed(made) if not _unmade(target)]
        if not stuck:
            # Else undo would come to it, and no further.
            checkpoints.withdraw()
        still = f", except {', '.join(stuck)}, which could not be put back" if stuck else ""
        reason = str(error) if isinstance(error, NotKept) else (error.strerror or str(error))
        raise NotTaken(f"nothing was taken{still}: {reason}") from error


def _unmade(target: _Target) -> bool:
    try:
        target.unmake()
    except OSError:
        return False
    return True
