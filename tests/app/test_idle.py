"""Work in idle time, and its end."""

from __future__ import annotations

import threading
from typing import cast

from gemma_local.app.idle import Idle, Stopped
from gemma_local.engine.client import Engine
from tests.waiting import PATIENCE


def test_work_knows_that_it_is_the_work_until_it_has_ended() -> None:
    idle = Idle(cast("Engine", object()))
    begun = threading.Event()
    here: list[bool] = []

    def work() -> None:
        here.append(idle.is_here)
        begun.set()
        try:
            idle.wait(PATIENCE)
        except Stopped:
            here.append(idle.is_here)

    idle.begin(work)
    assert begun.wait(PATIENCE)
    assert not idle.is_here
    idle.end()
    assert here == [True, True]
    # There is nothing any more to wait for.
    idle.grant(PATIENCE)
    idle.end()
