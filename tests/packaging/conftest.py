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

from tests.packaging.environment import Environment

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "packaging"
EPOCH = 1_700_000_000

Script = Callable[[str], ModuleType]


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
def built(script: Script, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Built once: it takes seconds."""
    tree = copy_of_tree(tmp_path_factory.mktemp("tree") / "gemma-local")
    (tree / "models" / "probe.toml").touch()
    (tree / "engine" / "data").mkdir(exist_ok=True)
    (tree / "engine" / "data" / "probe.jinja").touch()
    out = tmp_path_factory.mktemp("built")
    wheel, sdist = script("distributions").build(tree, out, EPOCH)
    return Built(tree, wheel, sdist)


@pytest.fixture(scope="session")
def installed(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """The wheel, installed."""
    environment = Environment(tmp_path_factory.mktemp("installed") / "venv")
    environment.install(built.wheel)
    return environment


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
    )
    return Path(shutil.copytree(ROOT, target, ignore=leave_out))
