"""Models that are split into several files, by the names that llama.cpp gives them."""

from __future__ import annotations

import re
from typing import Final

_PART: Final = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")


def part_names(name: str) -> tuple[str, ...]:
    """All files of the model whose first part has this name; just ``name`` if it is no part.

    ``name`` may have folders in front (``llama_split_path`` puts number and count at the end).
    """
    match = _PART.fullmatch(name)
    if match is None or int(match["number"]) != 1:
        return (name,)
    count = int(match["count"])
    return tuple(f"{match['stem']}-{i + 1:05d}-of-{count:05d}.gguf" for i in range(count))


def is_later_part(name: str) -> bool:
    """Whether a file belongs to another one, which is the model."""
    match = _PART.fullmatch(name)
    return match is not None and int(match["number"]) != 1


def first_part(name: str) -> str:
    """The first part of the model that ``name`` is a part of; ``name`` if it is none."""
    match = _PART.fullmatch(name)
    return name if match is None else f"{match['stem']}-00001-of-{match['count']}.gguf"


def stem(name: str) -> str:
    """A model's file name without its ending, and without number and count of a part."""
    match = _PART.fullmatch(name)
    return match["stem"] if match is not None else name.removesuffix(".gguf")
