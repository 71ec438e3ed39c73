"""Noticing that the model goes round in circles.

What counts is a call together with its result: running the tests again after a change is no
repetition while something else comes of it, and reading ten files is none at all.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Final, Literal

from gemma_local.models.message import ToolCall

Rung = Literal["", "note", "nudge", "ask"]
"""What is due: nothing; a note that nothing is new; a word to do otherwise; ask the person."""

NOTE: Final = "You made this call before, and its result is the same."
NUDGE: Final = (
    "You have made this call {count} times, and its result stays the same. Calling again brings"
    " nothing new: go on with what you know, try another way, or say what is in the way."
)

_LONGEST_CYCLE: Final = 5
_CYCLES: Final = 3
"""Rounds of the same calls in the same order that are as bad as the same call so often."""
_TIMES: Final = re.compile(r"\b\d+(?:[.,:]\d+)*\s?(?:ms|s|sec|secs|seconds?|minutes?)\b")
_ASK_AT: Final = 4


class Repeats:
    """The calls of one turn."""

    def __init__(self) -> None:
        self._keys: list[str] = []
        self._since_change: list[str] = []

    def saw(self, call: ToolCall, result: str, *, has_changed: bool = False) -> tuple[Rung, int]:
        """What is due after a call with this result, and how often it came. ``has_changed``: the
        call has changed a file, so that what was tried before may now turn out otherwise."""
        key = _key(call, result)
        self._keys.append(key)
        if has_changed:
            self._since_change.clear()
        self._since_change.append(key)
        count = max(self._since_change.count(key), self._rounds())
        return _rung(count), count

    def go_on(self) -> None:
        """The person wants it so: begin to count anew."""
        self._keys.clear()
        self._since_change.clear()

    def _rounds(self) -> int:
        """How often the last calls have come in the same order, if that is often enough."""
        keys, best = self._keys, 1
        for length in range(2, _LONGEST_CYCLE + 1):
            cycle, rounds = keys[-length:], 1
            while keys[-length * (rounds + 1) : -length * rounds] == cycle:
                rounds += 1
            if rounds >= _CYCLES:
                best = max(best, rounds)
        return best


def _rung(count: int) -> Rung:
    if count >= _ASK_AT:
        return "ask"
    return "nudge" if count == _ASK_AT - 1 else "note" if count == _ASK_AT - 2 else ""


def _key(call: ToolCall, result: str) -> str:
    arguments = json.dumps(dict(call.arguments), sort_keys=True, ensure_ascii=True)
    # How long something took is no news.
    said = _TIMES.sub("#", result)
    text = "\0".join((call.name, arguments, said))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
