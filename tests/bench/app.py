"""What the app costs, against what it may cost.

``python -m tests.bench.app [--only start guide streaming acting resting decoding] [--model FILE]``

The app runs as people run it, as a process on a terminal; see ``app_terminal``. A table is printed
and nothing is judged by it but for the eye: the machine has other things to do, and how much is
printed with each figure. Decoding is only measured with ``--model``, a pair of a real size such as
``tests.bench.real_shape`` builds.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tests.bench import (
    app_acting,
    app_decoding,
    app_guide,
    app_resting,
    app_start,
    app_streaming,
)
from tests.bench.budget import Budget
from tests.ggufs import build, script

_PARTS: Final[dict[str, Callable[[Path, Path], Iterator[Budget]]]] = {
    "start": app_start.measure,
    "guide": app_guide.measure,
    "streaming": app_streaming.measure,
    "acting": app_acting.measure,
    "resting": app_resting.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=[*_PARTS, "decoding"], default=None)
    parser.add_argument("--model", type=Path, help="the target of a pair of a real size")
    parser.add_argument("--pairs", type=int, default=3, help="runs of each arm of decoding")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="app-bench-") as folder:
        home = Path(folder)
        small = build("dense", script(["Once", " upon", " a", " time", "."]), home / "pair")
        for name, measure in _PARTS.items():
            if given.only is None or name in given.only:
                _print(measure(small.target, home / name))
        if given.model is not None and (given.only is None or "decoding" in given.only):
            decoding = app_decoding.measure(given.model, home / "decoding", pairs=given.pairs)
            _print(decoding)


def _print(budgets: Iterator[Budget]) -> None:
    for budget in budgets:
        print(budget.line(), flush=True)


if __name__ == "__main__":
    main()
