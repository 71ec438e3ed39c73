"""How much there is to read and to write, guessed from texts before the model can count them."""

from __future__ import annotations

from typing import Final

from gemma_local.engine.plan.parallel import Work

_BYTES_PER_TOKEN: Final = 4
_FEWEST_BYTES_PER_TOKEN: Final = 2
"""Of usual text, and of text that fills the context faster than any that people write."""
_TEMPLATE: Final = 64
"""Tokens around a question."""
_USUAL_ANSWER, _LONG_ANSWER = 400, 4096
"""Tokens where nobody set a limit: what to plan with, and what to leave room for."""
_STEP: Final = 256
"""llama.cpp makes contexts in multiples of this."""


def expected_work(*, longest: int, usual: int, most_tokens: int, requests: int) -> Work:
    """The work that ``requests`` with prompts of so many bytes make.

    ``most_tokens`` is what an answer may have, 0 without a limit.
    """
    needed = longest // _FEWEST_BYTES_PER_TOKEN + _TEMPLATE + (most_tokens or _LONG_ANSWER)
    return Work(
        prompt=usual // _BYTES_PER_TOKEN + _TEMPLATE,
        answer=min(most_tokens or _USUAL_ANSWER, _USUAL_ANSWER),
        context=-(-needed // _STEP) * _STEP,
        requests=requests,
    )
