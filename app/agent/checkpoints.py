"""Undoing what the model did to files, turn by turn.

Before a file is changed, its bytes are kept: never the whole folder, only what is touched. So
nothing is restored that was not changed by a tool, and nothing needs to be asked of git.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gemma_local.app.agent.file_diff import FileDiff, readable
from gemma_local.app.agent.files.open_folder import OpenFolder
from gemma_local.app.agent.files.text_file import digest_of
from gemma_local.app.agent.kept_files import KeptFiles, State, Touched, Turn
from gemma_local.models.errors import GemmaLocalError

MOST_BYTES: Final = 200_000_000
"""Kept of a session."""


class NotKept(GemmaLocalError):
    """What a file holds could not be kept, so it must not be changed; the sentence says why."""


class NotRestored(GemmaLocalError):
    """Files could not be brought back; the sentence says which, and what to do."""


@dataclass(frozen=True, slots=True)
class _Restored:
    """One file of a restoration: how it is, how it shall be, and what is in it now."""

    path: Path
    now: State
    then: State
    content: bytes | None


@dataclass(frozen=True, slots=True)
class Restoration:
    """What an undo or redo would do: ``diffs`` file by file, for the person to see before.

    ``foreign`` are those among them that somebody else has changed since: what they wrote would be
    replaced. ``messages`` are the turns that are undone or done again, ``folders`` those that they
    made, which go if they are empty.
    """

    messages: tuple[int, ...]
    is_redo: bool
    diffs: tuple[FileDiff, ...]
    foreign: tuple[str, ...]
    files: tuple[_Restored, ...]
    folders: tuple[Path, ...] = ()


class Checkpoints:
    """The changes of one session. Used from one thread at a time."""

    def __init__(
        self,
        folder: Path,
        shown: Callable[[Path], str] = str,
        *,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        """``folder`` is the session's own, made when it is needed; ``shown`` says what a file is
        called."""
        self._kept = KeptFiles(folder)
        self._shown = shown
        self._most_bytes = most_bytes
        self._turns: list[Turn] | None = None
        self._message = 0

    def begin(self, message: int) -> None:
        """What is changed from now on is changed for the message of this number."""
        self._message = message

    @property
    def lost(self) -> int:
        """The last message whose changes can no longer be undone, because newer ones needed the
        room; 0 if there is none."""
        return self._kept.lost

    # ------------------------------------------------------------------------------- keeping

    def keep(self, path: Path, becomes: bytes | None = None) -> None:
        """Keep what ``path`` is, before it is changed for the first time in this turn.

        ``path`` is absolute and free of links; there need be nothing. ``becomes`` is what it will
        hold, where that is known; else call ``settle`` afterwards. Raises NotKept.
        """
        try:
            now, content = _state(path, self._most_bytes)
            turn = self._turn()
            after = None if becomes is None else State(digest_of(becomes), now.mode)
            known = turn.files.get(path)
            if known is None:
                if content is not None:
                    self._kept.put(content)
                known = Touched(path, now, folders=_missing_folders(path))
            turn.files[path] = replace(known, after=after)
            self._kept.save(turn)
            self._make_room()
        except OSError as error:
            raise NotKept(
                f"{self._shown(path)} was not changed: what it holds could not be kept for undo"
                f" ({error.strerror or error})"
            ) from error

    def settle(self) -> None:
        """Write down how the turn has left its files. Raises NotKept."""
        turn = next((turn for turn in self._all() if turn.message == self._message), None)
        if turn is None or turn.is_undone:
            return
        try:
            for path, touched in turn.files.items():
                turn.files[path] = replace(touched, after=self._left(path))
            self._kept.save(turn)
        except OSError as error:
            raise NotKept(f"changes could not be written down: {error}") from error

    def withdraw(self) -> None:
        """Forget the turn, whose files are as they were before it; folders that it has made go if
        they are empty. Never fails."""
        turns = self._all()
        withdrawn = [turn for turn in turns if turn.message == self._message]
        turns[:] = [turn for turn in turns if turn.message != self._message]
        _remove_empty(_made_folders(withdrawn))
        with suppress(OSError):
            self._kept.drop(withdrawn)

    def _left(self, path: Path) -> State | None:
        """How a file is now; None of what can't be known, a folder in its place or a file that a
        command has made too large to be read: undoing that is asked about."""
        try:
            return _state(path, self._most_bytes)[0]
        except OSError:
            return None

    def _turn(self) -> Turn:
        """The turn that is going on. Raises OSError."""
        turns = self._all()
        undone = [turn for turn in turns if turn.is_undone]
        if undone:
            # What was undone leads nowhere any more.
            self._kept.drop(undone)
            turns[:] = [turn for turn in turns if not turn.is_undone]
        found = next((turn for turn in turns if turn.message == self._message), None)
        if found is None:
            found = Turn(self._message)
            turns.append(found)
            turns.sort(key=lambda turn: turn.message)
        return found

    def _make_room(self) -> None:
        turns = self._all()
        while self._kept.size > self._most_bytes and len(turns) > 1:
            oldest = turns.pop(0)
            self._kept.lose(oldest.message)
            self._kept.drop([oldest])
        if self._kept.size > self._most_bytes:
            raise OSError(f"one turn may change {self._most_bytes / 1e6:,.0f} MB")

    def _all(self) -> list[Turn]:
        if self._turns is None:
            self._turns = self._kept.turns()
        return self._turns

    # ----------------------------------------------------------------------------- restoring

    def undo(self) -> Restoration | None:
        """What undoing the last turn that changed files would do, None if there is none.

        One that has left its files as they were goes with the one before, or undo would not get
        past it. Raises NotRestored.
        """
        turns = [turn for turn in self._all() if not turn.is_undone]
        for first in reversed(range(len(turns))):
            found = self._undoing(turns[first:])
            if found is not None and found.files:
                return found
        return self._undoing(turns[-1:])

    def redo(self) -> Restoration | None:
        """What doing the turn again that was undone last would do, None if there is none; with
        those before it that have nothing to be done again. Raises NotRestored."""
        turns = [turn for turn in self._all() if turn.is_undone]
        found = None
        for count, turn in enumerate(turns, 1):
            steps = [
                (touched.path, touched.before, touched.after or touched.before, True)
                for touched in turn.files.values()
            ]
            found = self._planned(turns[:count], steps, is_redo=True)
            if found.files:
                break
        return found

    def restore(self, message: int) -> Restoration | None:
        """What bringing the files back to where they were before message ``message`` would do;
        None if nothing was changed since. Raises NotRestored, also if that is no longer kept."""
        if message <= self.lost:
            raise NotRestored(
                f"the files before message {message} are no longer kept; those before message"
                f" {self.lost + 1} are"
            )
        turns = [t for t in self._all() if not t.is_undone and t.message >= message]
        return self._undoing(turns)

    def carry_out(self, restoration: Restoration, *, replace_foreign: bool = False) -> None:
        """Do what was planned. Can be done again if it was interrupted.

        ``replace_foreign``: also with files that somebody else has changed; what they hold now
        comes back with a redo. Raises NotRestored; then nothing is counted as undone.
        """
        if restoration.foreign and not replace_foreign:
            names = ", ".join(restoration.foreign)
            raise NotRestored(
                f"{names} changed since, and not by the model: nothing was restored; look at"
                " the changes, and confirm that they may go"
            )
        turns = [turn for turn in self._all() if turn.message in restoration.messages]
        try:
            if not restoration.is_redo:
                self._keep_for_redo(turns, restoration)
            contents = [
                self._kept.get(each.then) if each.then.exists else None
                for each in restoration.files
            ]
        except OSError as error:
            raise NotRestored(f"nothing was restored: {error}") from error
        failed = []
        for each, content in zip(restoration.files, contents, strict=True):
            try:
                self._put_back(each, content)
            except OSError as error:
                failed.append(f"{self._shown(each.path)} ({error.strerror or error})")
        _remove_empty(restoration.folders)
        if failed:
            raise NotRestored(f"not restored: {', '.join(failed)}; the others were")
        for turn in turns:
            turn.is_undone = not restoration.is_redo
            try:
                self._kept.save(turn)
            except OSError as error:
                raise NotRestored(
                    f"restored, but that could not be written down: {error}"
                ) from error

    def _undoing(self, turns: Sequence[Turn]) -> Restoration | None:
        if not turns:
            return None
        first: dict[Path, Touched] = {}
        last: dict[Path, State | None] = {}
        is_ours: dict[Path, bool] = {}
        for turn in turns:
            for path, touched in turn.files.items():
                # Between two turns, too, somebody else may have written.
                is_ours[path] = path not in last or (
                    is_ours[path] and _is_same(last[path], touched.before)
                )
                first.setdefault(path, touched)
                last[path] = touched.after
        steps = [(path, last[path], first[path].before, is_ours[path]) for path in first]
        return self._planned(turns, steps, is_redo=False)

    def _planned(
        self,
        turns: Sequence[Turn],
        steps: Sequence[tuple[Path, State | None, State, bool]],
        *,
        is_redo: bool,
    ) -> Restoration:
        files = []
        diffs = []
        foreign = []
        for path, expected, then, is_ours in steps:
            try:
                now, content = _state(path, self._most_bytes)
                if now == then:
                    continue
                wanted = self._kept.get(then) if then.exists else None
            except OSError as error:
                raise NotRestored(
                    f"{self._shown(path)} cannot be restored: {error.strerror or error}"
                ) from error
            is_foreign = not (is_ours and _is_same(expected, now))
            files.append(_Restored(path, now, then, content))
            diffs.append(FileDiff(self._shown(path), readable(content), readable(wanted)))
            if is_foreign:
                foreign.append(self._shown(path))
        messages = tuple(turn.message for turn in turns)
        folders = () if is_redo else _made_folders(turns)
        return Restoration(messages, is_redo, tuple(diffs), tuple(foreign), tuple(files), folders)

    def _keep_for_redo(self, turns: Sequence[Turn], restoration: Restoration) -> None:
        """Keep what the files hold now, and write down for each turn how it left them."""
        now = {each.path: each for each in restoration.files}
        for each in restoration.files:
            if each.content is not None:
                self._kept.put(each.content)
        later: dict[Path, State] = {path: each.now for path, each in now.items()}
        for turn in reversed(turns):
            for path, touched in turn.files.items():
                after = later.get(path, touched.after or touched.before)
                turn.files[path] = replace(
                    touched, after=after if self._kept.has(after) else touched.before
                )
                later[path] = touched.before
            self._kept.save(turn)

    def _put_back(self, each: _Restored, content: bytes | None) -> None:
        """Raises OSError, also if the file changed since the restoration was planned."""
        if not each.path.parent.is_dir() and content is None:
            return
        with OpenFolder(each.path.parent, create=True) as folder:
            now, _ = _state(each.path)
            if now == each.then:
                return
            if now != each.now:
                raise OSError("changed just now")
            if content is None:
                folder.remove(each.path.name)
            else:
                folder.write(each.path.name, content, each.then.mode or None)


def _state(path: Path, most: int | None = None) -> tuple[State, bytes | None]:
    """What a file is and holds. Raises OSError, also for what is no ordinary file, or has more
    than ``most`` bytes."""
    try:
        with OpenFolder(path.parent) as folder:
            found = folder.stat(path.name)
            if found is None:
                return State(), None
            if most is not None and found.st_size > most:
                raise OSError(f"it has more than {most / 1e6:,.0f} MB")
            content = folder.read(path.name)
    except FileNotFoundError:
        return State(), None
    return State(digest_of(content), stat.S_IMODE(found.st_mode)), content


def _is_same(one: State | None, other: State) -> bool:
    """Whether a file holds the same; of a new one the mode may not be known."""
    return one is not None and one.digest == other.digest


def _made_folders(turns: Iterable[Turn]) -> tuple[Path, ...]:
    """Folders that were made for files of these turns, the innermost first."""
    made = {path for turn in turns for each in turn.files.values() for path in each.folders}
    return tuple(sorted(made, key=lambda path: -len(path.parts)))


def _remove_empty(paths: Iterable[Path]) -> None:
    for path in paths:
        with suppress(OSError), OpenFolder(path.parent) as parent:
            parent.remove_folder(path.name)


def _missing_folders(path: Path) -> tuple[Path, ...]:
    missing = []
    for folder in path.parents:
        if folder.exists():
            break
        missing.append(folder)
    return tuple(reversed(missing))
