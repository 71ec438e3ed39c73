"""What holds for every test, and for the processes that tests start.

No network; the same examples in each run; modules that are compiled once.
"""

from __future__ import annotations

import compileall
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.offline import sitecustomize

_offline = str(Path(sitecustomize.__file__).parent)
_places = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
if _offline not in _places:
    os.environ["PYTHONPATH"] = os.pathsep.join([_offline, *_places])

# The hundreds of processes that tests start find the rooms compiled, and write nothing compiled: a
# script that is edited twice within a second would be run as it was before, since what was compiled
# of it bears the same second and the same size.
os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
# Those that run tests may: what pytest makes of a test's assertions takes a while, each time.
sys.dont_write_bytecode = False
for _room in ("app", "engine", "models"):
    compileall.compile_dir(Path(__file__).parents[1] / _room, quiet=2)

# A thread for each CPU takes as long to start as numpy itself, and no test multiplies matrices.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Nothing is measured in seconds: tests may run on a busy machine.
_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _patient, derandomize=True, max_examples=50)
# `--hypothesis-profile new` looks for examples that nobody has tried yet.
settings.register_profile("new", _patient, max_examples=1000)
settings.load_profile("same")


@pytest.fixture
def unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where coverage is measured, leave out the processes that the test starts: what they import,
    say or write is what is looked at."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """For ``-n auto``: while some wait for a process or a second to pass, others have the CPUs."""
    # Not at the top: what is imported before coverage begins to look would not count.
    from gemma_local.engine.threads import usable_cpus

    return usable_cpus() + 2
