"""Putting the app aside, as Ctrl-Z does with programs that are not asked."""

from __future__ import annotations

import os
import sys
from typing import Any

from textual.app import App

from gemma_local.models.errors import GemmaLocalError


class CannotSuspend(GemmaLocalError):
    """Nobody could bring the app back."""


def suspend(app: App[Any]) -> None:
    """Give the terminal back to the shell, until its ``fg`` brings the app back.

    Raises CannotSuspend where that would never happen: without a shell that started it, or with one
    that knows no jobs.
    """
    driver = app._driver
    if sys.platform == "win32" or driver is None or not driver.can_suspend:
        raise CannotSuspend("this terminal has no way to put a program aside")
    # A shell with jobs gives each a group of its own; who leads the session waits for nobody.
    if os.getpgrp() == os.getsid(0):
        raise CannotSuspend("there is no shell behind this app that could bring it back")
    app.action_suspend_process()
