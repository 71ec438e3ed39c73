"""Files as they were before they were changed, kept in a folder on the disk.

``blobs`` holds contents under their digests, ``turns`` a JSON file for each turn that changed
something. Both are written whole or not at all, contents before the record that needs them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gemma_local.app.agent.files.open_folder import OpenFolder
from gemma_local.app.agent.files.text_file import digest_of

_FORMAT: Final = 1
_PRIVATE: Final = 0o600


@dataclass(frozen=True, slots=True)
class State:
    """A file at one moment: the digest of its content, "" where there was none, and its mode."""

    digest: str = ""
    mode: int = 0

    @property
    def exists(self) -> bool:
        return bool(self.digest)


@dataclass(frozen=True, slots=True)
class Touched:
    """A file that a turn changed: how it was before, and how the turn left it, None if that was
    never written down. ``folders`` are those that had to be made for it, the outermost first."""

    path: Path
    before: State
    after: State | None = None
    folders: tuple[Path, ...] = ()


@dataclass(slots=True)
class Turn:
    """What was changed for one message of the user's."""

    message: int
    files: dict[Path, Touched] = field(default_factory=dict)
    is_undone: bool = False

    def states(self) -> Iterable[State]:
        """All states whose contents it needs."""
        for touched in self.files.values():
            yield touched.before
            # Of a turn that was not undone the content is in the file itself.
            if self.is_undone and touched.after is not None:
                yield touched.after


class KeptFiles:
    """The folder of one session. All methods raise OSError."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._sizes: dict[str, int] | None = None

    @property
    def size(self) -> int:
        """Bytes of all contents together."""
        return sum(self._blobs().values())

    def put(self, data: bytes) -> str:
        """Keep a content; its digest."""
        digest = digest_of(data)
        blobs = self._blobs()
        if digest not in blobs:
            with self._open("blobs") as folder:
                folder.write(digest, data, _PRIVATE)
            blobs[digest] = len(data)
        return digest

    def get(self, state: State) -> bytes:
        """The content of a state that exists."""
        with self._open("blobs") as folder:
            data = folder.read(state.digest)
        if digest_of(data) != state.digest:
            raise OSError(f"what was kept under {state.digest[:12]} is damaged")
        return data

    def has(self, state: State) -> bool:
        """Whether a state can be brought back."""
        return not state.exists or state.digest in self._blobs()

    def turns(self) -> list[Turn]:
        """Every turn, oldest first; without records that are damaged."""
        if not (self._folder / "turns").is_dir():
            return []
        found = []
        for path in sorted((self._folder / "turns").glob("*.json")):
            with suppress(ValueError, KeyError, TypeError, AttributeError):
                found.append(_turn(json.loads(path.read_bytes())))
        return sorted(found, key=lambda turn: turn.message)

    def save(self, turn: Turn) -> None:
        """Write a turn's record in place of the one before."""
        with self._open("turns") as folder:
            folder.write(f"{turn.message:08}.json", json.dumps(_plain(turn)).encode(), _PRIVATE)

    def drop(self, turns: Iterable[Turn]) -> None:
        """Forget turns, and contents that no other needs."""
        for turn in turns:
            with self._open("turns") as folder, suppress(FileNotFoundError):
                folder.remove(f"{turn.message:08}.json")
        needed = {state.digest for turn in self.turns() for state in turn.states()}
        blobs = self._blobs()
        for digest in set(blobs) - needed:
            with self._open("blobs") as folder, suppress(FileNotFoundError):
                folder.remove(digest)
            del blobs[digest]

    def lose(self, message: int) -> None:
        """Write down that what was changed up to ``message`` can no longer be undone."""
        with self._open() as folder:
            folder.write("lost", str(message).encode(), _PRIVATE)

    @property
    def lost(self) -> int:
        """The last message whose changes are no longer kept, 0 if all are."""
        try:
            return int((self._folder / "lost").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    def _open(self, *inner: str) -> OpenFolder:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return OpenFolder(self._folder.resolve().joinpath(*inner), create=True)

    def _blobs(self) -> dict[str, int]:
        if self._sizes is None:
            self._sizes = {}
            if (self._folder / "blobs").is_dir():
                for path in (self._folder / "blobs").iterdir():
                    # Not what a killed process left half written.
                    if not path.name.startswith("."):
                        self._sizes[path.name] = path.stat().st_size
        return self._sizes


def _plain(turn: Turn) -> dict[str, Any]:
    files = [
        {
            "path": str(touched.path),
            "before": _plain_state(touched.before),
            "after": None if touched.after is None else _plain_state(touched.after),
            "folders": [str(path) for path in touched.folders],
        }
        for touched in turn.files.values()
    ]
    return {"format": _FORMAT, "message": turn.message, "undone": turn.is_undone, "files": files}


def _plain_state(state: State) -> list[Any]:
    return [state.digest, state.mode]


def _turn(plain: Any) -> Turn:
    if plain["format"] != _FORMAT:
        raise ValueError("of another version")
    files = {
        Path(each["path"]): Touched(
            Path(each["path"]),
            State(*each["before"]),
            None if each["after"] is None else State(*each["after"]),
            tuple(Path(path) for path in each["folders"]),
        )
        for each in plain["files"]
    }
    return Turn(int(plain["message"]), files, bool(plain["undone"]))
