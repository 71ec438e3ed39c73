"""When Python looks for garbage that refers to itself.

Nearly everything goes when the last reference to it does. What is left for the collector are a few
cycles, and to find them it stops the app and looks at every object there is: with a conversation of
300 messages for 150 to 300 ms on a busy machine, at a moment that nobody chose. So it does not look
while the app is being loaded, which makes nothing but what stays; what was loaded is left out of
all later looks; and it looks at everything only when that has grown by a million objects.
"""

from __future__ import annotations

import gc
from typing import Final

_THRESHOLDS: Final = (1_000, 10, 100)
"""New objects before the youngest are looked at, and how many of those looks before older ones,
and before all. Python's own are 700, 10 and 10."""


def put_off() -> None:
    """Don't look for garbage until ``begin``."""
    gc.disable()


def begin() -> None:
    """From now on look for garbage, but only among what is made from now on."""
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
    gc.enable()


def end() -> None:
    """The process is about to end: not even then look at all there is, which takes longest."""
    gc.freeze()
