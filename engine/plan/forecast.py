"""How many tokens a second a plan will give, before anything is loaded.

A pass reads the weights once and multiplies them with each of its rows. On CPUs both take their
time one after the other; on devices a row more costs 3.5 %. That reproduces what was measured on
two AVX2 cores (a pass of 4 rows costs 2.7 of 1 for E2B) and the gains that are public for cards and
for mixtures of experts, whose rows read experts of their own. Only a run tells more, so numbers are
ranges, and earlier runs correct them (`history`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gemma_local.engine.commands import BLOCK
from gemma_local.engine.plan.candidate import Candidate
from gemma_local.engine.plan.settings import Settings
from gemma_local.engine.plan.speeds import Speeds
from gemma_local.models.footprint import KV_NUMBER

ACCEPTANCE: Final = {"prose": 0.5, "chat": 0.7, "code": 0.8}
"""Share of drafted tokens that are kept, by kind of work; public reports agree on about these."""
REFERENCE: Final = 4096
"""Tokens in the cache for the number in the middle, so that models are compared alike."""

_ROW: Final = 0.035
_PASS: Final = 0.002
_DRAFT: Final = 0.0007
_DEVICE_DRAFT: Final = 0.002
"""Seconds for a pass on a device, and for a drafted token, that nothing explains: launches,
sampling."""
_GUESSED, _MEASURED, _CORRECTED = 1.7, 1.35, 1.15
"""How far off a forecast may be, as a factor: without a measurement, with that of the memory's
bandwidth, and after a run."""


@dataclass(frozen=True, slots=True)
class Range:
    """Tokens a second."""

    low: float
    expected: float
    high: float

    def times(self, factor: float) -> Range:
        """All three, multiplied."""
        return Range(self.low * factor, self.expected * factor, self.high * factor)


@dataclass(frozen=True, slots=True)
class Forecast:
    """``plain`` is decoding without drafts, ``drafted`` with them (None: none are made), from prose
    to code; ``prefill`` reading a prompt. ``runs`` earlier ones corrected it."""

    plain: Range
    drafted: Range | None
    prefill: Range
    runs: int = 0

    @property
    def decode(self) -> Range:
        """What an answer will be like."""
        return self.drafted or self.plain


@dataclass(frozen=True, slots=True)
class Correction:
    """Measured over forecast, the median of ``runs`` runs; 1 without any."""

    plain: float = 1.0
    drafted: float = 1.0
    prefill: float = 1.0
    runs: int = 0


def forecast(
    candidate: Candidate,
    settings: Settings,
    device_share: float,
    speeds: Speeds,
    correction: Correction | None = None,
) -> Forecast:
    """The forecast of one pair with these settings.

    ``device_share`` is the part of the weights that passes read on devices, 0 to 1.
    """
    correction = correction or Correction()
    on_device = device_share > 0.5
    if correction.runs:
        spread = _CORRECTED
    elif speeds.is_measured and not device_share:
        spread = _MEASURED
    else:
        spread = _GUESSED

    def seconds(rows: int, cached: int) -> float:
        return pass_seconds(candidate, settings, device_share, speeds, rows, cached)

    def drafted(acceptance: float, cached: int) -> float:
        # On CPUs whole blocks, whatever the draft (`engine.exactness`).
        rows = settings.draft + 1 if on_device else max(BLOCK, settings.draft + 1)
        total = seconds(rows, cached) + settings.draft * draft_seconds(candidate, speeds, on_device)
        return tokens_per_pass(acceptance, settings.draft) / total

    half = settings.context // 2
    middle = min(REFERENCE, half)
    plain = Range(1 / seconds(1, half) / spread, 1 / seconds(1, middle), 1 / seconds(1, 0) * spread)
    with_drafts = None
    if settings.draft:
        with_drafts = Range(
            drafted(ACCEPTANCE["prose"], half) / spread,
            drafted(ACCEPTANCE["chat"], middle),
            drafted(ACCEPTANCE["code"], 0) * spread,
        ).times(correction.drafted)
    reading = 1 / _prefill_seconds(candidate, settings, device_share, speeds)
    return Forecast(
        plain.times(correction.plain),
        with_drafts,
        Range(reading / spread / 1.3, reading, reading * spread * 1.3).times(correction.prefill),
        correction.runs,
    )


def tokens_per_pass(acceptance: float, draft: int) -> float:
    """Tokens that a pass yields on average: 1 + a + a^2 + ... + a^draft."""
    return sum(acceptance**i for i in range(draft + 1))


def pass_seconds(
    candidate: Candidate,
    settings: Settings,
    device_share: float,
    speeds: Speeds,
    rows: int,
    cached: int,
    sequences: int = 1,
) -> float:
    """Seconds of one pass over ``rows`` tokens of so many sequences together, with ``cached``
    tokens in the cache of each."""
    # All weights are read once, each one's cache for itself.
    read = candidate.read_bytes(rows) + sequences * candidate.cache_read_bytes(
        cached, *KV_NUMBER[settings.kv_type]
    )
    host = 1.0 - device_share
    flops = 2.0 * candidate.active_parameters * host
    there = read * device_share / speeds.device_bytes * (1 + _ROW * (rows - 1))
    here = read * host / speeds.host_bytes + rows * flops / speeds.host_flops
    return there + here + (_PASS if device_share else 0.0)


def draft_seconds(candidate: Candidate, speeds: Speeds, on_device: bool) -> float:
    """Seconds for a drafted token; 0 without a drafter."""
    if candidate.drafter is None:
        return 0.0
    weights = candidate.drafter.weights
    read = sum(layer.total for layer in weights.layers) + weights.head.total
    if on_device:
        return read / speeds.device_bytes + _DEVICE_DRAFT
    # Its matrices are four bits a number or more, so this is at most twice the arithmetic.
    return read / speeds.host_bytes + 4.0 * read / speeds.host_flops + _DRAFT


def _prefill_seconds(
    candidate: Candidate, settings: Settings, device_share: float, speeds: Speeds
) -> float:
    """Seconds a token of a full slice."""
    flops = 2.0 * candidate.active_parameters
    read = candidate.read_bytes(settings.ubatch) / settings.ubatch
    there = device_share * (0.7 * flops / (0.25 * speeds.device_flops) + read / speeds.device_bytes)
    here = flops / (0.75 * speeds.host_flops) + read / speeds.host_bytes
    if device_share and speeds.bus_bytes:
        # llama.cpp lets a card multiply long batches with weights that it has to be sent each time
        # (``op_offload``).
        here = min(here, read / speeds.bus_bytes + 0.7 * flops / (0.25 * speeds.device_flops))
    return there + (1 - device_share) * here
