"""What a sequence has produced: tokens to text, and the signs that it should end."""

from __future__ import annotations

from typing import Final

from gemma_local.engine.channel import Channel
from gemma_local.engine.encoding import Detokeniser, StopStrings
from gemma_local.engine.messages import Delta
from gemma_local.engine.runtime.vocabulary import Vocabulary

_LONGEST_PERIOD: Final = 64
_LOOP_TOKENS: Final = 320
_LOOP_REPEATS: Final = 12
_LOOP_CHECK_EVERY: Final = 32


class Output:
    """Emitted tokens of one request, the text they print, and what has not been sent yet."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        stop: tuple[str, ...],
        produced: tuple[int, ...],
        *,
        watch_loops: bool = True,
        opens_thought: bool = False,
    ) -> None:
        """``produced`` tokens were emitted by an earlier attempt at the same request."""
        self._watches_loops = watch_loops
        self._markers = {token: text for text, token in vocabulary.markers.items()}
        self._vocabulary = vocabulary
        self._detokeniser = Detokeniser(vocabulary)
        self._stops = StopStrings(stop)
        self._pieces: list[str] = []
        self._tokens: list[int] = []
        self._drafted: list[bool] = []
        self._rest = ""
        self.channel = Channel(vocabulary.markers, opens_thought=opens_thought)
        self.ids: list[int] = []
        for token in produced:
            # Already with the client; replayed so that open characters and stop strings go on.
            self._print(token)
            self.ids.append(token)

    def add(self, token: int, *, drafted: bool) -> str | None:
        """Take one emitted token; returns the reason to end ("stop_string", "loop") or None."""
        self.ids.append(token)
        self._tokens.append(token)
        self._drafted.append(drafted)
        self._pieces.append(self._print(token))
        if self._stops.found is not None:
            return "stop_string"
        is_due = self._watches_loops and len(self.ids) % _LOOP_CHECK_EVERY == 0
        if is_due and loop_period(self.ids) is not None:
            return "loop"
        return None

    @property
    def stop_string(self) -> str | None:
        """The stop string that ended the output, if one did."""
        return self._stops.found

    def finish(self) -> None:
        """Release text that was held back for an open character or a possible stop string."""
        self._rest += self._release()

    def take(self, request: str) -> Delta | None:
        """What came since the last call, None if nothing did."""
        if not self._tokens and not self._rest:
            return None
        delta = Delta(
            request, tuple(self._tokens), tuple(self._drafted), tuple(self._pieces), self._rest
        )
        self._tokens.clear()
        self._drafted.clear()
        self._pieces.clear()
        self._rest = ""
        return delta

    def _print(self, token: int) -> str:
        """What becomes printable with a token.

        Stop strings are looked for in the answer alone: one in a thought or in the arguments of a
        call ends nothing. A marker is printed whole, and what is open before it is closed first.
        """
        place = self.channel.feed(token)
        if token in self._markers:
            return self._release() + self._vocabulary.piece(token).decode("utf-8", "replace")
        text = self._detokeniser.feed(token)
        return self._stops.feed(text) if place == "answer" else text

    def _release(self) -> str:
        return self._stops.feed(self._detokeniser.finish()) + self._stops.finish()


def loop_period(ids: list[int]) -> int | None:
    """The length of the cycle in which ``ids`` end, None if they do not.

    A cycle counts when it fills at least the last 320 tokens and came at least 12 times: a table
    of like rows or a ruler of dashes stays below, a model that lost itself does not.
    """
    if len(ids) < _LOOP_TOKENS:
        return None
    for period in range(1, _LONGEST_PERIOD + 1):
        span = max(_LOOP_TOKENS, period * _LOOP_REPEATS)
        if len(ids) < span:
            return None
        tail = ids[-span:]
        if tail[period:] == tail[:-period]:
            return period
    return None
