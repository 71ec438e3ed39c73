"""What doctor found out, on one screen of 80 columns."""

from __future__ import annotations

import statistics
import sys
import textwrap
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Final

from gemma_local.app.agent.run.sandbox import Offer
from gemma_local.app.confirmation import Confirmation
from gemma_local.app.doctor.examination import Examination
from gemma_local.app.doctor.machine_words import device_words, memory_words, processor_words
from gemma_local.app.doctor.troubles import Trouble
from gemma_local.app.model_choice import rounded
from gemma_local.app.terminal import printable, table
from gemma_local.engine.plan.choice import Plan, SizePlan
from gemma_local.engine.plan.forecast import Range
from gemma_local.engine.plan.history import Run
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.store.model_file import ModelFile

WIDTH: Final = 80
_SETTINGS: Final = {
    "context": "context",
    "kv_type": "KV cache",
    "gpu_layers": "GPU layers",
    "threads": "threads",
    "draft": "draft",
    "ubatch": "slice",
    "sequences": "at once",
    "cache_bytes": "checkpoints",
}
"""Settings in the order of their weight, as people call them."""
_KINDS: Final = {"model": "", "drafter": "drafter", "projector": "reads images and sound"}


def screen(found: Examination, label: str | None) -> str:
    """The whole text. ``label`` is the size to explain, None: the one that suits best."""
    parts = [
        _section("This machine", _machine(found)),
        _section("Models here", _models(found.models)),
        _section("What runs here", _sizes(found.plan)),
        _explained(found.plan, label),
        _section("Forecast and truth", chain(_confirmed(found.confirmation), _runs(found.runs))),
        _section("Problems", _troubles(found.troubles)),
    ]
    return printable("\n\n".join(part for part in parts if part), sys.stdout)


def _section(title: str, lines: Iterator[str]) -> str:
    text = "\n".join(lines)
    return f"{title}\n{text}" if text else ""


def _fact(name: str, text: str) -> str:
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=f"  {name:<12}",
        subsequent_indent=" " * 14,
        break_long_words=False,
        break_on_hyphens=False,
    )


def _machine(found: Examination) -> Iterator[str]:
    machine, cpu = found.machine, found.machine.cpu
    where = [f"in {machine.platform.container}"] if machine.platform.container else []
    if machine.platform.is_wsl:
        where.append("in WSL 2")
    elif machine.platform.virtual_machine:
        where.append("on a virtual machine")
    yield _fact(
        "system", ", ".join([machine.platform.version, machine.platform.architecture, *where])
    )
    yield _fact("processor", processor_words(cpu))
    yield _fact("memory", memory_words(machine))
    if found.bandwidth is None:
        yield _fact("reads", "not measured yet: other programs keep the processor busy")
    else:
        speed, threads = found.bandwidth.bytes_per_second, found.bandwidth.threads
        unsteady = ", unsteady: something else is busy" if found.bandwidth.spread > 0.2 else ""
        yield _fact("reads", f"{human_bytes(round(speed))}/s with {threads} threads{unsteady}")
    for device in machine.accelerators:
        remark = f"; {device.remark}" if device.remark else ""
        yield _fact("GPU", f"{device_words(device)}{remark}")
    if not machine.accelerators:
        yield _fact("GPU", "none that this llama.cpp can use")
    if machine.disk is not None and machine.disk.free is not None:
        yield _fact("disk", f"{human_bytes(machine.disk.free)} free for models")
    power = machine.power
    if power.on_battery:
        charge = f", {power.percent:.0f} %" if power.percent is not None else ""
        yield _fact("power", f"battery{charge}{', saving power' if power.saves_power else ''}")
    features = machine.build.features or ()
    uses = [name for name in features if name not in ("LLAMAFILE", "OPENMP", "REPACK")]
    yield _fact(
        "llama.cpp",
        f"llama-cpp-python {found.versions['llama-cpp-python']} for "
        f"{' and '.join(machine.build.backends) or 'nothing'}"
        + (f", using {', '.join(uses)}" if uses else ""),
    )
    sandbox = found.sandbox
    yield _fact("commands", "; ".join((_confined_by(sandbox), *sandbox.gaps)))
    yield _fact(
        "gemma-local", f"{found.versions['gemma-local']} on Python {found.versions['python']}"
    )


def _confined_by(sandbox: Offer) -> str:
    """What confines the commands that a model runs."""
    return (
        f"confined by {sandbox.means}" if sandbox.is_any else "nothing confines what a model runs"
    )


def _models(models: Sequence[ModelFile]) -> Iterator[str]:
    usable = [model for model in models if model.header.kind in _KINDS]
    for model in usable[:8]:
        header = model.header
        kind = _KINDS[header.kind] or header.size_label or header.architecture
        yield f"  {model.name[:44]:<44}  {human_bytes(header.bytes):>9}  {kind}"
    if len(usable) > 8:
        yield f"  and {len(usable) - 8} more: gemma-local models list"
    if not usable:
        yield "  none yet; `gemma-local models get SIZE` downloads one with its drafter"


