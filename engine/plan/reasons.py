"""Why a plan is as it is, in sentences."""

from __future__ import annotations

from dataclasses import replace

from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.memory import CHECKPOINTS
from gemma_local.engine.plan.candidate import Candidate
from gemma_local.engine.plan.room import Room
from gemma_local.engine.plan.search import WANTED, Fitting, take
from gemma_local.engine.plan.settings import Wishes
from gemma_local.models.foreign_file import human_bytes

Reasons = tuple[tuple[str, str], ...]
_PARALLEL = 4
_CACHE = (
    f"so that prompts are read only once: {CHECKPOINTS} checkpoints of the window or more, at most "
    "a fourth of what is left"
)
_VULKAN = (
    "Vulkan: drafting crashed on some chips and corrupted text on others (llama.cpp #24623, "
    "#24560); if that happens, start with --draft off"
)


def reasons_of(
    candidate: Candidate, found: Fitting, room: Room, machine: Machine, wishes: Wishes
) -> tuple[Reasons, tuple[str, ...]]:
    """A sentence for each setting, and what to be careful about."""
    settings = found.settings
    cautions = []
    if found.device is not None and found.device.kind == "Vulkan" and settings.draft:
        cautions.append(_VULKAN)
    if wishes.draft and not found.full:
        cautions.append(
            "drafting with only a part of the layers on the device crashed for others (llama.cpp "
            "#25873); --draft off is the way out"
        )
    if machine.power.on_battery or machine.power.saves_power:
        why = "on battery" if machine.power.on_battery else "saving power"
        cautions.append(f"the machine is {why}: expect the lower end of the ranges")
    reasons = (
        ("context", _context(candidate, found, wishes)),
        ("kv_type", _kv(found, wishes)),
        ("gpu_layers", _layers(candidate, found, machine, wishes)),
        ("ubatch", "tokens of a prompt that are read at once, about a second's worth"),
        ("sequences", _sequences(candidate, found, room, wishes)),
        ("draft", _draft(candidate, found, wishes)),
        ("cache_bytes", _CACHE),
    )  # fmt: skip
    return reasons, tuple(cautions)


def threads_reason(machine: Machine, wishes: Wishes, threads: int) -> str:
    """Why so many threads."""
    cpu = machine.cpu
    if wishes.threads is not None:
        return "as you chose"
    fast = cpu.performance_cores or cpu.usable_cores
    if fast < threads:
        return f"more than the {fast} fast cores, which alone do not use the memory up"
    if fast < cpu.usable_cores:
        return f"one for each of the {fast} fast cores: a pass waits for its last"
    if cpu.quota is not None and cpu.quota < (cpu.physical_cores or cpu.usable_cpus):
        return f"the container may use {cpu.quota:g} CPUs"
    return "one for each core that this process may use"


def _context(candidate: Candidate, found: Fitting, wishes: Wishes) -> str:
    context = found.settings.context
    if wishes.context is not None:
        return "as you chose"
    if context >= candidate.context_limit:
        return "all that the model can"
    if context > WANTED:
        return "more than usual, because all of it takes no more than half of the memory"
    if context == WANTED:
        return "enough for long conversations about code"
    if not found.full:
        return "because more would leave fewer layers on the device"
    return f"all that fits; {WANTED} would be the aim"


def _kv(found: Fitting, wishes: Wishes) -> str:
    if wishes.kv_type is not None:
        return "as you chose"
    if found.settings.kv_type == "f16":
        return "full precision"
    return "half the size of f16 at hardly any loss; with f16 it would not fit"


def _layers(candidate: Candidate, found: Fitting, machine: Machine, wishes: Wishes) -> str:
    count = found.settings.gpu_layers
    if found.device is None:
        if wishes.gpu_layers == 0:
            return "as you chose"
        if not machine.accelerators:
            return "llama.cpp sees no GPU here"
        return "more would not fit, and with fewer on the GPU the processor alone is faster"
    if wishes.gpu_layers is not None:
        return "as you chose"
    if found.full:
        return f"all, on {found.device.name}"
    return f"{count} of {candidate.layers + 1} fit on {found.device.name}"


def _draft(candidate: Candidate, found: Fitting, wishes: Wishes) -> str:
    if wishes.draft is not None:
        return "as you chose"
    if candidate.drafter is None:
        return "there is no drafter"
    if found.off_because:
        return f"off: {found.off_because}"
    text = "a usual start on GPUs" if found.share else "fills a block of four rows, as CPUs compute"
    if candidate.experts and found.settings.sequences == 1:
        text += "; a mixture of experts gains little by it with one conversation at a time"
    return text


def _sequences(candidate: Candidate, found: Fitting, room: Room, wishes: Wishes) -> str:
    if wishes.sequences is not None:
        return "as you chose"
    if not candidate.experts or found.device is None or not found.full:
        return "one conversation at a time"
    # Only there do several at once make drafting worth more.
    taken = take(candidate, replace(found.settings, sequences=_PARALLEL), room)
    more = human_bytes(taken.total - found.footprint.total)
    return f"one conversation; {_PARALLEL} at once would gain more by drafting and take {more} more"
