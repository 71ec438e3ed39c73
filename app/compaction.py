"""Making room in a full context: what may go, what stays word for word, and what to ask for.

First old output of tools becomes one line each, which takes no model. If that is not enough the
model sums the conversation up, as one more question at its end, so that all of it is still in the
cache; question and summary then stand in place of what they sum up.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from gemma_local.app.context_window import Window
from gemma_local.app.counted import counted
from gemma_local.app.sessions.entry import Entry
from gemma_local.models.message import Message, ToolCall, Value

SUMMARY_REQUEST: Final = """\
Sum up our conversation so far. You will go on with nothing but this summary, so write down, in \
short points: what I want, and the rules that I gave; what was decided, and why; what was done, \
with the exact names of files, functions and commands; what was found out; what is still open. \
Write only the summary."""

PINNED: Final = "pinned"
"""A key of ``Entry.info``: true for what must stay word for word, such as a list of open tasks."""

OUTPUT: Final = "output"
SAID: Final = "user_says"
"""Keys of a tool's result that also brings what the user said while it ran."""

_NEWEST_OUTPUT_SHARE: Final = 10
_NEWEST_STEPS_SHARE: Final = 4
_RECENT_TURNS_SHARE: Final = 5
_SMALL_OUTPUT: Final = 48
_LONGEST_ARGUMENT: Final = 40
_LONG_ARGUMENT: Final = 200
"""Characters of an argument from which on it may be left out later."""


