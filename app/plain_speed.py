"""What drafting gains, against plain decoding of the same pair.

Measured where it can be. Where the engine decides how far to draft it knows what a pass without a
draft takes, here and now. Else it is a plain answer of this session, or of an earlier run with the
same files and settings on this machine. Where nothing was ever decoded plain it is estimated: the
answer tells how long a pass of the target over n rows took, v seconds on average, and the forecast
how much more n rows cost than one, k(n) = pass(n) / pass(1) (`engine.plan.forecast.pass_seconds`).
So

    plain = k(n) / v  tokens a second,    gain = drafted / plain - 1

where n is the mean draft and one more, or in exact mode that filled up to blocks of four. v is of
this very answer, so whatever else slows the machine down is in both speeds; only k is not measured.

On E2B's shape and two AVX2 cores, with the memory's bandwidth known, that gave +21 to +27 % at
drafts of 3, where interleaved plain runs gave +14 to +38 %: as far apart as those were among
themselves.
"""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gemma_local.app import folders
from gemma_local.app.known_speeds import known_bandwidth
from gemma_local.app.launch import Launch
from gemma_local.app.speed_record import LEAST_DECODED
from gemma_local.engine.commands import BLOCK
from gemma_local.engine.messages import Done, Ready, Tally
from gemma_local.engine.plan.forecast import REFERENCE, pass_seconds
from gemma_local.engine.plan.history import History, Run, machine_key
from gemma_local.engine.plan.settings import Wishes
from gemma_local.engine.plan.speeds import speeds_of

_RECENT: Final = 9
"""Plain answers, or runs, that count: the machine may have changed."""
_ON_DEVICE: Final = 0.5
"""Share of the weights on devices above which their kernels decide."""


@dataclass(frozen=True, slots=True)
class Gain:
    """How much faster drafting was, in percent, negative where it was slower. ``plain`` is the
    speed without, in tokens a second. Both are estimates unless ``measured``."""

    percent: float
    plain: float
    measured: bool


class PlainSpeed:
    """Knows, or estimates, how fast a pair decodes without drafts."""

    def __init__(self, launch: Launch, ready: Ready, runs: Sequence[Run] = ()) -> None:
        """``runs`` are earlier ones; those of other files, settings or machines do not count."""
        self._launch = launch
        self._here: deque[tuple[float, int]] = deque(maxlen=_RECENT)
        self._past = _plain_runs(launch, ready, runs)[-_RECENT:]
        machine, planned = launch.machine, launch.planned
        self._speeds = None
        if machine is not None and planned is not None and planned.fitting is not None:
            bandwidth = known_bandwidth(machine, Wishes(threads=ready.threads))
            self._speeds = speeds_of(machine, planned.fitting.device, ready.threads, bandwidth)

    @classmethod
    def remembered(cls, launch: Launch, ready: Ready) -> PlainSpeed:
        """With the runs that were kept on this machine."""
        return cls(launch, ready, History(folders.history_path()).runs())

    def observe(self, done: Done) -> None:
        """An answer has ended; if it was decoded plain, that is how fast plain is."""
        tally = done.tally
        # Plain decoding in exact mode computes rows that nobody needs.
        if not tally.drafted and not done.exact and tally.decoded_tokens >= LEAST_DECODED:
            self._here.append((tally.tokens_per_second, _depth(tally)))

    def gain(self, tally: Tally, *, exact: bool = False) -> Gain | None:
        """What drafts gained in an answer that has ended or is coming; ``exact``: in exact mode.

        None where nothing was drafted or weighed, where there is too little of it to tell, and
        where there is neither a measurement nor a forecast to go by.
        """
        if tally.decoded_tokens < LEAST_DECODED:
            return None
        plain = tally.pace.plain_speed if tally.pace is not None else None
        if plain is None and tally.drafted:
            plain = self._measured(_depth(tally))
        measured = plain is not None
        if plain is None and tally.drafted:
            plain = self._estimated(tally, exact=exact)
        if not plain:
            return None
        return Gain((tally.tokens_per_second / plain - 1) * 100, plain, measured)

    def _measured(self, depth: int) -> float | None:
        """The median of plain answers with about as much in the cache: a fuller one is slower."""
        speeds = [speed for speed, at in self._here if abs(at - depth) <= REFERENCE]
        if not speeds and depth <= REFERENCE:
            speeds = self._past
        return statistics.median(speeds) if speeds else None

    def _estimated(self, tally: Tally, *, exact: bool) -> float | None:
        if not tally.passes or not tally.verify_seconds or self._speeds is None:
            return None
        rows = 1 + tally.drafted / tally.passes
        if exact:
            rows = math.ceil(rows / BLOCK) * BLOCK
        whole, depth = math.floor(rows), _depth(tally)
        # Between whole numbers of rows: some passes had fewer, some more.
        fewer, more = self._seconds(whole, depth), self._seconds(whole + 1, depth)
        cost = (fewer + (rows - whole) * (more - fewer)) / self._seconds(1, depth)
        return cost * tally.passes / tally.verify_seconds

    def _seconds(self, rows: int, depth: int) -> float:
        planned, speeds = self._launch.planned, self._speeds
        assert planned is not None and planned.fitting is not None and speeds is not None
        fitting = planned.fitting
        if fitting.share <= _ON_DEVICE and rows % BLOCK == BLOCK - 1:
            # Kernels of CPUs take blocks of four rows, and the rest row by row. Measured with 1 to
            # 9 rows: three rows took as long as four, all others what they should.
            rows += 1
        return pass_seconds(planned.candidate, fitting.settings, fitting.share, speeds, rows, depth)


def _depth(tally: Tally) -> int:
    """Tokens in the cache in the middle of an answer."""
    return tally.prompt_tokens + tally.emitted_tokens // 2


def _plain_runs(launch: Launch, ready: Ready, runs: Sequence[Run]) -> list[float]:
    """Speeds of plain runs with these files and settings on this machine, the oldest first."""
    planned, machine = launch.planned, launch.machine
    if planned is None or machine is None:
        return []
    wanted = (
        *(machine_key(machine), planned.candidate.label, planned.candidate.quantisation),
        *(launch.load.gpu_layers, ready.threads),
    )
    return [
        run.plain
        for run in runs
        if run.plain
        and (run.machine, run.label, run.quantisation, run.gpu_layers, run.threads) == wanted
    ]
