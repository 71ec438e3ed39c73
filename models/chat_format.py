"""Gemma 4's own chat format: messages to prompt pieces.

Layout (Google's prompt-formatting page for Gemma 4 and the published chat templates, revision of
July 2026)::

    <bos><|turn>system\\n{system}<turn|>\\n<|turn>user\\n{text}<turn|>\\n<|turn>model\\n{answer}<turn|>\\n

The large sizes (12B, 26B-A4B, 31B) are told not to think by an empty thought at the start of the
model's turn; E2B and E4B are not given one, because priming it there makes reasoning leak untagged.
The embedded templates of published files differ between revisions, so we write the format
ourselves: the prompt of a turn then is a true prefix of the next turn's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from gemma_local.models.prompt import Control, Piece, Prompt, Text

MARKERS: Final = (
    *("<pad>", "<eos>", "<bos>", "<unk>", "<mask>"),
    *("<|tool>", "<tool|>", "<|tool_call>", "<tool_call|>", "<|tool_response>", "<tool_response|>"),
    *('<|"|>', "<|think|>", "<|channel>", "<channel|>", "<|turn>", "<turn|>"),
    *("<|image>", "<|image|>", "<image|>", "<|audio>", "<|audio|>", "<audio|>", "<|video|>"),
)
"""Every control token of Gemma 4, as text. Text from outside must never become one of them."""

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    text: str


_TURN_NAME: Final = {"system": "system", "user": "user", "assistant": "model"}


def render(messages: Sequence[Message], *, empty_thought: bool) -> Prompt:
    """The prompt for the model's next turn.

    ``empty_thought`` primes a closed, empty thought (the large sizes, thinking off). Raises
    ValueError when there is nothing to answer: the last message must be the user's.
    """
    if not messages or messages[-1].role != "user":
        raise ValueError("the last message must be the user's")
    pieces: list[Piece] = [Control("<bos>")]
    for message in messages:
        pieces += [
            Control("<|turn>"),
            Text(f"{_TURN_NAME[message.role]}\n{message.text.strip()}"),
            Control("<turn|>"),
            Text("\n"),
        ]
    pieces += [Control("<|turn>"), Text("model\n")]
    if empty_thought:
        pieces += [Control("<|channel>"), Text("thought\n"), Control("<channel|>")]
    return tuple(pieces)
