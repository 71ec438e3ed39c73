"""The wish that something ends."""

from __future__ import annotations

from gemma_local.app.stop import Stop


def test_it_does_what_ends_the_thing_at_hand() -> None:
    stop = Stop()
    done: list[str] = []
    with stop.calling(lambda: done.append("inner")):
        stop.ask()
    assert done == ["inner"]
    # What has ended is not ended again.
    stop.ask()
    assert done == ["inner"]


def test_it_stays_asked_for() -> None:
    stop = Stop()
    done: list[str] = []
    assert not stop.is_asked
    stop.ask()
    with stop.calling(lambda: done.append("at once")):
        assert done == ["at once"]
    assert stop.is_asked is True
