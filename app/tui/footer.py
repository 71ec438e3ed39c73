"""What was measured of an answer, in a few words below it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gemma_local.engine.messages import Tally


def footer(tally: Tally, dot: str) -> str:
    """Of an answer that has just ended; ``dot`` stands between two facts."""
    return _words(tally.tokens_per_second, tally.acceptance, tally.tokens_per_pass, dot)


def footer_of(report: Mapping[str, Any], dot: str) -> str:
    """Of a kept answer, from the measurements that were kept with it."""
    speed, acceptance = report.get("tokens_per_second"), report.get("acceptance")
    per_pass = report.get("tokens_per_pass")
    return _words(_number(speed) or 0.0, _number(acceptance), _number(per_pass), dot)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _words(speed: float, acceptance: float | None, per_pass: float | None, dot: str) -> str:
    parts = [f"{speed:.1f} tokens/s"] if speed else []
    if acceptance is not None:
        parts.append(f"acceptance {acceptance:.0%}")
        if per_pass is not None:
            parts.append(f"{per_pass:.2f} tokens per pass")
    return f" {dot} ".join(parts)
