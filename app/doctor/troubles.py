"""What is in the way, and the exact remedy."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gemma_local.app.errors import UnfitBuild, command_of
from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.choice import Plan
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.store.model_file import ModelFile


@dataclass(frozen=True, slots=True)
class Trouble:
    """A sentence or two, and what to type. ``is_broken``: nothing runs before it is mended."""

    sentence: str
    remedy: str = ""
    is_broken: bool = False


def troubles_of(
    machine: Machine,
    plan: Plan | None,
    models: Sequence[ModelFile],
    failed: Sequence[str],
) -> tuple[Trouble, ...]:
    """All of them, the worst first. ``failed`` says what could not be found out."""
    found = [
        *_build(machine),
        *_cards(machine),
        *_room(machine, plan),
        *(
            Trouble(f"{model.name} cannot be used: {model.header.problem}")
            for model in models
            if model.header.kind == "unusable"
        ),
        *(Trouble(f"not found out: {sentence}") for sentence in (*machine.problems, *failed)
          if sentence != machine.build.problem),
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda trouble: not trouble.is_broken))


def _build(machine: Machine) -> Iterator[Trouble]:
    build = machine.build
    remedy = command_of(build.advice) if build.advice is not None else ""
    note = f" {build.advice.note}" if build.advice is not None and build.advice.note else ""
    if build.is_unfit:
        what = UnfitBuild.sentence(build)
        yield Trouble(f"{what[0].upper()}{what[1:]}.{note}", remedy, is_broken=True)
    elif build.problem:
        again = remedy or "python -m pip install --force-reinstall --no-deps llama-cpp-python"
        yield Trouble(build.problem, again, is_broken=True)
    elif build.unused:
        extensions = ", ".join(build.unused)
        yield Trouble(
            f"This processor has {extensions}, and the installed llama.cpp makes no use of it, so "
            f"reading prompts takes longer than it must.{note}",
            remedy,
        )


def _cards(machine: Machine) -> Iterator[Trouble]:
    for card in machine.idle_accelerators:
        size = f" with {human_bytes(card.total)}" if card.total and not card.is_integrated else ""
        if card.advice is not None:
            note = f" {card.advice.note}" if card.advice.note else ""
            yield Trouble(
                f"{card.name}{size} is idle: {card.reason}.{note}", command_of(card.advice)
            )
        elif not card.is_integrated:
            yield Trouble(f"{card.name}{size} is idle: {card.reason}.")


def _room(machine: Machine, plan: Plan | None) -> Iterator[Trouble]:
    if plan is not None and not any(size.fitting for size in plan.sizes):
        yield Trouble(f"{plan.why[0].upper()}{plan.why[1:]}. Close other programs and look again.")
    swap = machine.memory.swap_used or 0
    if swap > (machine.memory.total or 0) // 8 > 0:
        yield Trouble(
            f"{human_bytes(swap)} of memory are swapped out: programs that are open take more than "
            "there is, and closing some makes everything faster."
        )
    free = machine.disk.free if machine.disk is not None else None
    best = plan.chosen if plan is not None else None
    if best is not None and best.candidate.path is None and free is not None:
        lacks = best.candidate.bytes - free
        if lacks > 0 and machine.disk is not None:
            yield Trouble(
                f"{best.candidate.label} takes {human_bytes(best.candidate.bytes)}, and "
                f"{human_bytes(free)} are free at {machine.disk.folder}: make room for "
                f"{human_bytes(lacks)} more."
            )
