"""Terminals for the tests, with a home of their own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.app.running import Command

if TYPE_CHECKING:
    from tests.app.tui.end_to_end.terminals import Terminals

# There is no pty on Windows: what opens one cannot even be imported.
collect_ignore_glob = ["test_*.py"] if sys.platform == "win32" else []


@pytest.fixture
def terminals(command: Command) -> Terminals:
    from tests.app.tui.end_to_end.terminals import Terminals

    folder = command.home / "work"
    folder.mkdir(parents=True)
    # An empty folder would be a project.
    (folder / "letter.txt").touch()
    return Terminals(command, folder)
