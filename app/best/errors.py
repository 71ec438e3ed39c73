"""Why there are no attempts, or nothing comes of them."""

from __future__ import annotations

from gemma_local.models.errors import GemmaLocalError


class NoAttempts(GemmaLocalError):
    """Attempts cannot be made here, or not like this; the sentence says what to do."""


class NotTaken(GemmaLocalError):
    """What an attempt did was not brought into the person's files; none of these was changed."""


class Ended(Exception):
    """Somebody asked for it to end."""
