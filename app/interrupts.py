"""Ctrl-C while an answer is being written: the first stops the answer, the second everything."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def first_interrupt_calls(stop: Callable[[], None]) -> Iterator[None]:
    """Within the block the first Ctrl-C calls ``stop``; the next raises KeyboardInterrupt.

    ``stop`` runs in a thread of its own: a signal handler interrupts the main thread anywhere, also
    while it holds the lock that ``stop`` may need. Where Ctrl-C is ignored (``nohup``), or this is
    not the main thread, nothing changes.
    """
    is_main = threading.current_thread() is threading.main_thread()
    previous = signal.getsignal(signal.SIGINT)
    if not is_main or previous is signal.SIG_IGN or previous is None:
        yield
        return

    def handle(_signal: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Thread(target=stop, daemon=True).start()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
