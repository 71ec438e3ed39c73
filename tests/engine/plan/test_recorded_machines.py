"""What is planned for each recorded machine stays as it was reviewed."""

from __future__ import annotations

import json

import pytest

from tests.engine.hardware.recorded import NAMES
from tests.engine.plan.write_goldens import FOLDER, planned


@pytest.mark.parametrize("name", NAMES)
def test_the_plan_is_the_reviewed_one(name: str) -> None:
    golden = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    assert json.loads(json.dumps(planned(name))) == golden


def test_each_reviewed_plan_is_of_a_recorded_machine() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.json")) == NAMES
