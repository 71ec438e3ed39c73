"""How much of a machine's memory a plan may use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gemma_local.engine.hardware.machine import Accelerator, Machine
from gemma_local.models.rearrangement import rearranged_formats

MIB: Final = 1 << 20
GIB: Final = 1 << 30

_UNKNOWN: Final = 4 * GIB
"""Memory to plan with where nobody can tell."""


@dataclass(frozen=True, slots=True)
class Device:
    """Accelerators to put layers on. ``number`` is that of the only one, None: all ``count``.

    ``room`` is bytes for the plan, ``total`` the memory of the smallest of them, None if unknown.
    """

    kind: str
    name: str
    room: int
    total: int | None
    is_integrated: bool
    number: int | None
    drafter_number: int | None
    """Where the last layers are."""
    count: int = 1


@dataclass(frozen=True, slots=True)
class Room:
    """Bytes for a plan, head room taken off. ``devices`` in the order in which to try them."""

    host: int
    host_kept: int
    """What is left to everything else."""
    devices: tuple[Device, ...]
    rearranged: frozenset[str]
    """Formats that the CPU backend copies."""
    is_known: bool = True


def room_of(machine: Machine) -> Room:
    """The room on a machine.

    Of memory max(1.5 GiB, a tenth) stays free, of a device max(512 MiB, 8 %), on Metal at least
    2 GiB, because drafters take memory there that no list shows (llama.cpp #22673); but never more
    than half of what is available, so that a small model runs anywhere.
    """
    memory = machine.memory
    total = memory.limit or memory.total or memory.available
    available = memory.available if memory.available is not None else (total or 0) // 2
    is_known = total is not None
    if not is_known:
        total, available = 2 * _UNKNOWN, _UNKNOWN
    kept = min(max(3 * GIB // 2, (total or 0) // 10), available // 2)
    features = machine.build.features or ()
    return Room(
        host=available - kept,
        host_kept=kept,
        devices=_devices(machine.accelerators),
        rearranged=rearranged_formats(" | ".join(f"{name} = 1" for name in features)),
        is_known=is_known,
    )


def _devices(accelerators: tuple[Accelerator, ...]) -> tuple[Device, ...]:
    """The roomiest device alone, then all cards together.

    One device first: a drafter works only on the device of the target's last layers (llama.cpp
    PR 23398), and every border between devices costs time. llama.cpp uses integrated graphics only
    where there is no card.
    """
    # llama.cpp counts only those of the kind that it uses.
    cards = [one for one in accelerators if not one.is_integrated]
    counted = list(enumerate(cards or accelerators))
    rooms = {number: _room(one) for number, one in counted}
    usable = [(number, one) for number, one in counted if rooms[number] > 0]
    if not usable:
        return ()
    number, best = max(usable, key=lambda pair: rooms[pair[0]])
    only = None if len(counted) == 1 else number
    single = Device(best.kind, best.name, rooms[number], best.total, best.is_integrated, only, only)
    if len(usable) == 1 or not cards:
        return (single,)
    together = Device(
        kind=best.kind,
        name=" + ".join(one.name for _, one in usable),
        room=sum(rooms.values()),
        # The slowest sets the pace of its share.
        total=min((one.total for _, one in usable if one.total), default=None),
        is_integrated=False,
        number=None,
        drafter_number=usable[-1][0],
        count=len(usable),
    )
    return (single, together)


def _room(accelerator: Accelerator) -> int:
    usable = accelerator.usable or 0
    least = 2 * GIB if accelerator.kind == "Metal" else 512 * MIB
    kept = max(least, (accelerator.total or usable) * 8 // 100)
    return usable - min(kept, usable // 2)
