"""Small GGUF files, and what the reader says of those it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.models.errors import BadModelFile
from gemma_local.models.gguf import read_gguf
from tests.models.gguf_bytes import Gguf, Tensor


def small(**metadata: object) -> Gguf:
    """A file with two tensors and these keys."""
    return Gguf({"general.architecture": "x", **metadata}, {"a": Tensor((4, 2)), "b": Tensor((3,))})


def refusal(path: Path) -> str:
    """What `read_gguf` says of a file, checked to be whole sentences about that file."""
    with pytest.raises(BadModelFile) as caught:
        read_gguf(path)
    text = str(caught.value)
    assert str(path) in text
    assert "\n" not in text
    assert text.endswith(".")
    return text


def save(folder: Path, raw: bytes, name: str = "m.gguf") -> Path:
    """Write bytes to a new file."""
    path = folder / name
    path.write_bytes(raw)
    return path
