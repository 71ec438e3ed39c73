"""What can go wrong with a file, said so that a person can act on it."""

from __future__ import annotations


class GemmaLocalError(Exception):
    """A problem a person can act on.

    ``str(error)`` is one sentence (or two) that says what is wrong and what to do next; it is
    printed as it stands, without a traceback.
    """


class BadModelFile(GemmaLocalError):
    """A file that is not a usable model: damaged, of another kind, or made for another program."""


class BadPair(GemmaLocalError):
    """A drafter that does not fit its target."""
