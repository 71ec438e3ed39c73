"""A composer in a terminal: ``python -m tests.app.tui.composer.in_terminal FOLDER STATE OUT``.

What is sent is appended to the file OUT, one JSON string a line; Ctrl-Q leaves.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from gemma_local.app.tui.composer.composer import Composer
from tests.app.tui.composer.host import Host


class Telling(Host):
    """Tells what was sent to a file, as soon as it is."""

    def __init__(self, folder: Path, state: Path, out: Path) -> None:
        super().__init__(folder, state)
        self._out = out

    def on_composer_sent(self, message: Composer.Sent) -> None:
        with self._out.open("a", encoding="utf-8") as file:
            file.write(json.dumps(message.text) + "\n")


if __name__ == "__main__":
    Telling(*map(Path, sys.argv[1:])).run()
