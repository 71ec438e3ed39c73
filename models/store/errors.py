"""What can go wrong between a model on the hub and a file that can be used."""

from __future__ import annotations

from gemma_local.models.errors import GemmaLocalError


class StoreError(GemmaLocalError):
    """Base of all that follow."""


class Offline(StoreError):
    """Something would have to be asked of the network, and it may not be."""


class HubUnreachable(StoreError):
    """The hub did not answer, answered with trouble, or the connection broke once too often."""


class HubRefused(StoreError):
    """The hub wants a token, an accepted licence, or other rights."""


class NotOnHub(StoreError):
    """There is no such repository, revision or file."""


class WrongContent(StoreError):
    """A file whose bytes are not those it should have."""


class NoSpace(StoreError):
    """The disk is too full, or its file system cannot hold files of that size."""


class NoSuchModel(StoreError):
    """No model in the library, or more than one, answers to what was given."""


class BadTransfer(StoreError):
    """A folder that is no export, or one that was changed."""


class Stopped(StoreError):
    """The download was called off. What there is of it stays for the next time."""

    def __init__(self) -> None:
        super().__init__("the download was stopped; the same command goes on from there")
