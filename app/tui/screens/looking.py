"""What a screen has looked up in a thread: what is said meanwhile, and what goes wrong there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from textual.worker import get_current_worker

from gemma_local.app.unexpected import log_unexpected
from gemma_local.models.errors import GemmaLocalError

Say = Callable[[str], None]


class NotWanted(BaseException):
    """Whoever asked has left. Not an ``Exception``, so that it ends the work and does not count as
    a question without an answer where one of many may fail.

    It isn't asyncio's ``CancelledError`` either: that one means tasks, and a thread is none.
    """


def saying(tell: Callable[[str], object]) -> Say:
    """What work in the current worker calls to tell what it does; it ends the work, with
    NotWanted, once the worker was cancelled."""
    worker = get_current_worker()

    def say(text: str) -> None:
        if worker.is_cancelled:
            raise NotWanted
        tell(text)

    return say


@contextmanager
def telling(tell: Callable[[str], object]) -> Iterator[None]:
    """Passes on, as a sentence, what goes wrong in a thread. Nobody is above it, so without this
    the screen would wait for ever."""
    try:
        yield
    except NotWanted:
        return
    except GemmaLocalError as error:
        tell(str(error))
    except Exception as error:  # noqa: BLE001 - nobody is above it
        tell(log_unexpected(error))
