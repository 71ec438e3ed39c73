"""A download that a screen can show: it runs in a thread, and can be paused and gone on with."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from gemma_local.app.durations import rough_time_left
from gemma_local.app.unexpected import log_unexpected
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.store.errors import HubUnreachable, Offline, Stopped
from gemma_local.models.store.progress import Event, FileProgress, Remark

if TYPE_CHECKING:
    # Here and below: they cost half a second, which a start without a download does without.
    from gemma_local.app.models_command.choice import Choice
    from gemma_local.app.models_command.got import Got
    from gemma_local.models.store.store import Plan, Store

Stage = Literal["asking", "checking", "fetching", "paused", "stopped", "done", "failed"]
"""The hub is asked; what is here is hashed; bytes come; and the four in which nothing happens."""

_RUNNING: Final = ("asking", "checking", "fetching")


@dataclass(frozen=True, slots=True)
class FetchState:
    """Where a download stands. Sizes are bytes of all files together."""

    stage: Stage
    files: tuple[FileProgress, ...] = ()
    done: int = 0
    bytes: int = 0
    bytes_per_second: float = 0.0
    """Averaged over some seconds; 0 while nothing comes."""
    seconds_left: float | None = None
    remark: str = ""
    """What is in the way at the moment, such as a connection that broke."""
    notes: tuple[str, ...] = ()
    """What a person should know of the files, such as that the hub has another version."""
    error: str = ""
    """The sentence, once it has failed."""
    lacks_network: bool = False
    """Whether it failed for want of a network, so that a medium would help."""
    got: Got | None = None
    """Once it is done."""

    @property
    def is_running(self) -> bool:
        """Whether something happens by itself."""
        return self.stage in _RUNNING

    @property
    def share(self) -> float:
        """How much of it is there, 0 to 1."""
        if self.stage == "done":
            return 1.0
        return self.done / self.bytes if self.bytes else 0.0

    def line(self) -> str:
        """All of it in a few words, for a status line."""
        match self.stage:
            case "asking":
                return "asking the hub"
            case "paused":
                return f"paused at {self.share:.0%}"
            case "failed":
                return f"failed at {self.share:.0%}"
            case "stopped" | "done" as stage:
                return stage
        parts = [f"{self.share:.0%}"]
        if self.stage == "checking":
            parts.append("checking what is here")
        elif self.bytes_per_second > 0:
            parts.append(f"{human_bytes(round(self.bytes_per_second))}/s")
            if self.seconds_left is not None:
                parts.append(f"{rough_time_left(self.seconds_left)} left")
        return ", ".join(parts)


class Fetching:
    """The download of one choice.

    Every method returns at once and may be called from any thread; ``state`` is looked at as often
    as somebody wants to know. The thread ends with the process, and what has come stays.
    """

    def __init__(
        self,
        choice: Choice,
        name: str = "",
        size: str = "",
        store: Callable[[], Store] | None = None,
    ) -> None:
        """``name`` is what people call it ("Gemma 4 E2B"), ``size`` its label in the catalogue if
        it has one; ``store`` makes the person's own store unless given, and is called in the
        thread."""
        first = choice.target[0]
        self.choice = choice
        self.name = name or first.file
        self.what = size or f"{first.repository}:{first.file}"
        """As ``models get`` takes it."""
        self._store = store or own_store
        self._lock = threading.Lock()
        self._state = FetchState("paused")
        self._stop: threading.Event | None = None
        """Of the thread that works now. One that was stopped may take a while to notice, when it
        is just connecting; nothing that it says counts any more."""

    def state(self) -> FetchState:
        """Where it stands now."""
        with self._lock:
            return self._state

    def start(self) -> None:
        """Begin, go on, or try again; nothing happens while it runs or is done."""
        with self._lock:
            if self._state.is_running or self._state.stage == "done":
                return
            self._stop = stop = threading.Event()
            self._state = replace(
                self._state, stage="asking", remark="", error="", lacks_network=False
            )
        threading.Thread(target=self._run, args=(stop,), name="fetching", daemon=True).start()

    def pause(self) -> None:
        """Let go of the network until the next ``start``."""
        self._halt("paused")

    def stop(self) -> None:
        """Give it up; the same download, today or later, goes on from what has come."""
        self._halt("stopped")

    def _halt(self, stage: Stage) -> None:
        with self._lock:
            if self._stop is not None:
                self._stop.set()
                self._stop = None
            if self._state.stage not in ("done", "stopped"):
                self._state = replace(
                    self._state, stage=stage, bytes_per_second=0.0, seconds_left=None, remark=""
                )

    # --------------------------------------------------------------------- in the thread

    def _run(self, stop: threading.Event) -> None:
        try:
            self._fetch(stop)
        except Stopped:
            # Whoever stopped it has noted that already.
            return
        except GemmaLocalError as error:
            self._fail(stop, str(error), isinstance(error, HubUnreachable | Offline))
        except Exception as error:  # noqa: BLE001 - a thread has nobody above it
            self._fail(stop, log_unexpected(error))

    def _fetch(self, stop: threading.Event) -> None:
        from gemma_local.app.models_command.got import checked

        store = self._store()
        plan = store.plan(
            self.choice.wanted,
            known=self.choice.snapshots,
            on_bytes=lambda _: self._note(stop, stage="checking"),
            on_trouble=lambda why: self._note(stop, remark=why),
        )
        hearing = _Hearing(plan)
        self._note(stop, notes=plan.remarks, remark="", files=hearing.files(()))
        paths = store.carry_out(plan, lambda event: self._note(stop, **hearing.take(event)), stop)
        got = checked(self.choice, paths)
        notes = (*plan.remarks, got.remark) if got.remark else plan.remarks
        self._note(stop, stage="done", got=got, notes=notes, bytes_per_second=0.0, remark="")

    def _note(self, stop: threading.Event, **news: Any) -> None:
        """Raises Stopped in a thread that is not wanted any more."""
        with self._lock:
            if stop is not self._stop:
                raise Stopped
            self._state = replace(self._state, **news)

    def _fail(self, stop: threading.Event, sentence: str, lacks_network: bool = False) -> None:
        with suppress(Stopped):
            self._note(
                stop,
                stage="failed",
                error=sentence,
                lacks_network=lacks_network,
                bytes_per_second=0.0,
                seconds_left=None,
                remark="",
            )


class _Hearing:
    """Makes news of a state of what a download says."""

    def __init__(self, plan: Plan) -> None:
        self._names = [file.wanted.file for file in plan.files]
        self._here = {
            file.wanted.file: _whole(file.wanted.file, file.local)
            for file in plan.files
            if file.local is not None and file.remote is None
        }
        self._done = 0
        self._is_fresh = False

    def files(self, fetched: tuple[FileProgress, ...]) -> tuple[FileProgress, ...]:
        """All of them in the plan's order, also those that are here."""
        known = {**self._here, **{file.file: file for file in fetched}}
        return tuple(known[name] for name in self._names if name in known)

    def take(self, event: Event) -> dict[str, Any]:
        """What changes with an event."""
        if isinstance(event, Remark):
            self._is_fresh = True
            return {"remark": event.text}
        stages = {file.stage for file in event.files}
        is_checking = "checking" in stages and "fetching" not in stages
        news: dict[str, Any] = {
            "stage": "checking" if is_checking else "fetching",
            "files": self.files(event.files),
            "done": event.done,
            "bytes": event.bytes,
            "bytes_per_second": event.bytes_per_second,
            "seconds_left": event.seconds_left,
        }
        # Bytes that come say that what was remarked is over, unless both happened just now.
        if event.done > self._done and not self._is_fresh:
            news["remark"] = ""
        self._done, self._is_fresh = event.done, False
        return news


def _whole(name: str, path: Path) -> FileProgress:
    size = path.stat().st_size
    return FileProgress(name, size, size, "done")


def own_store() -> Store:
    """The person's own: the hub that their environment names, their cache, their library."""
    from gemma_local.models.store.hub import Hub
    from gemma_local.models.store.library import Library
    from gemma_local.models.store.store import Store

    library = Library()
    return Store(Hub(), library.cache, library.verified)


def fetching_of(size: str) -> Fetching:
    """The download of a size with its drafter ("E4B"). Raises UsageError if there is none."""
    from gemma_local.app.models_command.choice import known_choice
    from gemma_local.app.models_command.options import GetOptions
    from gemma_local.app.own_catalog import own_catalog

    choice = known_choice(GetOptions(what=size))
    assert choice is not None
    known = own_catalog().size(size)
    return Fetching(choice, known.name, known.label)
