"""What a download brought: files that can be used together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gemma_local.app.models_command.choice import Choice
from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.gguf import peek_architecture
from gemma_local.models.pair import check_pair
from gemma_local.models.store.model_file import PROJECTOR
from gemma_local.models.target import inspect_target


@dataclass(frozen=True, slots=True)
class Got:
    """What came, or was here."""

    model: Path
    drafter: Path | None
    projector: Path | None
    remark: str = ""
    """Something that the person should know."""


def checked(choice: Choice, paths: Sequence[Path]) -> Got:
    """The files of a choice, if they can be used together; ``paths`` in the order of
    ``choice.wanted``. Raises BadModelFile, BadPair."""
    by_wanted = dict(zip(choice.wanted, paths, strict=True))
    model = by_wanted[choice.target[0]]
    drafter = by_wanted[choice.drafter] if choice.drafter is not None else None
    projector = by_wanted[choice.projector] if choice.projector is not None else None
    remark = ""
    if peek_architecture(model) != PROJECTOR:
        target = inspect_target(model)
        if drafter is not None:
            check_pair(target, inspect_drafter(drafter))
        elif target.is_gemma4:
            remark = "no drafter came with it, so it runs at its plain speed"
    return Got(model, drafter, projector, remark)
