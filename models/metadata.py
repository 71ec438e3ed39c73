"""Typed access to a model's metadata, with a sentence for every key that is absent or senseless."""

from __future__ import annotations

import math
from pathlib import Path

from gemma_local.models.errors import BadModelFile
from gemma_local.models.gguf import GgufFile
from gemma_local.models.header_reader import Value

_UINT32_MAX = (1 << 32) - 1


class Metadata:
    """The keys of one model, most of which begin with its architecture's name.

    Args:
        file: a header as read.
        architecture: its ``general.architecture``, the prefix of the short keys used here:
            ``integer("block_count")`` reads ``gemma4.block_count``.
    """

    def __init__(self, file: GgufFile, architecture: str) -> None:
        self.file = file
        self.architecture = architecture

    @property
    def path(self) -> Path:
        return self.file.path

    def full(self, key: str) -> str:
        """The key as it stands in the file."""
        return f"{self.architecture}.{key}"

    def get(self, key: str) -> Value | None:
        """The value of an architecture's key, or None if the file lacks it."""
        return self.file.metadata.get(self.full(key))

    def bad(self, what: str) -> BadModelFile:
        """The error for a file whose conversion went wrong: ``what`` completes "the file ..."."""
        return BadModelFile(
            f"{self.path} {what}. It is damaged or was converted by a faulty tool; download "
            "another conversion of the model."
        )

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number of 0 to 2**32 - 1, which is what llama.cpp takes.

        Raises:
            BadModelFile: the key is absent and there is no default, or holds something else.
        """
        value = self.get(key)
        if value is None:
            if default is None:
                raise self.bad(f"lacks the number {self.full(key)!r}")
            return default
        return self._checked(key, value)

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number.

        Raises:
            BadModelFile: the key is absent and there is no default, or holds something else.
        """
        value = self.get(key)
        if value is None:
            if default is None:
                raise self.bad(f"lacks the number {self.full(key)!r}")
            return default
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise self.bad(f"holds no number under {self.full(key)!r}")
        if not math.isfinite(value):
            raise self.bad(f"says {value} under {self.full(key)!r}")
        return float(value)

    def per_layer(
        self, key: str, layers: int, default: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        """One whole number for each layer; a single number in the file stands for all of them.

        Raises:
            BadModelFile: the key is absent and there is no default, it is a list of another
                length (llama.cpp's ``get_key_or_arr`` throws), or holds something else.
        """
        value = self.get(key)
        if value is None:
            if default is None:
                raise self.bad(f"lacks the numbers {self.full(key)!r}")
            return default
        if not isinstance(value, tuple):
            return (self._checked(key, value),) * layers
        if len(value) != layers:
            raise self.bad(
                f"lists {len(value)} numbers under {self.full(key)!r} for {layers} layers"
            )
        return tuple(self._checked(key, item) for item in value)

    def flags(self, key: str, layers: int) -> tuple[bool, ...]:
        """One yes or no for each layer, as booleans or as integers.

        llama.cpp takes a shorter list and reads the rest as no, which gives a model that loads
        and talks nonsense; here its length must be right.

        Raises:
            BadModelFile: the key is absent, no list, of another length or of other things.
        """
        value = self.get(key)
        if value is None:
            raise self.bad(f"lacks the list {self.full(key)!r}")
        if not isinstance(value, tuple) or not all(isinstance(item, int) for item in value):
            raise self.bad(f"holds no list of yes and no under {self.full(key)!r}")
        if len(value) != layers:
            raise self.bad(
                f"lists {len(value)} entries under {self.full(key)!r} for {layers} layers"
            )
        return tuple(bool(item) for item in value)

    def text(self, full_key: str) -> str | None:
        """A text under a complete key such as ``general.name``; None if absent or no text."""
        value = self.file.metadata.get(full_key)
        return value if isinstance(value, str) else None

    def _checked(self, key: str, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.bad(f"holds no whole number under {self.full(key)!r}")
        if not 0 <= value <= _UINT32_MAX:
            raise self.bad(f"says {value} under {self.full(key)!r}")
        return value
