"""Text that is written from right to left."""

from __future__ import annotations

import importlib
import re
from functools import cache
from typing import Any, Final

_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\U00010800-\U00010fff]")


def rtl_line(text: str) -> str:
    """``text``, one line without decoration, in the order in which it is seen.

    For terminals that paint characters in the order in which they come, and people who want it: a
    terminal that knows directions itself would turn it round again, so it is not the default. Code
    is never treated so. Without python-bidi, and where nothing is written from right to left, it
    is ``text``.
    """
    if not _RIGHT_TO_LEFT.search(text):
        return text
    algorithm = _algorithm()
    return str(algorithm.get_display(text)) if algorithm is not None else text


@cache
def _algorithm() -> Any:
    try:
        return importlib.import_module("bidi")
    except ImportError:
        return None
