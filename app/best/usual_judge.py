"""The command that a project is tested with, where its files say so."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

_LARGEST: Final = 1_000_000
_TEST_TARGET: Final = re.compile(r"^test\s*:(?!=)", re.MULTILINE)


def usual_judge(folder: Path) -> str:
    """The command, "" if that is not clear."""
    return next((command for command, is_it in _KNOWN if is_it(folder)), "")


def _makes_test(folder: Path) -> bool:
    return any(_TEST_TARGET.search(_text(folder / name)) for name in ("Makefile", "makefile"))


def _has_pytest(folder: Path) -> bool:
    settings = ("pyproject.toml", "setup.cfg", "tox.ini")
    if (folder / "pytest.ini").exists() or any("pytest" in _text(folder / n) for n in settings):
        return True
    places = (folder, folder / "tests", folder / "test")
    return any(next(place.glob("test_*.py"), None) is not None for place in places)


def _has_npm_test(folder: Path) -> bool:
    with suppress(ValueError, TypeError, AttributeError):
        script = json.loads(_text(folder / "package.json")).get("scripts", {}).get("test", "")
        # What npm writes when it makes the file.
        return bool(script) and "no test specified" not in script
    return False


def _has(name: str) -> Callable[[Path], bool]:
    return lambda folder: (folder / name).exists()


def _text(path: Path) -> str:
    try:
        return path.read_bytes()[:_LARGEST].decode("utf-8", "replace")
    except OSError:
        return ""


_KNOWN: Final[tuple[tuple[str, Callable[[Path], bool]], ...]] = (
    ("make test", _makes_test),
    ("python -m pytest -q", _has_pytest),
    ("npm test", _has_npm_test),
    ("cargo test", _has("Cargo.toml")),
    ("go test ./...", _has("go.mod")),
)
"""In the order in which they are looked for: what a project itself calls its tests comes first."""
