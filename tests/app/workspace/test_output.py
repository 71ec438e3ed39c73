"""What is kept of what a command writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.workspace import output as output_module
from gemma_local.app.workspace.output import Output


@given(st.lists(st.text(max_size=30), max_size=30), st.integers(10, 100))
def test_the_beginning_and_the_end_are_kept(pieces: list[str], most: int) -> None:
    output = Output(most)
    for piece in pieces:
        output.add(piece)
    whole = "".join(pieces)
    assert output.length == len(whole)
    if len(whole) <= most:
        assert output.text == whole
        return
    head = int(most * 0.4)
    note = f"\n[... {len(whole) - most:,} characters left out ...]\n"
    assert output.text == whole[:head] + note + whole[len(whole) - (most - head) :]


def test_the_whole_is_saved_up_to_a_length(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output_module, "SAVED_MOST", 10)
    path = tmp_path / "new" / "saved"
    output = Output(4, path)
    for piece in ("12345\r\n", "67", "89", "0"):
        output.add(piece)
    output.close()
    assert path.read_bytes() == b"12345\r\n678\n[... more was not saved ...]\n"
    assert output.length == 12
