"""Writes what happens into the transcript."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gemma_local.app.agent.call_title import call_title
from gemma_local.app.agent.events import ToolEnded, ToolOutput, ToolStarted
from gemma_local.app.agent.file_diff import FileDiff
from gemma_local.app.tui.footer import footer, footer_of
from gemma_local.app.tui.news import (
    Answer,
    Asked,
    AttemptStands,
    BrokenOff,
    ContestBegan,
    ContestOver,
    Died,
    News,
    Notice,
    Piece,
    Said,
    TaskDone,
    TaskPiece,
    Told,
)
from gemma_local.app.tui.transcript.answer_item import AnswerItem
from gemma_local.app.tui.transcript.contest_item import ContestItem
from gemma_local.app.tui.transcript.divider_item import DividerItem
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.notice_item import Kind, NoticeItem
from gemma_local.app.tui.transcript.person_item import PersonItem
from gemma_local.app.tui.transcript.summary_item import SummaryItem
from gemma_local.app.tui.transcript.task_item import TaskItem
from gemma_local.app.tui.transcript.tool_item import ToolItem
from gemma_local.app.tui.transcript.transcript import Transcript

if TYPE_CHECKING:
    from gemma_local.app.quick_tasks import Shown
    from gemma_local.app.sessions.entry import Entry
    from gemma_local.models.message import ToolCall

BY_PERSON = "shell-"
"""How the ids of commands begin that the person ran."""


class Scribe:
    """Knows which item of the transcript grows, and with what."""

    def __init__(self, transcript: Transcript) -> None:
        self._transcript = transcript
        self._answer: AnswerItem | None = None
        self._tools: dict[str, ToolItem] = {}
        self._tasks: dict[int, TaskItem] = {}
        self._contest: ContestItem | None = None

    def open(self, entries: Sequence[Entry]) -> None:
        """Another conversation is at hand."""
        self.close()
        self._tasks.clear()
        self._contest = None
        self._transcript.clear()
        self._transcript.extend(items_of(entries, self._dot))

    def divide(self, label: str) -> None:
        """What comes now has little to do with what came before."""
        self.close()
        self._transcript.add(DividerItem(label))

    def notice(self, sentence: str, kind: Kind = "quiet") -> None:
        """A sentence of the app itself."""
        self._transcript.add(NoticeItem(sentence, kind))

    def task(self, number: int, label: str, shown: Shown, before: str) -> None:
        """A small task begins."""
        item = self._tasks[number] = TaskItem(label, shown, before)
        self._transcript.add(item)

    def hear(self, news: Sequence[News]) -> None:
        """Write all of it down. An item that several pieces make grow is painted once."""
        changed: dict[int, Item] = {}
        for piece in news:
            item = self._write(piece)
            if item is not None:
                changed[id(item)] = item
        for item in changed.values():
            self._transcript.changed(item)

    def close(self) -> None:
        """Nothing more comes of what was being written."""
        if self._answer is not None:
            self._end("stopped", "", 0)

    # ---------------------------------------------------------------------------------- inside

    def _write(self, news: News) -> Item | None:
        """What one piece of news changes; what it adds is added."""
        match news:
            case Asked():
                said = PersonItem(news.text, news.files, written=news.written, entry=news.entry)
                self._transcript.add(said)
                self._transcript.jump_to_end()
            case Piece():
                return self._feed(news)
            case Answer():
                answered = news.answered
                # In the middle of work, figures would stand between what is done.
                measured = "" if answered.calls else footer(answered.done.tally, self._dot)
                self._end(answered.done.reason, measured, news.entry)
            case Told():
                for text in news.texts:
                    self._transcript.add(PersonItem(text))
            case BrokenOff():
                self._end("failed", "", 0)
                self.notice(news.sentence, "error")
            case Died():
                self.notice(f"{news.why}. It is started again, and the answer goes on", "warning")
            case Notice():
                self.notice(news.sentence, news.kind)
            case ToolStarted():
                item = self._tools[news.id] = ToolItem(news)
                self._transcript.add(item)
            case ToolOutput() if (running := self._tools.get(news.id)) is not None:
                running.write(news)
                return running
            case ToolEnded() if (running := self._tools.pop(news.id, None)) is not None:
                running.end(news)
                if news.id.startswith(BY_PERSON):
                    # They ran it to see what it prints.
                    running.toggle()
                return running
            case TaskPiece() if (task := self._tasks.get(news.task)) is not None:
                task.feed(news.text)
                return task
            case TaskDone() if (task := self._tasks.get(news.task)) is not None:
                task.finish(news.text, news.note)
                return task
            case Said():
                self._transcript.extend(items_of(news.entries, self._dot))
            case ContestBegan():
                self._contest = ContestItem(news.wish)
                self._transcript.add(self._contest)
            case AttemptStands() if self._contest is not None:
                self._contest.stands(news.standing)
                return self._contest
            case ContestOver() if self._contest is not None:
                ended, self._contest = self._contest, None
                ended.finish(news.result, news.note)
                return ended
        return None

    def _feed(self, piece: Piece) -> Item | None:
        if piece.kind == "call":
            # Shown as a card once it is whole.
            return None
        if self._answer is None:
            self._answer = AnswerItem()
            self._transcript.add(self._answer)
        if piece.kind == "thought":
            self._answer.feed_thought(piece.text, piece.tokens)
        else:
            self._answer.feed_answer(piece.text, piece.drafted)
        return self._answer

    def _end(self, state: str, measured: str, entry: int) -> None:
        if (item := self._answer) is not None:
            self._answer = None
            item.entry = entry or None
            item.finish(state, measured)
            self._transcript.changed(item)

    @property
    def _dot(self) -> str:
        return self._transcript.look.glyphs.dot


def items_of(entries: Sequence[Entry], dot: str) -> Iterator[Item]:
    """Entries of a conversation as items; the result of a call is shown with it."""
    # Not at the top: where there are entries it is loaded already, and the first screen has none.
    from gemma_local.app.conversation import FILES

    results = _results(entries)
    for entry in entries:
        message = entry.message
        if entry.kind == "summary":
            yield SummaryItem(message.text, entry=entry.number)
        elif message.role == "user":
            files = [(start, end) for start, end in entry.info.get(FILES, ())]
            yield PersonItem(message.text, files, written=entry.written, entry=entry.number)
        elif message.role == "assistant":
            state = "stopped" if entry.state != "complete" else entry.finish
            if message.text or message.thought or not message.calls:
                measured = "" if message.calls else footer_of(entry.report, dot)
                yield AnswerItem.of(message, entry=entry.number, state=state, footer=measured)
            for at, call in enumerate(message.calls):
                result = results.get((entry.number, at))
                yield _tool(f"{entry.number}.{at}", call, result)
                for text in result.info.get("steered", ()) if result is not None else ():
                    yield PersonItem(text)


def _results(entries: Sequence[Entry]) -> dict[tuple[int, int], Entry]:
    """The entry of a result by that of its call and the call's place in it."""
    found: dict[tuple[int, int], Entry] = {}
    waiting: list[tuple[int, int, str]] = []
    for entry in entries:
        message = entry.message
        if message.role == "tool":
            for call in waiting:
                if call[2] == message.tool:
                    found[call[:2]] = entry
                    waiting.remove(call)
                    break
        elif entry.kind == "message":
            waiting = [(entry.number, at, call.name) for at, call in enumerate(message.calls)]
    return found


def _tool(identity: str, call: ToolCall, result: Entry | None) -> ToolItem:
    """A call and what it brought, as ``agent.loop`` has kept it."""
    info: Mapping[str, Any] = result.info if result is not None else {}
    shown, changed = info.get("shown", {}), info.get("diff")
    title = shown.get("title") or call_title(call.arguments)
    item = ToolItem(ToolStarted(identity, call.name, title, call.arguments))
    if result is None:
        item.end(ToolEnded(identity, "stopped", "interrupted"))
        return item
    message = result.message
    item.end(
        ToolEnded(
            identity,
            shown.get("outcome", "ok"),
            shown.get("summary", ""),
            message.text if message.result is None else str(message.result),
            FileDiff(changed["path"], changed["before"], changed["after"]) if changed else None,
            shown.get("seconds", 0.0),
        )
    )
    return item