def _sizes(plan: Plan | None) -> Iterator[str]:
    if plan is None:
        return
    header = ("  size", "file", "fits", "context", "memory", "GPU", "tokens/s", "reads/s")
    rows = [_row(size, plan) for size in plan.sizes]
    yield from table(header, rows).split("\n")
    yield from textwrap.wrap(
        "* suits best, + is here. File, memory and GPU in GB. tokens/s: plain, then with drafts "
        "from prose to code; a range alone is plain. reads/s: tokens of a prompt.",
        WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
    )
    yield from textwrap.wrap(
        f"{plan.why[0].upper()}{plan.why[1:]}.", WIDTH, initial_indent="  ", subsequent_indent="  "
    )


def _row(size: SizePlan, plan: Plan) -> tuple[str, ...]:
    candidate = size.candidate
    marks = f"{'*' if size is plan.chosen else ' '}{'+' if candidate.path else ' '}"
    first = f"{marks}{candidate.label[:16]}"
    length = _gb(candidate.bytes)
    if size.fitting is None or size.forecast is None or size.settings is None:
        missing = size.missing.total if size.missing is not None else 0
        return first, length, "no", "-", f"{_gb(missing)} short", "-", "-", "-"
    taken = size.fitting.footprint
    context = f"{size.settings.context // 1024}k"
    fits = "yes" if size.fit == "fits" else size.fit
    speeds = rounded(size.forecast.plain.expected)
    if size.forecast.drafted is not None:
        speeds += f", {_span(size.forecast.drafted)}"
    else:
        speeds = _span(size.forecast.plain)
    return (
        first,
        length,
        fits,
        context,
        _gb(taken.host),
        _gb(taken.device) if taken.device else "-",
        speeds,
        rounded(size.forecast.prefill.expected),
    )


def _gb(count: int) -> str:
    return f"{count / 1e9:.1f}"


def _span(speed: Range) -> str:
    return f"{rounded(speed.low)}-{rounded(speed.high)}"


def _explained(plan: Plan | None, label: str | None) -> str:
    if plan is None:
        return ""
    size = next((one for one in plan.sizes if one.candidate.label == label), None)
    size = size or (plan.chosen if label is None else None)
    if size is None:
        return ""
    return _section(
        f"How {size.candidate.label} would run", (_fact(*reason) for reason in reasons(size))
    )


def reasons(size: SizePlan) -> Iterator[tuple[str, str]]:
    """Why each setting of a pair is as it is: what it is called, and its value with the reason."""
    if size.settings is None:
        missing = size.missing
        assert missing is not None
        lacks = human_bytes(missing.total)
        why_not = f"even with a context of {missing.context:,} tokens {lacks} of memory are missing"
        yield "not at all", why_not
        return
    why = dict(size.reasons)
    for name, title in _SETTINGS.items():
        value = getattr(size.settings, name)
        if name == "cache_bytes":
            value = human_bytes(value)
        elif isinstance(value, int):
            value = f"{value:,}"
        yield title, f"{value}: {why[name]}"
    for caution in size.cautions:
        yield "careful", caution


def _confirmed(found: Confirmation | None) -> Iterator[str]:
    if found is None:
        return
    yield _fact(found.label, found.sentence())


def _runs(runs: Sequence[Run]) -> Iterator[str]:
    for label in dict.fromkeys(run.label for run in reversed(runs)):
        alike = [run for run in runs if run.label == label][-9:]
        parts = []
        for name, measured, expected in (
            ("plain", "plain", "forecast_plain"),
            ("drafted", "drafted", "forecast_drafted"),
            ("prompt", "prefill", "forecast_prefill"),
        ):
            pairs = [(getattr(run, measured), getattr(run, expected)) for run in alike]
            known = [(real, guess) for real, guess in pairs if real and guess]
            if known:
                real, guess = (statistics.median(column) for column in zip(*known, strict=True))
                parts.append(f"{name} {rounded(real)} (forecast {rounded(guess)})")
        peaks = [run.peak_bytes for run in alike if run.peak_bytes]
        memory = f"; at most {human_bytes(max(peaks))} of memory" if peaks else ""
        if parts:
            yield _fact(label[:11], f"{', '.join(parts)} tokens/s{memory}")


def _troubles(troubles: Sequence[Trouble]) -> Iterator[str]:
    for trouble in troubles:
        yield textwrap.fill(
            trouble.sentence,
            WIDTH,
            initial_indent="  ! " if trouble.is_broken else "  - ",
            subsequent_indent="    ",
        )
        if trouble.remedy:
            # A command is not broken into lines: it is there to be copied.
            yield f"      {trouble.remedy}"
    if not troubles:
        yield "  none"
