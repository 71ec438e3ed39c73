"""What the tests of packaging share: the scripts, and what a copy of the repository builds to."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from gemma_local.app.sessions.lock import SessionLock
from tests.packaging.environment import Environment
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "packaging"
EPOCH = 1_700_000_000

Script = Callable[[str], ModuleType]
Once = Callable[[str, Callable[[Path], object]], Path]


@dataclass(frozen=True)
class Built:
    """``tree`` is a copy of the repository with a file of data in two rooms that has no other use,
    the others are what was built from it."""

    tree: Path
    wheel: Path
    sdist: Path


@pytest.fixture(scope="session")
def script() -> Iterator[Script]:
    """Imports a module of packaging/ as it is found when one of the scripts there runs."""
    sys.path.insert(0, str(SCRIPTS))
    yield importlib.import_module
    sys.path.remove(str(SCRIPTS))


@pytest.fixture(scope="session")
def once(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Once:
    """Fills a folder, once for all workers: with what takes seconds and nobody changes later."""
    base = tmp_path_factory.getbasetemp()
    if hasattr(pytestconfig, "workerinput"):
        # A worker's lies in that of the run.
        base = base.parent

    def filled(name: str, fill: Callable[[Path], object]) -> Path:
        folder, is_filled = base / name, base / f"{name}.filled"
        lock = SessionLock(base / f"{name}.lock")
        until(lock.acquire, every=0.1)
        try:
            if not is_filled.exists():
                # What a worker left there that broke off.
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir()
                fill(folder)
                is_filled.touch()
        finally:
            lock.release()
        return folder

    return filled


@pytest.fixture(scope="session")
def built(script: Script, once: Once) -> Built:
    """Built once: it takes seconds."""

    def build(folder: Path) -> None:
        tree = copy_of_tree(folder / "gemma-local")
        (tree / "models" / "probe.toml").touch()
        (tree / "engine" / "data").mkdir(exist_ok=True)
        (tree / "engine" / "data" / "probe.jinja").touch()
        script("distributions").build(tree, folder, EPOCH)

    folder = once("built", build)
    (wheel,), (sdist,) = folder.glob("*.whl"), folder.glob("*.tar.gz")
    return Built(folder / "gemma-local", wheel, sdist)


@pytest.fixture(scope="session")
def installed(built: Built, once: Once) -> Environment:
    """The wheel, installed."""

    def install(folder: Path) -> None:
        Environment(folder / "venv").install(built.wheel)

    return Environment(once("installed", install) / "venv")


def copy_of_tree(target: Path) -> Path:
    """The repository without what builds leave in it."""
    leave_out = shutil.ignore_patterns(
        ".git",
        ".venv",
        "__pycache__",
        "*.egg-info",
        "build",
        "dist",
        ".*_cache",
        ".hypothesis",
        ".pocket",
        ".coverage*",
    )
    return Path(shutil.copytree(ROOT, target, ignore=leave_out))
