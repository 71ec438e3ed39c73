"""A session as a text for elsewhere, in the format that a file's ending names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from gemma_local.app.errors import UsageError
from gemma_local.app.sessions.entry import Entry, SessionInfo
from gemma_local.app.sessions.export_json import as_json
from gemma_local.app.sessions.export_markdown import as_markdown

Format = Literal["markdown", "json", "html"]

_FORMATS: Final[dict[str, Format]] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
}
ENDINGS: Final = tuple(_FORMATS)
"""The endings of files that say in which format a session is written."""


def format_of(path: Path | None) -> Format:
    """The format of a file, by its ending; Markdown if that says nothing."""
    return _FORMATS.get("" if path is None else path.suffix.lower(), "markdown")


def exported(info: SessionInfo, entries: Sequence[Entry], form: str) -> str:
    """The whole text in one of the formats "markdown", "json" and "html"."""
    match form:
        case "json":
            return as_json(info, entries) + "\n"
        case "html":
            # Here: nothing else needs a parser of Markdown.
            from gemma_local.app.sessions.export_html import as_html

            return as_html(info, entries)
        case _:
            return as_markdown(info, entries)


def write_export(path: Path, text: str, *, overwrite: bool = False) -> None:
    """Write an exported session to a file.

    Raises FileExistsError if there is one and it is not to be overwritten, UsageError if it cannot
    be written.
    """
    try:
        with path.open("wb" if overwrite else "xb") as file:
            file.write(text.encode("utf-8", "replace"))
    except FileExistsError:
        raise
    except OSError as error:
        raise UsageError(f"{path} cannot be written ({error.strerror}); give another") from error
