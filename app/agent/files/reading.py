"""A file's content, taken from where its path led when that was checked."""

from __future__ import annotations

import stat

from gemma_local.app.agent.files.open_folder import OpenFolder
from gemma_local.app.agent.files.text_file import MOST_BYTES, NotText, TextFile, check_name
from gemma_local.app.agent.files.workspace import Place, Workspace
from gemma_local.app.agent.tool import ToolProblem


def data_of(
    workspace: Workspace, place: Place, *, remedy: str = "Use list or search to find it."
) -> bytes:
    """The bytes of a text file. Raises ToolProblem; where there is none it names the nearest, or
    else the ``remedy``."""
    data = data_if_there(place)
    if data is None:
        near = workspace.nearest(place) if place.is_inside else ()
        hint = f"Did you mean {' or '.join(near)}?" if near else remedy
        raise ToolProblem(f"There is no {place.shown}. {hint}")
    return data


def data_if_there(place: Place) -> bytes | None:
    """The bytes of a text file, None if there is nothing. Raises ToolProblem for what is no text
    file, is too large, or cannot be read."""
    try:
        with OpenFolder(place.path.parent) as folder:
            found = folder.stat(place.path.name)
            if found is None:
                return None
            if stat.S_ISDIR(found.st_mode):
                raise ToolProblem(f"{place.shown} is a folder. Give a file in it.")
            if not stat.S_ISREG(found.st_mode):
                raise ToolProblem(f"{place.shown} is no ordinary file and was left alone.")
            check_name(place.path)
            data = folder.read(place.path.name, MOST_BYTES + 1)
    except NotText as error:
        raise _no_text(place, error) from error
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise ToolProblem(f"{place.shown} could not be read: {reason}.") from error
    if len(data) > MOST_BYTES:
        raise ToolProblem(
            f"{place.shown} has {found.st_size / 1e6:,.0f} MB, more than is read."
            " Search it, or take a part of it with run."
        )
    return data


def text_in(data: bytes, place: Place) -> TextFile:
    """Raises ToolProblem for what is no text."""
    try:
        return TextFile.decoded(data)
    except NotText as error:
        raise _no_text(place, error) from error


def _no_text(place: Place, error: NotText) -> ToolProblem:
    return ToolProblem(f"{place.shown} {error} and cannot be read as text.")
