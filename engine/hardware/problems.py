"""What could not be found out about a machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from gemma_local.models.errors import GemmaLocalError

Found = TypeVar("Found")
Otherwise = TypeVar("Otherwise")


class ProbeFailed(GemmaLocalError):
    """Something that was asked about the machine did not answer, or not as it should."""


class Problems:
    """Collects a sentence for each question that failed; the rest goes on without its answer."""

    def __init__(self) -> None:
        self._sentences: list[str] = []

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(self._sentences)

    def add(self, sentence: str) -> None:
        """Note a sentence, once."""
        if sentence not in self._sentences:
            self._sentences.append(sentence)

    def attempt(
        self, subject: str, find_out: Callable[[], Found], otherwise: Otherwise
    ) -> Found | Otherwise:
        """What ``find_out`` returns, or ``otherwise`` and a sentence about ``subject``."""
        try:
            return find_out()
        except Exception as error:  # noqa: BLE001 - drivers, kernels and files fail in any way
            said = " ".join(str(error).split())
            why = said if isinstance(error, ProbeFailed) else f"{type(error).__name__}: {said}"
            self.add(f"{subject} could not be found out ({why.rstrip(' :')})")
            return otherwise
