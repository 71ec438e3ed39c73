"""Problems that the command line itself finds."""

from __future__ import annotations

from gemma_local.models.errors import GemmaLocalError


class UsageError(GemmaLocalError):
    """An option, or a combination of them, that makes no sense; the sentence says what to give."""


class NoModel(GemmaLocalError):
    """There is nothing to run yet; the sentences say how to get a model."""

    def __init__(self) -> None:
        super().__init__(_FIRST_STEPS)


_FIRST_STEPS = (
    "there is no model yet: give a GGUF file with --model FILE, or in GEMMA_LOCAL_MODEL.\n"
    "For Gemma 4 E2B put gemma-4-E2B-it-qat-UD-Q4_K_XL.gguf (2.6 GB) and its drafter "
    "mtp-gemma-4-E2B-it.gguf (59 MB), both from the Hugging Face repository "
    "unsloth/gemma-4-E2B-it-qat-GGUF, into one folder.\n"
    "To see a small model at work first, run `make demo` in the source folder."
)
