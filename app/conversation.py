"""What was said so far, and what of it the model reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gemma_local.app.compaction import OUTPUT, SAID, SUMMARY_REQUEST, StandIn
from gemma_local.app.prompts import PromptWriter
from gemma_local.app.record import Record, Stream
from gemma_local.app.sessions.entry import WRITTEN, Entry
from gemma_local.models.chat_format import Rendering
from gemma_local.models.message import Message, Tool, ToolCall, Value

INTERRUPTED: Final = "It was interrupted and brought no result."
"""What the model reads in place of a result that never came."""

FILES: Final = "files"
"""A key of ``Entry.info``: [start, end] of each part of the text that came from a file."""
REQUEST: Final = "request"
"""A key of a summary's ``Entry.info``: what the model was asked for."""


@dataclass(frozen=True, slots=True)
class View:
    """What the model reads: messages, and for each the number of its entry, 0 for none."""

    messages: tuple[Message, ...]
    numbers: tuple[int, ...]


class Conversation:
    """Entries in order, kept in a record as they come.

    Nothing that was said is ever altered. What the model reads of it may be: a stand-in for the
    output of a tool, a summary for the messages before it.
    """

    def __init__(
        self,
        writer: PromptWriter,
        record: Record,
        entries: Iterable[Entry] = (),
        *,
        system: str = "",
        tools: Sequence[Tool] = (),
        examples: Sequence[ToolCall] = (),
        thinking: bool = False,
    ) -> None:
        """``entries`` are those that ``record`` has already. ``examples`` show how ``tools`` are
        called, to a Gemma 4."""
        self._writer = writer
        self._record = record
        self.entries = list(entries)
        self.system = system
        self.tools = tuple(tools) if writer.supports_tools else ()
        self._examples = tuple(examples) if self.tools else ()
        self.thinking = thinking and writer.supports_thinking

    def twin(
        self,
        record: Record,
        *,
        writer: PromptWriter | None = None,
        entries: Sequence[Entry] | None = None,
    ) -> Conversation:
        """The same conversation for somebody who goes on with it apart from this one, or begins
        like it with other ``entries``: prompts begin alike, so that this need not be read again.
        """
        return Conversation(
            self._writer if writer is None else writer,
            record,
            self.entries if entries is None else entries,
            system=self.system,
            tools=self.tools,
            examples=self._examples,
            thinking=self.thinking,
        )

    # --------------------------------------------------------------------------------- reading

    @property
    def live(self) -> list[Entry]:
        """The entries that the model reads, in the order in which it does: summaries first."""
        kept = [entry for entry in self.entries if not entry.dropped]
        return sorted(kept, key=lambda entry: entry.kind != "summary")

    @property
    def awaits_answer(self) -> bool:
        """Whether the last message is one that the model is to answer."""
        live = self.live
        return bool(live) and live[-1].message.role in ("user", "tool")

    @property
    def is_in_chain(self) -> bool:
        """Whether the model has called tools and is about to go on with what they brought."""
        live = self.live
        return bool(live) and live[-1].message.role == "tool"

    @property
    def unanswered(self) -> tuple[ToolCall, ...]:
        """Calls of the last answer that have no result."""
        waiting: list[ToolCall] = []
        for entry in self.live:
            message = entry.message if entry.stand_in is None else entry.stand_in
            if message.role == "tool":
                same = next((call for call in waiting if call.name == message.tool), None)
                if same is not None:
                    waiting.remove(same)
            else:
                waiting = list(message.calls)
        return tuple(waiting)

    def count_up_to(self, number: int) -> int:
        """How many entries there are up to the one with this number."""
        return sum(entry.number <= number for entry in self.entries)

    def view(self, live: Sequence[Entry] | None = None) -> View:
        """The messages that the model reads, of all entries or of the ``live`` ones given."""
        messages: list[Message] = []
        numbers: list[int] = []

        def add(message: Message, number: int = 0) -> None:
            messages.append(message)
            numbers.append(number)

        if self.system:
            add(Message("system", self.system, calls=self._examples))
        waiting: list[str] = []
        for entry in self.live if live is None else live:
            message = entry.message if entry.stand_in is None else entry.stand_in
            if message.role == "tool":
                if message.tool in waiting:
                    waiting.remove(message.tool)
            else:
                for name in waiting:
                    add(Message("tool", INTERRUPTED, tool=name))
                waiting = [call.name for call in message.calls]
            if entry.kind == "summary":
                add(Message("user", str(entry.info.get(REQUEST, SUMMARY_REQUEST))), entry.number)
            add(message, entry.number)
        return View(tuple(messages), tuple(numbers))

    def rendering(self, *more: Message, live: Sequence[Entry] | None = None) -> Rendering:
        """The prompt for an answer to the last message, or to ``more`` messages behind it.

        Raises BadModelFile if the model's template fails, ValueError if there is nothing to answer.
        """
        messages = (*self.view(live).messages, *more)
        return self._writer.write(messages, tools=self.tools, thinking=self.thinking)

    def apart(self, messages: Sequence[Message]) -> Rendering:
        """The prompt for an answer to messages that have nothing to do with this conversation.

        Raises BadModelFile if the model's template fails.
        """
        return self._writer.write(messages, tools=(), thinking=False)

    def history(self) -> Rendering:
        """What the next prompt begins with when the user writes again."""
        messages = self.view().messages
        return self._writer.history(messages, tools=self.tools, thinking=self.thinking)

    # --------------------------------------------------------------------------------- writing

    def ask(
        self,
        text: str,
        *,
        files: Sequence[tuple[int, int]] = (),
        written: str = "",
        info: Mapping[str, Any] | None = None,
    ) -> Entry:
        """The user says something; ``files`` are the parts of it that came from files, as
        (start, end), and ``written`` what they wrote themselves if that is not ``text``. ``info``
        is kept with it."""
        kept: dict[str, Any] = dict(info or {})
        if files:
            kept[FILES] = [list(span) for span in files]
        if written and written != text:
            kept[WRITTEN] = written
        return self._keep(self._record.append(Message("user", text), info=kept))

    def add_result(
        self,
        tool: str,
        result: str | dict[str, Value],
        *,
        said: str = "",
        info: Mapping[str, Any] | None = None,
    ) -> Entry:
        """A tool that the model called has ended. ``info`` is kept with the result.

        ``said`` is what the user wrote meanwhile. It comes with the result, under a key of its own,
        which no text of the result can imitate; a message would end the model's turn, and the
        thoughts in it would have to go.
        """
        if isinstance(result, str):
            both: dict[str, Value] | None = {OUTPUT: result, SAID: said} if said else None
            message = Message("tool", result, tool=tool, result=both)
        else:
            message = Message("tool", tool=tool, result={**result, SAID: said} if said else result)
        return self._keep(self._record.append(message, info=info))

    def answering(self) -> Stream:
        """Begin to write an answer down; ``keep`` takes its entry."""
        return self._record.stream()

    def keep(self, entry: Entry) -> None:
        """The answer is over, and this is what there is of it."""
        self._keep(entry)

    def withdraw(self) -> None:
        """Nothing came of the last turn: the model does not read it, lest two questions stand in a
        row. It stays in the record. What tools have brought is kept: it can be gone on with."""
        for entry in reversed(self.live):
            if entry.message.role == "tool":
                break
            self.drop([entry.number])
            if entry.message.role == "user":
                break

    # -------------------------------------------------------------------------------- shrinking

    def stand_in(self, stand_ins: Iterable[StandIn]) -> None:
        """The model reads these in place of their entries."""
        for change in stand_ins:
            self._record.amend(change.number, stand_in=change.message)
            self._change(change.number, stand_in=change.message)

    def drop(self, numbers: Iterable[int]) -> None:
        """The model does not read these entries any more."""
        for number in numbers:
            self._record.amend(number, dropped=True)
            self._change(number, dropped=True)

    def sum_up(self, summary: Message, of: Sequence[int]) -> None:
        """The model reads ``summary`` and what asked for it in place of these entries."""
        # The summary first: if this is cut short the model reads too much, and not too little.
        info = {REQUEST: SUMMARY_REQUEST, "of": list(of)}
        self._keep(self._record.append(summary, kind="summary", info=info))
        self.drop(of)

    def _keep(self, entry: Entry) -> Entry:
        self.entries.append(entry)
        return entry

    def _change(self, number: int, **change: object) -> None:
        for index, entry in enumerate(self.entries):
            if entry.number == number:
                self.entries[index] = replace(entry, **change)  # type: ignore[arg-type]
