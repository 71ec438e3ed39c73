"""Numbers as people read them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.app.counted import counted
from gemma_local.app.tui.status import figures


def test_figures() -> None:
    assert [figures.speed(s) for s in (0, 9.94, 18.34, 99.96, 1234.6)] == [
        " 0.0",
        " 9.9",
        "18.3",
        " 100",
        "1235",
    ]
    assert [figures.tokens(n) for n in (0, 999, 1000, 9949, 9950, 131072)] == [
        "   0",
        " 999",
        "1.0k",
        "9.9k",
        " 10k",
        "131k",
    ]
    assert [figures.window(n) for n in (32768, 8192, 5000)] == ["32k", "8k", "5.0k"]
    assert [figures.percent(s) for s in (0, 0.714, 1)] == ["  0 %", " 71 %", "100 %"]
    assert [counted(n, "token") for n in (1, 2048)] == ["1 token", "2,048 tokens"]
    assert counted(2, "pass", "passes") == "2 passes"


def test_memory() -> None:
    shown = [figures.memory(n) for n in (0, 5 << 19, 412 << 20, 3 << 30)]
    assert shown == ["0.0 MiB", "2.5 MiB", "412 MiB", "3.0 GiB"]


@settings(deadline=None)
@given(st.floats(0, 9999.4), st.integers(0, 9_999_499), st.floats(0, 9.99))
def test_figures_keep_their_width(speed: float, tokens: int, share: float) -> None:
    assert len(figures.speed(speed)) == 4
    assert len(figures.tokens(tokens)) == (4 if tokens < 999_500 else 5)
    assert len(figures.percent(share)) == 5
