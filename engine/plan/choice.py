"""The plan: what each size would be like on a machine, and which one to run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal, TypeAlias

from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.candidate import Candidate
from gemma_local.engine.plan.errors import DoesNotFit, WishRefused
from gemma_local.engine.plan.forecast import Correction, Forecast, forecast
from gemma_local.engine.plan.reasons import reasons_of, threads_reason
from gemma_local.engine.plan.room import Room, room_of
from gemma_local.engine.plan.search import COMFORTABLE, WANTED, Fitting, Missing, search
from gemma_local.engine.plan.settings import Settings, Wishes
from gemma_local.engine.plan.speeds import Speeds, speeds_of
from gemma_local.models.foreign_file import human_bytes

Fit: TypeAlias = Literal["fits", "less context", "no"]

FAST_ENOUGH: Final = 5.0
"""Tokens a second without drafts, about as fast as one reads; below, a size is not chosen."""
READS_FAST_ENOUGH: Final = 15.0
"""The same for reading prompts: a page of code in a minute."""
LEAST_GAIN: Final = 0.9
"""Drafted over plain speed below which drafting is not even begun with."""
FEW_CORES: Final = 4
"""What it takes to use the memory up."""

CorrectionOf = Callable[[Candidate], Correction]


@dataclass(frozen=True, slots=True)
class SizePlan:
    """One pair on this machine. ``fitting`` and ``forecast`` are None where nothing fits, and
    ``missing`` where something does. ``reasons`` are (what, sentence), ``cautions`` sentences."""

    candidate: Candidate
    fit: Fit
    fitting: Fitting | None
    missing: Missing | None
    forecast: Forecast | None
    raw: Forecast | None = None
    """The forecast before earlier runs corrected it."""
    reasons: tuple[tuple[str, str], ...] = ()
    cautions: tuple[str, ...] = ()

    @property
    def settings(self) -> Settings | None:
        """How it would be loaded, None if it does not fit."""
        return self.fitting.settings if self.fitting is not None else None

    @property
    def is_eligible(self) -> bool:
        """Whether it may be chosen: it fits with a comfortable context and is fast enough."""
        reads = self.forecast.prefill.expected if self.forecast is not None else 0.0
        is_fast = self._speed >= FAST_ENOUGH and reads >= READS_FAST_ENOUGH
        return self._is_comfortable and is_fast

    @property
    def _is_comfortable(self) -> bool:
        least = min(COMFORTABLE, self.candidate.context_limit)
        return self.fitting is not None and self.fitting.settings.context >= least

    @property
    def _speed(self) -> float:
        return self.forecast.plain.expected if self.forecast is not None else 0.0

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        taken = self.fitting.footprint if self.fitting is not None else None
        return {
            "size": self.candidate.label,
            "quantisation": self.candidate.quantisation,
            "installed": str(self.candidate.path) if self.candidate.path else None,
            "bytes": self.candidate.bytes,
            "fit": self.fit,
            "settings": asdict(self.settings) if self.settings is not None else None,
            "memory_bytes": taken.host if taken is not None else None,
            "device_bytes": taken.device if taken is not None else None,
            "missing_bytes": self.missing.total if self.missing is not None else 0,
            "forecast": asdict(self.forecast) if self.forecast is not None else None,
            "reasons": dict(self.reasons),
            "cautions": list(self.cautions),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """``sizes`` from the smallest on. ``chosen`` of all, ``installed`` of those that are here."""

    sizes: tuple[SizePlan, ...]
    chosen: SizePlan | None
    installed: SizePlan | None
    why: str

    def as_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "recommended": self.chosen.candidate.label if self.chosen else None,
            "installed": self.installed.candidate.label if self.installed else None,
            "why": self.why,
            "sizes": [size.as_json() for size in self.sizes],
        }


def plan(
    machine: Machine,
    candidates: Iterable[Candidate],
    wishes: Wishes | None = None,
    *,
    bandwidth: float | None = None,
    correction: CorrectionOf | None = None,
) -> Plan:
    """Plan every size and choose among them.

    Args:
        machine: what there is.
        candidates: pairs, installed or not; of each size the first that fits is taken, those on
            this disk before others.
        bandwidth: bytes a second of ordinary memory, if it was measured.
        correction: what earlier runs say of a pair's forecast.

    Raises:
        WishRefused: the machine or a model does not have what was asked for.
    """
    wishes = wishes or Wishes()
    groups: dict[str, list[SizePlan]] = {}
    for candidate in sorted(candidates, key=lambda one: (one.rank, one.path is None)):
        planned = plan_one(machine, candidate, wishes, bandwidth=bandwidth, correction=correction)
        groups.setdefault(candidate.label, []).append(planned)
    sizes = tuple(_best_of(group) for group in groups.values())
    here = [size for size in sizes if size.candidate.path is not None]
    chosen, why = choose(sizes)
    return Plan(sizes, chosen, choose(here)[0], why)


def plan_one(
    machine: Machine,
    candidate: Candidate,
    wishes: Wishes | None = None,
    *,
    bandwidth: float | None = None,
    correction: CorrectionOf | None = None,
) -> SizePlan:
    """One pair; arguments and errors as for `plan`."""
    wishes = wishes or Wishes()
    threads = threads_of(machine, wishes)
    room = room_of(machine)
    _check(wishes, candidate, room)
    past = correction(candidate) if correction is not None else Correction()

    def speeds(fitting: Fitting) -> Speeds:
        return speeds_of(machine, fitting.device, threads, bandwidth)

    def expect(fitting: Fitting, past: Correction = past) -> Forecast:
        return forecast(candidate, fitting.settings, fitting.share, speeds(fitting), past)

    def find(asked: Wishes) -> Fitting | Missing:
        return search(
            candidate, room, asked, threads, lambda fitting: expect(fitting).decode.expected
        )

    found = find(wishes)
    if isinstance(found, Missing):
        return SizePlan(candidate, "no", None, found, None)
    gain = _gain(expect(found))
    if wishes.draft is None and candidate.rank and gain < LEAST_GAIN:
        bare = find(replace(wishes, draft=0))
        assert isinstance(bare, Fitting)
        why = f"a verifying pass costs so much here that it would make {gain:.2f} of the speed"
        found = replace(bare, off_because=why)
    wanted = min(WANTED, candidate.context_limit)
    is_less = wishes.context is None and found.settings.context < wanted
    reasons, cautions = reasons_of(candidate, found, room, machine, wishes)
    return SizePlan(
        candidate,
        "less context" if is_less else "fits",
        found,
        None,
        expect(found),
        expect(found, Correction()),
        (*reasons, ("threads", threads_reason(machine, wishes, threads))),
        cautions,
    )


def require(planned: SizePlan, room: Room) -> Fitting:
    """The settings of a pair that must run. Raises DoesNotFit, with what is missing."""
    if planned.fitting is not None:
        return planned.fitting
    missing = planned.missing
    assert missing is not None
    label = planned.candidate.label
    where, there, lacks = "memory", room.host, missing.host
    if not missing.host:
        where = room.devices[0].name if room.devices else "the device"
        there, lacks = room.devices[0].room if room.devices else 0, missing.device
    raise DoesNotFit(
        f"{label} does not fit with a context of {missing.context} tokens: it needs "
        f"{human_bytes(there + lacks)} of {where}, and {human_bytes(there)} can be used "
        f"({human_bytes(lacks)} too little; {human_bytes(room.host_kept)} stay free for the rest). "
        "Close other programs, give a smaller --ctx, or take a smaller model: gemma-local doctor "
        "shows what fits"
    )


def choose(sizes: Sequence[SizePlan]) -> tuple[SizePlan | None, str]:
    """The size for the best answers that is fast enough, and why it is that one."""
    eligible = [size for size in sizes if size.is_eligible]
    if eligible:
        best = max(eligible, key=lambda size: (size.candidate.rank, size._speed))
        larger = [s for s in sizes if s.candidate.rank > best.candidate.rank]
        slow = [s.candidate.label for s in larger if s._is_comfortable]
        other = [s.candidate.label for s in larger if not s._is_comfortable]
        parts = [f"{_listed(slow)} would be too slow"] if slow else []
        parts += [f"{_listed(other)} would not fit"] if other else []
        why = f": {'; '.join(parts)}" if parts else ""
        return best, f"{best.candidate.label} gives the best answers that are fast enough{why}"
    possible = [size for size in sizes if size._is_comfortable] or [s for s in sizes if s.fitting]
    if not possible:
        return None, "no size fits into the memory that is free now"
    best = max(possible, key=lambda size: (size._speed, size.candidate.rank))
    return best, f"{best.candidate.label} is the fastest; every size is slow here"


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _gain(expected: Forecast) -> float:
    if expected.drafted is None:
        return 1.0
    return expected.drafted.expected / expected.plain.expected


def threads_of(machine: Machine, wishes: Wishes) -> int:
    """Fast cores that this process may use. Raises WishRefused for more than there are CPUs."""
    cpu = machine.cpu
    if wishes.threads is not None:
        if wishes.threads > cpu.usable_cpus:
            raise WishRefused(
                f"{wishes.threads} threads were asked for and this process may use "
                f"{cpu.usable_cpus} CPUs; more threads than CPUs make every token slower"
            )
        return wishes.threads
    # A pass waits for its slowest thread; but two fast cores do not use the memory up.
    fast = max(cpu.performance_cores or cpu.usable_cores, FEW_CORES)
    return max(1, min(cpu.usable_cores, fast))


def _best_of(group: Sequence[SizePlan]) -> SizePlan:
    """Of several files of a size: the first that fits well, those that are here before others,
    then any that fits, else what lacks least."""
    for wanted in (
        [size for size in group if size.candidate.path and size.fitting],
        [size for size in group if size._is_comfortable],
        [size for size in group if size.fitting],
    ):
        if wanted:
            return wanted[0]
    return min(
        group,
        key=lambda size: (size.candidate.path is None, size.missing.total if size.missing else 0),
    )


def _check(wishes: Wishes, candidate: Candidate, room: Room) -> None:
    if wishes.gpu_layers and not room.devices:
        raise WishRefused(
            f"{wishes.gpu_layers} layers on a GPU were asked for, and llama.cpp sees none here; "
            "leave --gpu-layers out, and see gemma-local doctor"
        )
    if wishes.draft and candidate.drafter is None:
        raise WishRefused(f"{candidate.label} has no drafter here, so nothing can be drafted")
