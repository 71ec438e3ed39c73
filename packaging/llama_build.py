"""llama-cpp-python in ``.venv``: from a wheel where there is one, else built from source."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from pip_process import run_pip
from toolchain import missing_compiler, usable_cpus

NAME = "llama-cpp-python"
FILE_STEM = NAME.replace("-", "_")


def pinned_release(dependencies: list[str]) -> str | None:
    """The release that a project's ``dependencies`` ask for, None if they ask for none."""
    for dependency in dependencies:
        match = re.fullmatch(rf"{NAME}\s*==\s*(\S+)", dependency)
        if match:
            return match[1]
    return None


def is_installed(venv: Path, release: str) -> bool:
    """Whether ``release`` is in ``venv``."""
    name = f"{FILE_STEM}-{release}.dist-info"
    places = ("Lib/site-packages", "lib/python*/site-packages")
    return any(True for place in places for _ in venv.glob(f"{place}/{name}"))


class LlamaBuild:
    """One release of llama-cpp-python, built with ``cmake_args``, for the Python of a ``.venv``."""

    def __init__(
        self,
        python: Path,
        release: str,
        cmake_args: str,
        environ: Mapping[str, str],
        say: Callable[[str], None],
    ) -> None:
        self._python = python
        self._requirement = f"{NAME}=={release}"
        self._file_start = f"{FILE_STEM}-{release}-"
        self._cmake_args = cmake_args
        self._say = say
        self._environ = dict(environ)
        self._environ.setdefault("CMAKE_BUILD_PARALLEL_LEVEL", str(usable_cpus()))
        if cmake_args:
            self._environ["CMAKE_ARGS"] = cmake_args
        self._caches = True
        if cmake_args:
            self._choose_cache()

    def install(self, *, again: bool) -> str | None:
        """Install it, with ``again`` in place of one that is there. Returns what went wrong."""
        return self._get("install", *(["--force-reinstall"] if again else []))

    def wheel(self, folder: Path) -> str | None:
        """Put its wheel into a folder. Returns what went wrong."""
        return self._get("wheel", "--wheel-dir", str(folder))

    def _get(self, *command: str) -> str | None:
        kept = self._kept_wheels()
        if kept and self._pip_would_take(*kept):
            self._say(f"==> Taking {self._requirement} from pip's cache, where it was built before")
            return self._run(*command, *kept)
        if not self._cmake_args and self._pip_would_take():
            self._say(f"==> Taking {self._requirement} as a ready-made wheel")
            return self._run(*command, "--only-binary", NAME)
        problem = missing_compiler(self._environ)
        if problem:
            return problem
        self._announce()
        # A ready-made wheel was built with arguments of somebody else's choice.
        source_only = ["--no-binary", NAME] if self._cmake_args else []
        return self._run(*command, *source_only)

    def _choose_cache(self) -> None:
        """Give wheels that are built with arguments a cache of their own.

        pip's cache tells wheels apart by release and Python only: one for a GPU would be taken for
        the plain one, or the reverse.
        """
        if answer := self._ask("cache", "dir"):
            name = "cmake-" + hashlib.sha256(self._cmake_args.encode()).hexdigest()[:12]
            self._environ["PIP_CACHE_DIR"] = str(Path(answer.strip()) / name)

    def _kept_wheels(self) -> list[str]:
        """pip's options that offer it the wheels in its cache.

        By itself it only takes one that the same minor version of Python built, though these
        wheels fit any.
        """
        listed = self._ask("cache", "list", "--format", "abspath", FILE_STEM)
        # It fails where the cache is switched off, and only there.
        self._caches = listed is not None
        wheels = [Path(line) for line in (listed or "").splitlines()]
        folders = {str(wheel.parent) for wheel in wheels if wheel.name.startswith(self._file_start)}
        options = [option for folder in sorted(folders) for option in ("--find-links", folder)]
        return ["--no-index", *options] if options else []

    def _pip_would_take(self, *options: str) -> bool:
        """Whether pip, with ``options``, finds a wheel that fits this machine."""
        dry_run = ("install", "--dry-run", "--ignore-installed", "--no-deps")
        return self._ask(*dry_run, "--only-binary", NAME, *options, self._requirement) is not None

    def _announce(self) -> None:
        keeps = "pip keeps the wheel in its cache, and later installs take it from there"
        if not self._caches:
            keeps = "but pip's cache is switched off, so that each new .venv builds it again"
        jobs = self._environ["CMAKE_BUILD_PARALLEL_LEVEL"]
        chosen = f" with CMAKE_ARGS={self._cmake_args!r}" if self._cmake_args else ""
        self._say(
            f"==> Building {self._requirement} (llama.cpp) from source{chosen}. That takes 15 to "
            f"20 minutes on two cores ({jobs} used here), once: {keeps}."
        )

    def _run(self, command: str, *options: str) -> str | None:
        return run_pip(
            [command, "--no-deps", *options, self._requirement],
            python=self._python,
            environ=self._environ,
            say=self._say,
        )

    def _ask(self, *question: str) -> str | None:
        """What pip prints, or None if it fails."""
        done = subprocess.run(
            [self._python, "-m", "pip", *question],
            env=self._environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout if done.returncode == 0 else None
