"""From the command to the first frame, in processor time of the whole process."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.app_terminal import FRAME_END, AppTerminal, environment
from tests.bench.budget import Budget

_RUNS: Final = 7
_TEXTUAL: Final = """
import time
import textual.app, textual.screen, textual.containers, textual.command
from textual.widgets import Input, OptionList, Static, TextArea
print(time.process_time())
"""


def measure(model: Path, home: Path) -> Iterator[Budget]:
    """``model`` is any pair; ``home`` a folder for what is written."""
    cpu, wall, alone = [], [], []
    for number in range(_RUNS):
        start = time.monotonic()
        with AppTerminal(home / f"start-{number}", "--model", model) as app:
            app.wait_for(b"keys and commands.*?" + FRAME_END)
            cpu.append(app.cpu)
            wall.append(time.monotonic() - start)
        said = subprocess.run(
            [sys.executable, "-c", _TEXTUAL], capture_output=True, check=True, env=environment(home)
        )
        alone.append(float(said.stdout))
    yield Budget("start to the first frame, processor time", cpu, "s", 1.0)
    yield Budget("  the same on the clock", wall, "s")
    yield Budget("  Python and Textual alone, imported", alone, "s")
