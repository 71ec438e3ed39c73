"""Reserves in proportion to the window, at every size."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.context_window import ContextUse, Window


@pytest.mark.parametrize(
    ("size", "reply", "compact_at"),
    [(4096, 1024, 2867), (8192, 1024, 5734), (32_768, 4096, 24_576), (131_072, 8192, 104_857)],
)
def test_the_lines_of_usual_windows(size: int, reply: int, compact_at: int) -> None:
    window = Window(size)
    assert (window.reply, window.compact_at) == (reply, compact_at)


@given(st.integers(16, 1 << 20))
def test_every_window_leaves_room_for_both(size: int) -> None:
    window = Window(size)
    assert 0 < window.reply <= size // 4
    assert 0 < window.warn_at < window.compact_at <= window.room
    assert window.compact_at >= size // 2
    assert 0 < window.worthwhile <= size // 10


def test_the_line_names_what_there_is() -> None:
    use = ContextUse(Window(8192), system=20, history=4076)
    assert use.prompt == 4096
    assert use.free == 8192 - 1024 - 4096
    assert use.line() == (
        "context 4096 of 8192 (50%) · system 20 · history 4076 · kept for the reply 1024"
    )
