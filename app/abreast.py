"""A pair loaded for several conversations at once: how many fit, and what that takes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gemma_local.app.launch import Launch, OnLoading
from gemma_local.engine.client import EngineFailed
from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.choice import plan_one
from gemma_local.engine.plan.errors import WishRefused
from gemma_local.engine.plan.settings import Wishes
from gemma_local.models.foreign_file import human_bytes

if TYPE_CHECKING:
    from gemma_local.app.dialogue import Dialogue


def widen(dialogue: Dialogue, count: int, on_loading: OnLoading | None = None) -> str:
    """Have the pair of a conversation loaded for ``count`` at once, or as many as there is memory
    for: as it is prepared, or anew if it runs. A sentence about it, "" if nothing had to be done.

    Raises EngineFailed, EngineDied if it cannot be loaded at all any more.
    """
    before = dialogue.launch
    if before.load.sequences >= count:
        return ""
    if not dialogue.is_open:
        found, sentence = abreast(before, count)
        dialogue.load_as(found)
        return sentence
    dialogue.leave()
    # Its memory must be free before anybody can tell how much more fits.
    dialogue.engine.close()
    found, sentence = abreast(before, count, detect())
    try:
        dialogue.load_as(found, on_loading)
    except EngineFailed:
        dialogue.load_as(before, on_loading)
        return f"loading it for {found.load.sequences} at once failed: they are made in turn"
    return sentence


def abreast(launch: Launch, count: int, machine: Machine | None = None) -> tuple[Launch, str]:
    """``launch`` with ``count`` sequences, or as many as fit, and a sentence about it for the
    person. All else stays, above all the context: a smaller one would lose what was said.

    ``machine`` is how it is now, nothing of the pair loaded; that of ``launch`` unless given.
    """
    before = launch.load.sequences
    for wanted in range(count, before, -1):
        more = _more_bytes(launch, wanted, machine or launch.machine)
        if more is not None:
            found = replace(launch, load=replace(launch.load, sequences=wanted))
            takes = f"which takes {human_bytes(more)} more"
            if wanted < count:
                return found, f"there is memory for {wanted} at once, {takes}; the others wait"
            return found, f"the model is loaded for {wanted} at once, {takes}"
    return launch, f"there is memory for {before} at once: they are made one after the other"


def _more_bytes(launch: Launch, sequences: int, machine: Machine | None) -> int | None:
    """What so many sequences take more than the pair does now, None if it does not fit."""
    planned = launch.planned
    if planned is None or planned.fitting is None or machine is None:
        return None
    settings, load = planned.fitting.settings, launch.load
    wishes = Wishes(
        context=load.context,
        draft=settings.draft,
        draft_max=settings.draft_max,
        gpu_layers=settings.gpu_layers,
        threads=settings.threads,
        sequences=sequences,
        kv_type=settings.kv_type,
    )
    try:
        found = plan_one(machine, planned.candidate, wishes).fitting
    except WishRefused:
        return None
    if found is None:
        return None
    return max(0, found.footprint.total - planned.fitting.footprint.total)
