"""What holds for every test, and for the processes that tests start.

No network; the same examples in each run; modules that are compiled once.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hypothesis import HealthCheck, settings

from tests.offline import sitecustomize

_offline = str(Path(sitecustomize.__file__).parent)
_places = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
if _offline not in _places:
    os.environ["PYTHONPATH"] = os.pathsep.join([_offline, *_places])

# Where it is set, each of the hundreds of processes would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Nothing is measured in seconds: tests may run on a busy machine.
_patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _patient, derandomize=True, max_examples=50)
# `--hypothesis-profile new` looks for examples that nobody has tried yet.
settings.register_profile("new", _patient, max_examples=1000)
settings.load_profile("same")
