"""The stamp: what ``.venv`` was last set up for, so that a second setup can end at once."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path

FILE_NAME = "gemma-local.json"
# A change of either may change what is installed or how.
PROJECT_FILES = ("pyproject.toml", "setup.py")


@dataclass(frozen=True)
class Stamp:
    """One state of ``.venv``.

    ``root`` is the repository's folder: a virtual environment holds absolute paths and doesn't
    survive a move. ``interpreter`` is the Python behind it, which an upgrade of the system may
    exchange. ``cmake_args`` is what llama-cpp-python was built with.
    """

    root: str
    interpreter: str
    project: str
    extras: tuple[str, ...]
    cmake_args: str

    def covers(self, wanted: Stamp) -> bool:
        """Whether nothing has to be done to get from this state to ``wanted``.

        More extras than wanted do no harm. No wish for special CMake arguments is no wish to
        build anew without them.
        """
        return (
            self.root == wanted.root
            and self.interpreter == wanted.interpreter
            and self.project == wanted.project
            and set(self.extras) >= set(wanted.extras)
            and wanted.cmake_args in ("", self.cmake_args)
        )

    def joined(self, wanted: Stamp) -> Stamp:
        """``wanted``, with the extras and the build that this state has already."""
        return replace(
            wanted,
            extras=tuple(sorted({*self.extras, *wanted.extras})),
            cmake_args=wanted.cmake_args or self.cmake_args,
        )


def wanted_stamp(root: Path, python: Path, extras: list[str], cmake_args: str) -> Stamp:
    """The state that a setup with ``extras`` has to reach."""
    digest = hashlib.sha256()
    for name in PROJECT_FILES:
        file = root / name
        digest.update(file.read_bytes() if file.exists() else b"")
        digest.update(b"\0")
    return Stamp(
        root=str(root),
        interpreter=os.path.realpath(python),
        project=digest.hexdigest(),
        extras=tuple(sorted(set(extras))),
        cmake_args=cmake_args.strip(),
    )


def read_stamp(venv: Path) -> Stamp | None:
    """The stamp in ``venv``, or None if there is none that can be read."""
    try:
        fields = json.loads((venv / FILE_NAME).read_text(encoding="utf-8"))
        return Stamp(**{**fields, "extras": tuple(fields["extras"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def write_stamp(venv: Path, stamp: Stamp) -> None:
    """Put ``stamp`` into ``venv`` whole or not at all."""
    part = venv / f"{FILE_NAME}.part"
    part.write_text(json.dumps(asdict(stamp), indent=2) + "\n", encoding="utf-8")
    part.replace(venv / FILE_NAME)


def remove_stamp(venv: Path) -> None:
    """Forget the state of ``venv``: what follows may leave it half done."""
    (venv / FILE_NAME).unlink(missing_ok=True)
