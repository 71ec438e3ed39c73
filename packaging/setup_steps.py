"""The steps that lead to a ``.venv`` with gemma-local in it."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

from llama_build import LlamaBuild, is_installed, pinned_release
from pip_process import run_pip
from stamp import Stamp, read_stamp, remove_stamp, wanted_stamp, write_stamp

WINDOWS = sys.platform == "win32"


class SetupProblem(Exception):
    """Something that a person has to see to; ``str()`` says what and how."""


def set_up(root: Path, extras: list[str], environ: Mapping[str, str] = os.environ) -> None:
    """Make ``root/.venv`` if need be and install gemma-local with ``extras`` into it, editable."""
    venv = root / ".venv"
    python = venv.joinpath(*(("Scripts", "python.exe") if WINDOWS else ("bin", "python")))
    have = read_stamp(venv)
    wanted = wanted_stamp(root, python, extras, environ.get("CMAKE_ARGS", ""))
    if have and python.exists() and have.covers(wanted):
        return

    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    _check_extras(extras, project.get("optional-dependencies", {}))
    remove_stamp(venv)
    if have and (have.root != wanted.root or have.interpreter != wanted.interpreter):
        have = None
        _make(venv, clear=True)
    elif not _runs(python):
        have = None
        _make(venv, clear=False)
    wanted = wanted_stamp(root, python, extras, environ.get("CMAKE_ARGS", ""))
    goal = have.joined(wanted) if have else wanted
    _install(root, venv, python, goal, pinned_release(project["dependencies"]), have, environ)
    write_stamp(venv, goal)


def _say(line: str) -> None:
    # Flushed: in CI and in pipes the lines are to show up while the build runs.
    print(line, flush=True)


def _check_extras(extras: list[str], known: Mapping[str, object]) -> None:
    for extra in extras:
        if extra not in known:
            raise SetupProblem(
                f"pyproject.toml has no extra {extra!r}: it has {', '.join(sorted(known))}."
            )


def _runs(python: Path) -> bool:
    """Whether ``python`` is there and works: the Python behind a link to it may be gone."""
    try:
        return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _make(venv: Path, *, clear: bool) -> None:
    if importlib.util.find_spec("ensurepip") is None:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise SetupProblem(
            f"{sys.executable} can't make virtual environments: run `sudo apt install "
            f"python{version}-venv` (Debian and Ubuntu keep that part in a package of its own), "
            "then the same command again."
        )
    _say(f"==> Making {venv} with Python {sys.version.split()[0]}")
    command = [sys.executable, "-m", "venv", *(["--clear"] if clear else []), str(venv)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SetupProblem(
            f"Making {venv} failed: {(done.stderr or done.stdout).strip()}\n"
            "Delete that folder and run the same command again."
        )


def _install(
    root: Path,
    venv: Path,
    python: Path,
    goal: Stamp,
    engine: str | None,
    have: Stamp | None,
    environ: Mapping[str, str],
) -> None:
    # A progress bar is of no use in lines that are read one by one.
    quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_PROGRESS_BAR": "off"}
    environ = {**environ, **quiet}
    if engine is not None:
        installed = is_installed(venv, engine)
        # One of unknown origin can't be asked what it was built with, so don't trust it.
        built_with = have.cmake_args if have else None
        again = installed and bool(goal.cmake_args) and built_with != goal.cmake_args
        if again or not installed:
            build = LlamaBuild(python, engine, goal.cmake_args, environ, _say)
            _stop_if(build.install(again=again))
    extras = f"[{','.join(goal.extras)}]" if goal.extras else ""
    _say(f"==> Installing gemma-local{extras} into {venv}")
    what = ["install", "-e", f"{root}{extras}"]
    _stop_if(run_pip(what, python=python, environ=environ, say=_say))


def _stop_if(failure: str | None) -> None:
    if failure:
        raise SetupProblem(failure)
