"""Which part of an answer a model is in: a thought, a tool call, or the answer itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Place = Literal["answer", "thought", "call"]

_ENTERS: Final[dict[str, Place]] = {
    "<|channel>": "thought",
    "<channel|>": "answer",
    "<|tool_call>": "call",
    "<tool_call|>": "answer",
}


class Channel:
    """Follows the markers in a model's output, by token and never by text.

    ``place`` is where the last token left it, ``thought_tokens`` counts the tokens of all thoughts
    without their markers.
    """

    def __init__(self, markers: Mapping[str, int], *, opens_thought: bool = False) -> None:
        """``opens_thought``: the prompt ended inside a thought."""
        self._enters = {markers[text]: place for text, place in _ENTERS.items() if text in markers}
        self.place: Place = "thought" if opens_thought else "answer"
        self.thought_tokens = 0

    def feed(self, token: int) -> Place:
        """Move on past a token; returns the place it belongs to."""
        before = self.place
        entered = self._enters.get(token)
        if entered is None:
            self.thought_tokens += before == "thought"
            return before
        self.place = entered
        return before if entered == "answer" else entered
