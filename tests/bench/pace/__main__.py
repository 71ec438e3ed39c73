"""Does drafting as far as it pays hold what it promises, at true costs?

``python -m tests.bench.pace constructed --model FILE``: texts with acceptance decided in advance
``python -m tests.bench.pace moe --vocab FILE``: the same on a small mixture of experts
``python -m tests.bench.pace rewriting --model FILE``: a file with three changes is dictated
``python -m tests.bench.pace repeating --model FILE``: a real model repeats a file, such as that of
``make demo``
``python -m tests.bench.pace sequences --model FILE``: several sequences in one batch

Files of real shape are built by ``tests.bench.real_shape``; their drafters lie beside them. A quiet
machine is needed: everything is interleaved, but what another program takes in a single run is
lost. With the usual options each takes less than ten minutes on two cores with E2B's shape.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final

from gemma_local.app.terminal import table
from gemma_local.engine.commands import LOOKUP_MAX
from gemma_local.engine.messages import Load
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.pair import find_drafter
from gemma_local.models.prompt import Text
from gemma_local.models.target import inspect_target
from tests.bench.budget import Budget
from tests.bench.pace import constructed, parallel, rewriting
from tests.bench.pace.coins import SWITCHING
from tests.bench.pace.rig import Rig, loaded
from tests.bench.real_shape import default_folder, real_pair

_EXACT: Final[dict[str, bool | None]] = {"auto": None, "on": True, "off": False}
_ACCEPTANCE: Final = (0.95, 0.8, 0.5, 0.2, 0.0)
_MOE_LAYERS: Final = 6
"""Of 30, so that the file has 3.4 GB. The head, which every row shares, is half of what a pass
reads there and a fifth in the whole model, so another row costs less here."""


def main() -> None:
    given = _arguments()
    try:
        _PARTS[given.part](given)
    except GemmaLocalError as error:
        raise SystemExit(str(error)) from None


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.pace", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("part", choices=_PARTS)
    add = parser.add_argument
    add("--model", type=Path, help="the target; its drafter is found beside it")
    add("--vocab", type=Path, help="moe: any GGUF with Gemma 4's tokenizer")
    add("--folder", type=Path, default=default_folder(), help="moe: where the pair is built")
    add("--layers", type=int, default=_MOE_LAYERS, help="moe: how many (default %(default)s)")
    add("--threads", type=int, default=0)
    add("--exact", choices=_EXACT, default="off")
    add("--rounds", type=int, default=2, help="(default %(default)s)")
    add("--lengths", type=_numbers, default=(1, 2, 3, 4, 6, 8), help="fixed draft lengths")
    add("--acceptance", type=_shares, default=_ACCEPTANCE, help="of the texts, such as 0.8,0.5")
    add("--no-switching", action="store_true", help="leave out the text that changes its kind")
    add("--uninformed", action="store_true", help="the drafter's confidence tells nothing")
    add("--tokens", type=int, help="of a text, or an answer (default 160; sequences: 24)")
    add("--passes", type=int, default=4, help="of the longest fixed length, twice a round")
    add("--lines", type=int, default=200, help="of the file (default %(default)s)")
    add("--sequences", type=_numbers, default=(1, 2, 4, 8), help="how many at once, beside 1")
    given = parser.parse_args()
    needed = "vocab" if given.part == "moe" else "model"
    if getattr(given, needed) is None:
        parser.error(f"{given.part} needs --{needed}")
    given.sequences = sorted({1, *given.sequences})
    given.tokens = given.tokens or (24 if given.part == "sequences" else 160)
    return given


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(map(int, text.split(",")))


def _shares(text: str) -> tuple[float, ...]:
    return tuple(map(float, text.split(",")))


def _load(given: argparse.Namespace, target: Path, *, context: int) -> Load:
    drafter = find_drafter(inspect_target(target))
    return Load(
        str(target),
        str(drafter.path) if drafter is not None else None,
        context=context,
        threads=given.threads,
        draft_max=max(given.lengths),
        lookup_max=LOOKUP_MAX,
    )


def _rig(given: argparse.Namespace, *, context: int) -> AbstractContextManager[Rig]:
    return loaded(_load(given, given.model, context=context), exact=_EXACT[given.exact])


def _constructed(given: argparse.Namespace) -> None:
    texts: list[tuple[float, ...]] = [(acceptance,) for acceptance in given.acceptance]
    if not given.no_switching:
        texts.append(SWITCHING)
    plan = constructed.Plan(
        tuple(texts),
        lengths=given.lengths,
        tokens=given.tokens,
        rounds=given.rounds,
        passes=given.passes,
        informs=not given.uninformed,
    )
    with _rig(given, context=1024) as rig:
        found = constructed.measure(rig, plan)
    print(table(constructed.header(plan.lengths), [text.row() for text in found]), end="\n\n")
    for text in found:
        _print(text.budgets())


def _moe(given: argparse.Namespace) -> None:
    given.model = real_pair("26B-A4B", given.vocab, given.folder, layers=given.layers).target
    _constructed(given)


def _rewriting(given: argparse.Namespace) -> None:
    facts = inspect_target(given.model)
    with _rig(given, context=8192) as rig:
        found = rewriting.dictated(
            rig, facts, lines=given.lines, rounds=given.rounds, passes=4 * given.passes
        )
    _print(found.budgets())
    print("", *found.lines(), sep="\n")


def _repeating(given: argparse.Namespace) -> None:
    facts = inspect_target(given.model)
    with _rig(given, context=8192) as rig:
        found = rewriting.answered(
            rig, facts, lines=given.lines, rounds=given.rounds, tokens=given.tokens
        )
    _print(found.budgets())
    print("", *found.lines(), sep="\n")


def _sequences(given: argparse.Namespace) -> None:
    load = _load(given, given.model, context=512)
    count = max(given.sequences)
    prompts = [(Text(f"Tell me the story of the {n + 2} lighthouses."),) for n in range(count)]
    with tempfile.TemporaryDirectory(prefix="pace-bench-") as folder:
        found = parallel.measure(
            load,
            prompts,
            Path(folder) / "engine.log",
            counts=given.sequences,
            tokens=given.tokens,
            rounds=given.rounds,
            exact=_EXACT[given.exact],
        )
    print(table(parallel.HEADER, [one.row(found[0]) for one in found]), end="\n\n")
    for one in found:
        _print(one.budgets())


def _print(budgets: Iterable[Budget]) -> None:
    for budget in budgets:
        print(budget.line(), flush=True)


_PARTS: Final = {
    "constructed": _constructed,
    "moe": _moe,
    "rewriting": _rewriting,
    "repeating": _repeating,
    "sequences": _sequences,
}

if __name__ == "__main__":
    main()
