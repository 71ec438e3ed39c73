"""From options and a prompt to a request for the engine."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Final

from gemma_local.app.options import AnswerOptions
from gemma_local.engine.client import new_id
from gemma_local.engine.messages import Generate, Sampling
from gemma_local.models.chat_format import Rendering

EXACT: Final = {"auto": None, "on": True, "off": False}
"""``--exact`` as the engine wants it."""

GEMMA_SAMPLING: Final = Sampling()
GUEST_SAMPLING: Final = Sampling(temperature=0.7, top_k=40, top_p=0.95, min_p=0.05)
"""For other models, which rarely bear Gemma 4's temperature of 1."""


def sampling(options: AnswerOptions, *, is_gemma4: bool) -> Sampling:
    """The sampling settings, always with a seed.

    The seed is drawn here and not by the engine, so that it can be reported, and so that a request
    that is resumed after a crash goes on with the same one.
    """
    defaults = GEMMA_SAMPLING if is_gemma4 else GUEST_SAMPLING
    chosen = {
        name: value
        for name in ("temperature", "top_k", "top_p", "min_p")
        if (value := getattr(options, name)) is not None
    }
    return replace(
        defaults,
        **chosen,
        repeat_penalty=options.repeat_penalty,
        frequency_penalty=options.frequency_penalty,
        presence_penalty=options.presence_penalty,
        seed=secrets.randbits(32) if options.seed is None else options.seed,
        lenience=options.lenience,
    )


def request(
    rendering: Rendering, options: AnswerOptions, *, is_gemma4: bool, session: str = ""
) -> Generate:
    """The request for the answer to a prompt; ``session`` names the conversation's state."""
    return Generate(
        id=new_id(),
        prompt=rendering.prompt,
        session=session,
        thought_tokens=options.think or None,
        # A guest marks the end of its thought in its own way, which the engine does not follow.
        opens_thought=is_gemma4 and rendering.opening == "thought",
        sampling=sampling(options, is_gemma4=is_gemma4),
        max_tokens=options.max_tokens,
        stop=tuple(options.stop),
        draft=options.draft,
        exact=EXACT[options.exact],
    )
