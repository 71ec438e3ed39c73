"""What somebody who starts for the first time should know: this machine, and what can run on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from gemma_local.app.doctor.examination import memory_speed
from gemma_local.app.doctor.machine_words import device_words, memory_words, processor_words
from gemma_local.app.doctor.troubles import troubles_of
from gemma_local.app.model_choice import installed_library, speed_words
from gemma_local.app.network import has_network
from gemma_local.app.offers import Offer, offers
from gemma_local.app.unexpected import log_unexpected
from gemma_local.engine.hardware.detection import detect
from gemma_local.engine.hardware.machine import Machine
from gemma_local.engine.plan.choice import SizePlan, choose
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.pocket import pair

Found = TypeVar("Found")
Say = Callable[[str], None]

BY_STICK = (
    "On a machine with a network, `gemma-local models get {size}` and `gemma-local models export "
    "FOLDER {size}` put it on a stick; here, `gemma-local models import FOLDER` takes it in."
)
"""How a model comes to a machine without a network."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """All of it. ``suited`` is the published size that suits the machine, ``why`` says why it is
    that one, or why there is none."""

    machine: tuple[str, ...]
    """One or two lines."""
    offers: tuple[Offer, ...] = ()
    suited: Offer | None = None
    why: str = ""
    builtin: Path | None = None
    """The target of the small guide."""
    is_offline: bool = False
    """Whether nothing may be fetched (HF_HUB_OFFLINE)."""
    lacks_network: bool = False
    """Whether nothing can be fetched: there is no network."""
    troubles: tuple[str, ...] = ()
    """What is in the way, with what to do about it."""

    @property
    def only_builtin(self) -> bool:
        """Whether the small guide is all that can be run here and now."""
        cannot_fetch = self.is_offline or self.lacks_network
        return self.builtin is not None and cannot_fetch and not self.here

    @property
    def why_nothing_comes(self) -> str:
        """The sentence about why nothing is fetched, "" if it can be."""
        if self.is_offline:
            return "Nothing may be fetched, as HF_HUB_OFFLINE says."
        return "There is no way to other machines." if self.lacks_network else ""

    @property
    def size_to_bring(self) -> str:
        """Which size to bring on a medium, as the command line has it."""
        return (self.suited.label if self.suited is not None else "").lower() or "e2b"

    @property
    def here(self) -> tuple[Offer, ...]:
        """Files on this disk that can be run."""
        return tuple(filter(_can_run_here, self.offers))

    @property
    def sizes(self) -> tuple[Offer, ...]:
        """What can be fetched, whether it fits or not."""
        return tuple(offer for offer in self.offers if offer.path is None)


def look(
    say: Say = lambda _: None, machine: Machine | None = None, *, briefly: bool = False
) -> Readiness:
    """Find it out; takes seconds, so not in the thread of a screen. Never raises: what cannot be
    found out is a trouble.

    Args:
        say: hears a few words about what is being done.
        machine: what to plan for, by default this one.
        briefly: where the small guide is all that can be run, the memory's speed is left alone: to
            measure it takes two seconds of processor time, and there is nothing to choose.
    """
    failed: list[str] = []

    def attempt(subject: str, find: Callable[[], Found], otherwise: Found) -> Found:
        try:
            return find()
        except GemmaLocalError as error:
            failed.append(f"{subject}: {error}")
        except Exception as error:  # noqa: BLE001 - one question must not cost the others
            failed.append(f"{subject}: {log_unexpected(error)}")
        return otherwise

    say("looking at this machine")
    if machine is None:
        library = attempt("the models that are here", installed_library, None)
        here = detect(store=library.folder if library is not None else None)
    else:
        here = machine
    builtin = attempt("the small guide", _builtin, None)
    is_offline = attempt("the network", _is_offline, False)
    lacks_network = not attempt("the network", has_network, True)

    def offered() -> tuple[Offer, ...]:
        nothing: tuple[Offer, ...] = ()
        return attempt("what can run", lambda: offers(here, say), nothing)

    is_brief = briefly and builtin is not None and (is_offline or lacks_network)
    found = offered() if is_brief else ()
    if not is_brief or any(map(_can_run_here, found)):
        if machine is None:
            say("measuring the memory's speed")
            attempt("the memory's speed", lambda: memory_speed(here), None)
        found = offered()
    suited, why = _suited(found)
    broken = [trouble for trouble in troubles_of(here, None, (), ()) if trouble.is_broken]
    return Readiness(
        machine=machine_lines(here),
        offers=found,
        suited=suited,
        why=why,
        builtin=builtin,
        is_offline=is_offline,
        lacks_network=lacks_network,
        troubles=(
            *(f"{trouble.sentence} {trouble.remedy}".strip() for trouble in broken),
            *_disk(here, suited),
            *dict.fromkeys(failed),
        ),
    )


def _can_run_here(offer: Offer) -> bool:
    return offer.path is not None and offer.fits


def machine_lines(machine: Machine) -> tuple[str, ...]:
    """A machine in two lines: what computes, and the memory; one more for each GPU."""
    gpus = [device_words(device) for device in machine.accelerators]
    return (processor_words(machine.cpu), memory_words(machine), *gpus)


def settings_words(offer: Offer) -> str:
    """How an offer would run: speed and context; "" where that is not known."""
    planned = offer.planned
    if planned is None or planned.forecast is None or planned.settings is None:
        return ""
    return f"{speed_words(planned)}, a context of {planned.settings.context // 1024}k tokens"


def _suited(found: tuple[Offer, ...]) -> tuple[Offer | None, str]:
    """The offer to begin with, and why. Of a size that is here already, what is here."""
    plans: dict[str, SizePlan] = {}
    for offer in sorted(found, key=lambda offer: offer.path is None):
        if offer.planned is not None and not offer.problem:
            best = plans.setdefault(offer.planned.candidate.label, offer.planned)
            if offer.planned.is_eligible and not best.is_eligible:
                plans[offer.planned.candidate.label] = offer.planned
    if not plans:
        return None, ""
    chosen, why = choose(list(plans.values()))
    suited = next((offer for offer in found if chosen and offer.planned is chosen), None)
    return suited, f"{why[0].upper()}{why[1:]}."


def _disk(machine: Machine, suited: Offer | None) -> Iterator[str]:
    free = machine.disk.free if machine.disk is not None else None
    if suited is not None and suited.path is None and free is not None and suited.bytes > free:
        assert machine.disk is not None
        yield (
            f"{suited.name} takes {human_bytes(suited.bytes)}, and {human_bytes(free)} are free at "
            f"{machine.disk.folder}: make room first, or set HF_HOME to another disk."
        )


def _builtin() -> Path | None:
    found = pair()
    return found[0] if found is not None else None


def _is_offline() -> bool:
    from gemma_local.models.store.hub import Hub

    return Hub().offline
