"""What can be wrong with a file or folder that somebody wants to read."""

from __future__ import annotations

from gemma_local.models.errors import GemmaLocalError


class TooLarge(GemmaLocalError):
    """A folder whose files are not looked through."""


class Unreadable(GemmaLocalError):
    """A file of which nothing can be read as text; the sentence says why, and what to do."""


class Sensitive(Unreadable):
    """Files that hold secrets by their names, and are read only if the person says so.

    ``paths`` are those files, as the person wrote them.
    """

    def __init__(self, paths: tuple[str, ...]) -> None:
        self.paths = paths
        names = ", ".join(paths)
        they = "it looks like it holds" if len(paths) == 1 else "they look like they hold"
        super().__init__(f"{names} was not read: {they} secrets; confirm that it may be read")
