"""The pair, and the project that it works on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.agent.working import repository
from tests.app.best.contesting import APP, CHECK, mender
from tests.ggufs import Pair


@pytest.fixture
def pair(ggufs: Path) -> Pair:
    """Mends app.py, rightly with the seeds 3 and 5 and wrongly with 4."""
    return mender(ggufs)


@pytest.fixture
def project(home: Path) -> Path:
    """The working folder: a repository in which a test fails."""
    return repository(home / "work", {"app.py": APP, "check.py": CHECK})
