"""Problems that the command line itself finds."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from gemma_local.models.errors import GemmaLocalError

if TYPE_CHECKING:
    from gemma_local.engine.hardware.machine import Advice, Build


class UsageError(GemmaLocalError):
    """An option, or a combination of them, that makes no sense; the sentence says what to give."""


class BadSettings(GemmaLocalError):
    """Settings that cannot be read, or make no sense; the sentence says where and what would do."""


class NoModel(GemmaLocalError):
    """There is nothing to run yet; the sentences say how to get a model."""


class UnfitBuild(GemmaLocalError):
    """The installed llama.cpp is made for another processor: loading a model would end it."""

    def __init__(self, build: Build) -> None:
        remedy = f"; reinstall it: {command_of(build.advice)}" if build.advice is not None else ""
        super().__init__(f"{self.sentence(build)}{remedy}")

    @staticmethod
    def sentence(build: Build) -> str:
        """What is wrong, without an end."""
        lacks = ", ".join(build.missing) or "instructions that it uses"
        return f"the installed llama.cpp is made for another processor: this one lacks {lacks}"


def command_of(advice: Advice) -> str:
    """The command for the way in which this gemma-local is installed."""
    return advice.pipx if "pipx" in sys.prefix else advice.pip
