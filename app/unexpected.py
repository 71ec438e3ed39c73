"""What nobody thought of: the log gets the traceback, the person a sentence."""

from __future__ import annotations

import traceback


def log_unexpected(error: Exception) -> str:
    """Write an error to the log; the sentence to show."""
    from gemma_local.app import folders

    try:
        path = folders.log_path()
        with path.open("a", encoding="utf-8") as log:
            traceback.print_exception(error, file=log)
    except OSError:
        return f"something unexpected went wrong ({error!r})"
    return f"something unexpected went wrong ({error!r}); the details are in {path}"
