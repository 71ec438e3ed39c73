"""What a model on the hub would be like on this machine, told before it is downloaded."""

from __future__ import annotations

from typing import Final

from gemma_local.app.known_speeds import known_bandwidth, past_runs
from gemma_local.app.model_choice import speed_words
from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.candidate import candidate_of_files
from gemma_local.engine.plan.choice import SizePlan, plan_one
from gemma_local.engine.plan.settings import Wishes
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.partial_header import HeaderIncomplete
from gemma_local.models.store.hub import Hub
from gemma_local.models.store.wanted import RemoteFile, Wanted
from gemma_local.models.target import TargetFacts, inspect_header

FIRST_BYTES: Final = 20 << 20
"""Enough for the header of every Gemma 4."""
_MOST_BYTES: Final = 80 << 20


def outlook(hub: Hub, remote: RemoteFile, machine: Machine | None = None) -> str:
    """A sentence about a file of the hub, from its header alone; "" where that tells nothing.

    ``machine`` None looks at this one. Never raises: without a forecast a download is as good.
    """
    try:
        target = remote_target(hub, remote)
        if not target.anatomy.kv_layers:
            return ""
        machine = machine or detect()
        wishes = Wishes()
        bandwidth = known_bandwidth(machine, wishes)
        planned = plan_one(
            machine,
            candidate_of_files(target, None),
            wishes,
            bandwidth=bandwidth,
            correction=past_runs(machine, bandwidth),
        )
    except GemmaLocalError:
        return ""
    return _sentence(planned)


def remote_target(hub: Hub, remote: RemoteFile) -> TargetFacts:
    """The facts about a target on the hub; a range of its first bytes is fetched.

    Raises StoreError, BadModelFile.
    """
    wanted = Wanted(remote.repository, remote.file, remote.commit, remote.bytes)
    count = FIRST_BYTES
    while True:
        head = hub.fetch_header(wanted, min(count, remote.bytes))
        try:
            return inspect_header(head, remote.bytes, remote.file)
        except HeaderIncomplete as incomplete:
            if count >= min(_MOST_BYTES, remote.bytes):
                raise
            count = min(max(incomplete.needed, 2 * count), _MOST_BYTES)


def _sentence(planned: SizePlan) -> str:
    name = planned.candidate.label
    if planned.fitting is None or planned.forecast is None:
        missing = planned.missing.total if planned.missing is not None else 0
        return f"{name} does not fit this machine: {human_bytes(missing)} of memory are missing"
    context = planned.fitting.settings.context
    return f"{name} fits, with a context of {context} tokens, at {speed_words(planned)} here"
