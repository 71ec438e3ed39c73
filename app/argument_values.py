"""What the words after options may be, with a sentence for those that make no sense."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Callable, Sequence

from gemma_local.app.bench_prompts import KINDS
from gemma_local.engine.messages import DRAFT_MAX


def whole(low: int, high: int, *, also: str = "") -> Callable[[str], int]:
    """A converter for whole numbers from ``low`` to ``high``; ``also`` names words in the text."""

    def convert(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise ArgumentTypeError(f"give {also}a whole number from {low} to {high}, not {text!r}")
        return value

    return convert


def real(low: float, high: float, *, above: bool = False) -> Callable[[str], float]:
    """A converter for numbers from ``low`` (only ``above`` it, if so) to ``high``."""

    def convert(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not low <= value <= high or (above and value == low):
            bounds = f"above {low:g} and up to {high:g}" if above else f"from {low:g} to {high:g}"
            raise ArgumentTypeError(f"give a number {bounds}, not {text!r}")
        return value

    return convert


class OneOf:
    """A converter for one of several words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)

    def __call__(self, text: str) -> str:
        if text not in self.words:
            raise ArgumentTypeError(f"give {_listed(self.words)}, not {text!r}")
        return text


def one_of(*words: str) -> OneOf:
    """A converter for one of several words."""
    return OneOf(words)


def some_text(text: str) -> str:
    """A converter for text that must not be empty."""
    if not text:
        raise ArgumentTypeError("give some text; it is empty")
    return text


def draft_length(text: str) -> int | None:
    """``auto`` is None, ``off`` is 0, else the number."""
    if text == "auto":
        return None
    return 0 if text == "off" else whole(0, DRAFT_MAX, also="auto, off or ")(text)


def thinking(text: str) -> int | None:
    """``off`` is None, ``on`` is 0, else the most tokens of a thought."""
    if text == "off":
        return None
    return 0 if text == "on" else whole(1, 1 << 20, also="on, off or ")(text)


def draft_lengths(text: str) -> tuple[int, ...]:
    """Draft lengths with commas between them, in ascending order."""
    convert = whole(1, DRAFT_MAX, also="with commas between them ")
    return tuple(sorted({convert(part.strip()) for part in text.split(",")}))


def kinds(text: str) -> tuple[str, ...]:
    """Kinds of built-in prompts with commas between them."""
    convert = one_of(*KINDS)
    return tuple(dict.fromkeys(convert(part.strip()) for part in text.split(",")))


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