@dataclass(frozen=True, slots=True)
class StandIn:
    """What the model will read in place of an entry."""

    number: int
    message: Message


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a compaction did, for the person. Tokens are those of the whole prompt."""

    before: int
    after: int
    stubs: int = 0
    """Outputs, and steps of the chain that is going on."""
    summarised: int = 0
    dropped: int = 0
    summary: str = ""

    @property
    def freed(self) -> int:
        """Tokens that the prompt has lost."""
        return self.before - self.after

    def sentence(self) -> str:
        """What was dropped, in one sentence."""
        parts = []
        if self.stubs:
            parts.append(f"{counted(self.stubs, 'tool output')} became one line each")
        if self.summarised:
            parts.append(f"{counted(self.summarised, 'message')} became a summary")
        if self.dropped:
            parts.append(f"{counted(self.dropped, 'message')} left the context")
        if not parts:
            return f"nothing can be dropped from the {self.before} tokens of the context"
        what = ", ".join(parts)
        return f"the context was compacted from {self.before} to {self.after} tokens: {what}"


def old_outputs(live: Sequence[Entry], tokens: Mapping[int, int], window: Window) -> list[StandIn]:
    """Stand-ins for the output of tools that is old, oldest first.

    ``live`` is what the model reads now, in order, ``tokens`` those of each entry by number.
    Output of the current turn stays, and so does the newest before it, up to a tenth of the window.
    """
    spare = window.size // _NEWEST_OUTPUT_SHARE
    found: list[StandIn] = []
    calls = _calls_of_results(live)
    for entry in reversed(live[: turn_start(live)]):
        if entry.message.role != "tool" or is_pinned(entry) or entry.stand_in is not None:
            continue
        count = tokens.get(entry.number, 0)
        spare -= count
        if spare < 0 and count >= _SMALL_OUTPUT:
            found.append(StandIn(entry.number, _stub(entry.message, calls[entry.number], count)))
    return found[::-1]


def old_steps(live: Sequence[Entry], tokens: Mapping[int, int], window: Window) -> list[StandIn]:
    """Stand-ins for what is old in the chain of calls that is going on: output becomes a line, and
    long arguments become a word about them.

    The newest steps stay, up to a quarter of the window, and the last one in any case.
    """
    start = turn_start(live)
    last = next(
        (i for i in reversed(range(len(live))) if live[i].message.role == "assistant"), start
    )
    spare = window.size // _NEWEST_STEPS_SHARE
    spare -= sum(tokens.get(entry.number, 0) for entry in live[last:])
    found: list[StandIn] = []
    calls = _calls_of_results(live)
    for entry in reversed(live[start + 1 : last]):
        count = tokens.get(entry.number, 0)
        spare -= count
        if spare >= 0 or is_pinned(entry) or entry.stand_in is not None:
            continue
        if entry.message.role == "tool" and count >= _SMALL_OUTPUT:
            found.append(StandIn(entry.number, _stub(entry.message, calls[entry.number], count)))
        elif (short := _with_short_calls(entry.message)) is not None:
            found.append(StandIn(entry.number, short))
    return found[::-1]


def to_sum_up(
    live: Sequence[Entry], tokens: Mapping[int, int], window: Window, *, keep_recent: bool = True
) -> list[Entry]:
    """The entries that a summary may replace: whole turns, from the first on.

    The current turn stays word for word and, with ``keep_recent``, those before it as far as they
    take a fifth of the window. Pinned entries stay.
    """
    spare = window.size // _RECENT_TURNS_SHARE if keep_recent else 0
    end = turn_start(live)
    for start in reversed([i for i in range(end) if _begins_turn(live[i])]):
        spare -= sum(tokens.get(entry.number, 0) for entry in live[start:end])
        if spare < 0:
            break
        end = start
    return [entry for entry in live[:end] if not is_pinned(entry)]


def oldest_turns(live: Sequence[Entry], tokens: Mapping[int, int], excess: int) -> list[Entry]:
    """Whole turns, oldest first, that together have ``excess`` tokens; as many as there are before
    the current turn if that is less."""
    oldest: list[Entry] = []
    for entry in live[: turn_start(live)]:
        if _begins_turn(entry) and excess <= 0:
            break
        if not is_pinned(entry):
            oldest.append(entry)
            excess -= tokens.get(entry.number, 0)
    return oldest


def turn_start(live: Sequence[Entry]) -> int:
    """Where the current turn begins: at the last message of the user, at 0 if there is none."""
    return next((i for i in reversed(range(len(live))) if _begins_turn(live[i])), 0)


def is_pinned(entry: Entry) -> bool:
    """Whether an entry must stay word for word."""
    return bool(entry.info.get(PINNED))


def _begins_turn(entry: Entry) -> bool:
    return entry.message.role == "user" and entry.kind == "message"


def summary_tokens(window: Window) -> int:
    """How long a summary may be."""
    return min(max(window.size // 16, 128), 2048)


def describe(call: ToolCall) -> str:
    """A call in a few words: its name and its short arguments."""
    words = [call.name]
    for value in call.arguments.values():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        line = text.strip().split("\n")[0]
        words.append(line if len(line) <= _LONGEST_ARGUMENT else f"{line[:_LONGEST_ARGUMENT]}...")
    return " ".join(words)


def _stub(message: Message, call: ToolCall, tokens: int) -> Message:
    text = f"[{describe(call)}: {tokens} tokens of output, dropped to save room]"
    said = (message.result or {}).get(SAID)
    # What the user said stays word for word.
    return replace(message, text=text, result={OUTPUT: text, SAID: said} if said else None)


def _with_short_calls(message: Message) -> Message | None:
    """An answer without the long arguments of its calls, None if it has none."""
    calls = tuple(
        replace(call, arguments={key: _short(value) for key, value in call.arguments.items()})
        for call in message.calls
    )
    return None if calls == message.calls else replace(message, calls=calls, spoken=None)


def _short(value: Value) -> Value:
    if not isinstance(value, str) or len(value) <= _LONG_ARGUMENT:
        return value
    return f"({len(value):,} characters, dropped to save room)"


def _calls_of_results(live: Sequence[Entry]) -> dict[int, ToolCall]:
    """The call that each result answers, by the result's number."""
    waiting: list[ToolCall] = []
    calls: dict[int, ToolCall] = {}
    for entry in live:
        message = entry.message
        if message.role == "assistant":
            waiting = list(message.calls)
        elif message.role == "tool":
            same = next((c for c in waiting if c.name == message.tool), ToolCall(message.tool))
            if same in waiting:
                waiting.remove(same)
            calls[entry.number] = same
    return calls
