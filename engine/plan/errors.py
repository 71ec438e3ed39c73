"""What cannot be planned."""

from __future__ import annotations

from gemma_local.models.errors import BadModelFile, GemmaLocalError


class DoesNotFit(BadModelFile):
    """A model, or what was asked of it, needs more memory than there is; with the numbers."""


class WishRefused(GemmaLocalError):
    """Something was asked for that this machine or model does not have."""
