"""What the desk tells the screen, and the buffer between their two threads."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from gemma_local.app.agent.events import ToolOutput
from gemma_local.engine.messages import Loading, Prefill, Stats

if TYPE_CHECKING:
    # The screen shows what is told before whoever tells it is loaded.
    from gemma_local.app.agent.consent import Proposal
    from gemma_local.app.agent.events import ToolEvent
    from gemma_local.app.agent.turn import End
    from gemma_local.app.assistant import Answered
    from gemma_local.app.best.contest import Result
    from gemma_local.app.best.standing import Standing
    from gemma_local.app.best.wish import Wish
    from gemma_local.app.context_window import ContextUse
    from gemma_local.app.dialogue import Dialogue
    from gemma_local.app.launch import Launch
    from gemma_local.app.sessions.entry import Entry
    from gemma_local.engine.messages import Event, Ready
    from gemma_local.models.errors import GemmaLocalError

OpenedWhy = Literal["start", "new", "resume", "branch", "rewind", "pair"]
Work = Literal["", "loading", "answering", "compacting", "leaving", "task"]


@dataclass(frozen=True, slots=True)
class Planned:
    """The files are chosen and checked, and about to be loaded."""

    launch: Launch


@dataclass(frozen=True, slots=True)
class Opened:
    """A pair is loaded and a conversation is open: a new one, another one, or the same with
    another pair."""

    ready: Ready
    launch: Launch
    entries: Sequence[Entry]
    label: str
    title: str
    why: OpenedWhy
    toolless: str = ""
    """Why the model has no tools, "" if it has."""
    returned: str = ""
    """What the person had said and may say again, in other words."""

    @classmethod
    def of(cls, dialogue: Dialogue, why: OpenedWhy, returned: str = "") -> Opened:
        """A dialogue, as it stands."""
        return cls(
            dialogue.ready,
            dialogue.launch,
            tuple(dialogue.conversation.entries),
            dialogue.kept.label,
            dialogue.kept.title,
            why,
            dialogue.toolless,
            returned,
        )


@dataclass(frozen=True, slots=True)
class NotOpened:
    """No pair could be loaded, or no conversation opened, and why."""

    error: GemmaLocalError


@dataclass(frozen=True, slots=True)
class Asked:
    """The person's message is about to be answered. ``entry`` is its number, ``written`` what they
    wrote themselves of ``text``."""

    text: str
    files: Sequence[tuple[int, int]]
    written: str
    entry: int


@dataclass(frozen=True, slots=True)
class Piece:
    """More of what is being said. ``drafted``: by tokens of the drafter that were accepted."""

    kind: Literal["thought", "answer", "call"]
    text: str
    tokens: int
    drafted: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer has ended. ``entry`` is its number, 0 if nothing was said; ``label`` what may be
    said about its exactness."""

    answered: Answered
    label: str
    entry: int


@dataclass(frozen=True, slots=True)
class TurnEnded:
    """The model's turn is over, with all its answers and so many calls of tools."""

    end: End
    calls: int


@dataclass(frozen=True, slots=True)
class Told:
    """What the person wrote while the model worked has been given to it."""

    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BrokenOff:
    """An answer ended because something failed. ``died``: the engine's process is gone."""

    sentence: str
    died: bool


@dataclass(frozen=True, slots=True)
class Died:
    """The engine's process ended and is started again; the answer goes on."""

    why: str


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the person."""

    sentence: str
    kind: Literal["quiet", "warning", "error"] = "quiet"


@dataclass(frozen=True, slots=True)
class Used:
    """What the conversation takes of the context; ``sizes`` are tokens of entries by number, empty
    if they were not asked for."""

    use: ContextUse
    sizes: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskPiece:
    """More of the answer to a small task."""

    task: int
    text: str
    drafted: bool


@dataclass(frozen=True, slots=True)
class TaskDone:
    """A small task (``app.quick_tasks``) has ended with this text, empty if it came to nothing;
    ``note`` says why, or what else there is to say."""

    task: int
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """These are part of the conversation now, and were not said word by word."""

    entries: Sequence[Entry]


@dataclass(frozen=True, slots=True)
class ContestBegan:
    """Several attempts at a task begin."""

    wish: Wish


@dataclass(frozen=True, slots=True)
class AttemptStands:
    """One of them is further."""

    standing: Standing


@dataclass(frozen=True, slots=True)
class ContestOver:
    """They have ended; without a result ``note`` says why."""

    result: Result | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Working:
    """What the desk does now, empty when it waits."""

    what: Work


News: TypeAlias = (
    "Event | Planned | Opened | NotOpened | Asked | Piece | Answer | TurnEnded | Told | "
    "BrokenOff | Died | Notice | Used | TaskPiece | TaskDone | Said | ContestBegan | "
    "AttemptStands | ContestOver | Working | ToolEvent | Proposal"
)


class NewsBuffer:
    """News from one thread to another, in order; what need not be told one by one is merged."""

    def __init__(self, on_first: Callable[[], None]) -> None:
        """``on_first`` is called, in the thread that puts, when the first piece waits."""
        self._on_first = on_first
        self._lock = threading.Lock()
        self._waiting: list[News] = []

    def put(self, news: News) -> None:
        with self._lock:
            is_first = not self._waiting
            merged = None if is_first else _merged(self._waiting[-1], news)
            if merged is None:
                self._waiting.append(news)
            else:
                self._waiting[-1] = merged
        if is_first:
            self._on_first()

    def take(self) -> list[News]:
        """All that waits."""
        with self._lock:
            waiting, self._waiting = self._waiting, []
        return waiting


def _merged(last: News, news: News) -> News | None:
    """One piece of news that says both, None if there is none."""
    match last, news:
        case Piece(), Piece() if last.kind == news.kind and last.drafted == news.drafted:
            tokens = last.tokens + news.tokens
            return Piece(last.kind, last.text + news.text, tokens, last.drafted)
        case ToolOutput(), ToolOutput() if last.id == news.id:
            return ToolOutput(last.id, last.text + news.text)
        case TaskPiece(), TaskPiece() if last.task == news.task and last.drafted == news.drafted:
            return TaskPiece(last.task, last.text + news.text, last.drafted)
        case AttemptStands(), AttemptStands() if last.standing.number == news.standing.number:
            return news
        case (Loading(), Loading()) | (Prefill(), Prefill()) | (Stats(), Stats()):
            return news
    return None
