"""What a run measured, kept for the next forecast. Never in the way: what cannot be kept is not."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gemma_local.app import folders

if TYPE_CHECKING:
    # Here and below: who only asks for the constants needs no plan.
    from gemma_local.app.launch import Launch
    from gemma_local.engine.messages import Done, Ready

LEAST_DECODED: Final = 16
LEAST_READ: Final = 64
"""Tokens below which a speed says nothing."""


def remember_answer(launch: Launch, ready: Ready, done: Done, pid: int | None) -> None:
    """Keep the speeds of an answer that has ended; ``pid`` is the engine's."""
    tally = done.tally
    speed = tally.tokens_per_second if tally.decoded_tokens >= LEAST_DECODED else None
    reading = None
    if tally.prefilled_tokens >= LEAST_READ and tally.prefill_seconds > 0:
        reading = tally.prefilled_tokens / tally.prefill_seconds
    # Plain decoding in exact mode computes rows that nobody needs.
    plain = speed if not tally.drafted and not done.exact else None
    drafted = speed if tally.drafted else None
    remember(launch, ready, pid, plain=plain, drafted=drafted, prefill=reading)


def remember(
    launch: Launch,
    ready: Ready,
    pid: int | None,
    *,
    plain: float | None,
    drafted: float | None,
    prefill: float | None,
) -> None:
    """Keep speeds in tokens a second, None for what was not measured; never raises for a file."""
    planned, machine = launch.planned, launch.machine
    if planned is None or machine is None or planned.raw is None:
        return
    if not (plain or drafted or prefill):
        return
    from gemma_local.app.known_speeds import known_bandwidth
    from gemma_local.engine.plan.history import History, Run, machine_key
    from gemma_local.engine.plan.settings import Wishes

    candidate, raw = planned.candidate, planned.raw
    run = Run(
        at=round(time.time(), 1),
        machine=machine_key(machine),
        label=candidate.label,
        is_mixture=candidate.experts > 0,
        quantisation=candidate.quantisation,
        context=ready.context,
        gpu_layers=launch.load.gpu_layers,
        threads=ready.threads,
        draft=launch.load.draft_start or 0,
        forecast_plain=raw.plain.expected,
        forecast_drafted=raw.drafted.expected if raw.drafted is not None else None,
        forecast_prefill=raw.prefill.expected,
        has_bandwidth=known_bandwidth(machine, Wishes(threads=ready.threads)) is not None,
        plain=plain,
        drafted=drafted,
        prefill=prefill,
        load_seconds=ready.load_seconds,
        peak_bytes=_peak_bytes(pid),
        bytes=candidate.bytes,
    )
    with suppress(OSError):
        History(folders.history_path()).append(run)


def _peak_bytes(pid: int | None) -> int | None:
    """The most memory that the engine's process has had, None if that cannot be told."""
    if pid is None:
        return None
    with suppress(OSError, ValueError, IndexError):
        # psutil tells the peak on Windows only.
        status = Path(f"/proc/{pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) * 1024
    import psutil

    with suppress(psutil.Error):
        memory = psutil.Process(pid).memory_info()
        return int(getattr(memory, "peak_wset", memory.rss))
    return None
