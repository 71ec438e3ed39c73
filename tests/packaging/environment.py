"""A throw-away virtual environment to install into, without a network."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

# Nothing is fetched: the build backend comes from the environment that the tests run in.
OFFLINE = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
WINDOWS = sys.platform == "win32"


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


class Environment:
    """A throw-away virtual environment that also sees the dependencies of this one."""

    def __init__(self, folder: Path) -> None:
        """The one in a folder, which is made if it is not there."""
        self.bin = folder / ("Scripts" if WINDOWS else "bin")
        self.python = self.bin / ("python.exe" if WINDOWS else "python")
        self.outside = folder.parent
        is_new = not folder.exists()
        if is_new:
            run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
        self.site = Path(self.ask("import sysconfig; print(sysconfig.get_path('purelib'))"))
        if is_new:
            # A line in a .pth file makes the folder visible and runs none of its own .pth files, so
            # an editable gemma-local in this environment stays out of sight.
            seen = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
            (self.site / "dependencies.pth").write_text("\n".join(sorted(seen)) + "\n")

    def install(self, *what: str | Path) -> None:
        self._pip("install", *OFFLINE, "--no-compile", "--ignore-installed", *what)

    def uninstall(self, name: str) -> None:
        self._pip("uninstall", "--yes", "--disable-pip-version-check", name)

    def ask(self, code: str) -> str:
        return run(self.python, "-I", "-c", code, cwd=self.outside).strip()

    def file_of(self, module: str) -> Path:
        return Path(self.ask(f"import {module} as module; print(module.__file__)"))

    def _pip(self, *words: str | Path) -> None:
        # pip is among the dependencies that are seen. With `--python` it would start twice.
        run(self.python, "-m", "pip", *words, cwd=self.outside)
