"""Writes down what is planned for each recorded machine.

``python -m tests.engine.plan.write_goldens``

Read the difference before you commit it: the plans are judged by people, the tests only keep them.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gemma_local.engine.plan.choice import SizePlan, plan
from tests.engine.hardware.recorded import NAMES
from tests.engine.plan.machines import candidates, recorded_machine

FOLDER = Path(__file__).parent / "golden"


def planned(name: str) -> dict[str, Any]:
    """The plan for a recorded machine, in as much detail as a review needs."""
    found = plan(recorded_machine(name), candidates())
    return {
        "recommended": found.chosen.candidate.label if found.chosen else None,
        "why": found.why,
        "sizes": {size.candidate.label: _size(size) for size in found.sizes},
    }


def _size(size: SizePlan) -> dict[str, Any]:
    if size.settings is None or size.fitting is None or size.forecast is None:
        assert size.missing is not None
        return {"fit": size.fit, "missing_mb": round(size.missing.total / 1e6)}
    settings, taken, expected = size.settings, size.fitting.footprint, size.forecast
    return {
        "fit": size.fit,
        "context": settings.context,
        "kv_type": settings.kv_type,
        "gpu_layers": settings.gpu_layers,
        "device": settings.device,
        "threads": settings.threads,
        "ubatch": settings.ubatch,
        "draft": settings.draft,
        "memory_mb": round(taken.host / 1e6),
        "device_mb": round(taken.device / 1e6),
        "checkpoints_mb": round(settings.cache_bytes / 1e6),
        "plain": round(expected.plain.expected, 1),
        "drafted": round(expected.drafted.expected, 1) if expected.drafted else None,
        "prefill": round(expected.prefill.expected),
        "reasons": dict(size.reasons),
        "cautions": list(size.cautions),
    }


def main() -> None:
    """Write all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name in NAMES:
        text = json.dumps(planned(name), indent=1, ensure_ascii=False)
        (FOLDER / f"{name}.json").write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    main()
