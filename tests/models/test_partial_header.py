"""Headers of files that have not arrived yet."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.models.drafter import inspect_drafter, inspect_drafter_header
from gemma_local.models.errors import BadModelFile
from gemma_local.models.partial_header import HeaderIncomplete
from gemma_local.models.target import TargetFacts, inspect_header, inspect_target
from tests.models.gguf_bytes import Typed
from tests.models.tiny_models import tiny_drafter, tiny_target, write

WHOLE = tiny_target(per_layer=True).to_bytes()


def fetched(size: int, first: int) -> tuple[TargetFacts, list[int]]:
    """Ask for more until it is enough; the numbers of bytes that were fetched."""
    asked = [first]
    while True:
        try:
            return inspect_header(WHOLE[: asked[-1]], size, "tiny.gguf"), asked
        except HeaderIncomplete as missing:
            asked.append(missing.needed)


@given(st.integers(0, len(WHOLE)))
def test_any_beginning_leads_to_the_whole(first: int) -> None:
    facts, asked = fetched(len(WHOLE), first)
    assert facts.file_size == len(WHOLE)
    assert asked == sorted(set(asked))
    assert asked[-1] <= len(WHOLE)
    assert len(asked) <= 2 or asked[-1] == len(WHOLE)


def test_it_says_what_the_file_says(tmp_path: Path) -> None:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(WHOLE)
    whole = inspect_target(path)
    # The tensors' data is not needed, so far less than the file is.
    needed = len(WHOLE) - whole.anatomy.weights.stored
    facts = inspect_header(WHOLE[:needed], len(WHOLE), str(path))
    assert facts == whole
    part = tmp_path / "part"
    part.write_bytes(WHOLE[:needed])
    assert inspect_header(part, len(WHOLE), str(path)) == whole


def test_drafters_too(tmp_path: Path) -> None:
    path = write(tmp_path / "drafter.gguf", tiny_drafter())
    raw = path.read_bytes()
    with pytest.raises(HeaderIncomplete):
        inspect_drafter_header(raw[:100], len(raw))
    assert inspect_drafter_header(raw, len(raw), str(path)) == inspect_drafter(path)


def test_a_file_too_short_for_its_tensors_is_found_before_it_is_downloaded() -> None:
    with pytest.raises(BadModelFile, match="cut short"):
        inspect_header(WHOLE, len(WHOLE) - 1)


def test_what_is_no_model_is_said_so_at_once() -> None:
    page = b"<!DOCTYPE html><title>Sign in</title>"
    with pytest.raises(BadModelFile, match="web page"):
        inspect_header(page + bytes(5000), 1 << 30)
    with pytest.raises(BadModelFile, match="empty"):
        inspect_header(b"", 0)


def test_a_part_of_a_split_model() -> None:
    model = tiny_target()
    model.metadata |= {"split.count": Typed("u16", 3), "split.no": Typed("u16", 0)}
    raw = model.to_bytes()
    with pytest.raises(BadModelFile, match="one of 3 parts"):
        inspect_header(raw, len(raw))
