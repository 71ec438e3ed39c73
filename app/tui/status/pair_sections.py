"""The sections of the page of figures about the pair: memory, caches, and how it is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from gemma_local.app.counted import counted
from gemma_local.app.durations import duration
from gemma_local.app.engine_memory import EngineMemory
from gemma_local.app.launch import Launch
from gemma_local.app.tui.charts.page import Page
from gemma_local.app.tui.charts.stack import Part, legend, stack
from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.status import figures
from gemma_local.app.tui.status.measured import Measured
from gemma_local.engine.messages import CacheUse, Ready
from gemma_local.models.footprint import Footprint

_GROUPS: Final = (
    ("weights", ("weights", "drafter weights")),
    ("KV cache", ("full cache", "sliding cache")),
    ("checkpoints", ("checkpoints",)),
)
"""Parts of a footprint that people ask for by name; all others are one."""


def cache_section(page: Page, cache: CacheUse) -> None:
    """What is kept so that nothing is read twice."""
    if cache == CacheUse():
        return
    page.heading("Caches", "so that nothing is read twice")
    page.fact("KV cache", counted(cache.tokens, "token"))
    if cache.checkpoints:
        count = counted(cache.checkpoints, "checkpoint")
        page.fact("window", f"{count}, {figures.memory(cache.checkpoint_bytes)}")
    if cache.parked:
        count = counted(cache.parked, "conversation")
        page.fact("parked", f"{count}, {figures.memory(cache.parked_bytes)}")
    if cache.saved:
        count = counted(cache.saved, "state")
        page.fact("on disk", f"{count}, {figures.memory(cache.saved_bytes)}")


def memory_section(page: Page, measured: Measured, memory: EngineMemory | None) -> None:
    """What was planned, and what the engine's process has."""
    footprint = _footprint(measured.launch)
    if footprint is None and memory is None:
        return
    page.heading("Memory", f"process {measured.pid}" if measured.pid is not None else "")
    if footprint is not None:
        parts = _parts(footprint)
        total = footprint.total
        page.text(f"planned: {figures.memory(total)}")
        page.add([Line(stack(parts, total, min(page.width, 60), page.ink, page.glyphs))])
        page.add(legend(parts, total, page.width, page.ink, page.glyphs))
        page.blank()
    if memory is None:
        page.fact("now", "not known", "there is no engine, or its process may not be looked at")
        return
    if memory.mapped is None:
        page.fact(
            "now in memory",
            figures.memory(memory.resident),
            _planned(footprint.host if footprint is not None else 0),
            style=page.ink.strong,
        )
    else:
        page.fact(
            "its own now",
            figures.memory(memory.resident - memory.mapped),
            _planned(footprint.bytes_in("memory") if footprint is not None else 0),
            style=page.ink.strong,
        )
        needed = footprint.bytes_in("mapped") if footprint is not None else 0
        page.fact(
            "pages of files",
            figures.memory(memory.mapped),
            f"{figures.memory(needed)} of them are read in every pass, the rest makes way"
            if needed
            else "they make way when others need the room",
        )
    if memory.device is not None:
        planned = _planned(footprint.device if footprint is not None else 0)
        page.fact("on the card", figures.memory(memory.device), planned, style=page.ink.strong)


def pair_section(page: Page, measured: Measured) -> None:
    """Files and settings."""
    ready, launch = measured.ready, measured.launch
    page.heading("Pair")
    if ready is None:
        page.text("No model is loaded.")
        return
    page.fact("target", Path(ready.target).name, _quantisation(launch))
    drafter = Path(ready.drafter).name if ready.drafter else "none"
    page.fact("drafter", drafter)
    page.fact("context", counted(ready.context, "token"))
    page.fact("KV cache", ready.kv_type)
    page.fact("threads", str(ready.threads))
    page.fact("layers", _layers(launch, ready))
    page.fact("slice", counted(ready.ubatch, "token"), "of a prompt, read at once")
    if ready.draft_max:
        begins = ""
        if launch is not None and launch.load.draft_fixed is not None:
            begins = f"{launch.load.draft_fixed} if you say nothing, "
        elif launch is not None and launch.load.draft_start is not None:
            begins = f"begins with {launch.load.draft_start}, "
        exact = f"{ready.exact_draft_max} in exact mode"
        page.fact("draft", f"{begins}at most {ready.draft_max}, {exact}")
    page.fact("exactness", measured.label or "not claimed", _exactness(measured.label))
    page.fact("loaded in", duration(ready.load_seconds))
    for warning in ready.warnings:
        page.fact("careful", warning, style=page.ink.warning)


def _footprint(launch: Launch | None) -> Footprint | None:
    planned = launch.planned if launch is not None else None
    return planned.fitting.footprint if planned is not None and planned.fitting else None


def _planned(count: int) -> str:
    return f"planned {figures.memory(count)}" if count else ""


def _parts(footprint: Footprint) -> list[Part]:
    """What must be in memory, by what it is for, in the order of its weight for people."""
    held = [part for part in footprint.parts if part.where != "spare"]
    parts, rest = [], sum(part.bytes for part in held)
    for label, names in _GROUPS:
        taken = sum(part.bytes for part in held if part.name in names)
        rest -= taken
        if taken:
            parts.append(Part(label, taken, figures.memory(taken)))
    if rest > 0:
        parts.append(Part("computing", rest, figures.memory(rest)))
    return parts


def _quantisation(launch: Launch | None) -> str:
    return launch.target.quantisation if launch is not None else ""


def _layers(launch: Launch | None, ready: Ready) -> str:
    planned = launch.planned if launch is not None else None
    if planned is None or planned.fitting is None:
        return ready.backend.split(" :", maxsplit=1)[0]
    fitting, count = planned.fitting, planned.candidate.layers
    if fitting.device is None:
        return f"all {count} on the processor"
    if fitting.full:
        return f"all {count} on the graphics card"
    return f"{fitting.settings.gpu_layers} of {count + 1} on the graphics card"


def _exactness(label: str) -> str:
    if label == "exact":
        return "drafting changes no bit: verified for this pair on this machine"
    return "" if label else "gemma-local verify tells whether it may be"
