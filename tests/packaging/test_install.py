"""What a person gets from a wheel, an sdist and an editable install, each made for real."""

from __future__ import annotations

import os
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.packaging.conftest import EPOCH, ROOT, Built, Script, copy_of_tree
from tests.packaging.environment import Environment

pytestmark = pytest.mark.timeout(600)

ROOMS = ("app", "engine", "models")


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_wheel_holds_every_file_of_the_rooms_and_nothing_else(built: Built) -> None:
    # Data files too: one with a new suffix has to be named in pyproject.toml's package-data.
    files = {
        f"gemma_local/{file.relative_to(built.tree).as_posix()}"
        for room in ROOMS
        for file in (built.tree / room).rglob("*")
        # How the pocket pair is made stays in the repository.
        if file.is_file() and not file.is_relative_to(built.tree / "models" / "pocket" / "train")
    }
    assert {"gemma_local/models/probe.toml", "gemma_local/engine/data/probe.jinja"} <= files
    assert {f"gemma_local/{room}/py.typed" for room in ROOMS} <= files
    own = {
        name for name in names_in(built.wheel) if ".dist-info/" not in name and ".data/" not in name
    }
    assert own == files


def test_wheel_holds_what_shells_and_desktops_look_for(built: Built) -> None:
    share = ROOT / "packaging" / "share"
    files = {file.relative_to(share).as_posix() for file in share.rglob("*") if file.is_file()}
    data = {
        name.partition(".data/data/share/")[2] for name in names_in(built.wheel) if ".data/" in name
    }
    assert data == files
    assert {"man/man1/gemma-local.1", "bash-completion/completions/gemma-local"} <= files


def test_sdist_holds_tests_and_what_builds_it(built: Built) -> None:
    with tarfile.open(built.sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    own = Path(__file__).relative_to(ROOT).as_posix()
    wanted = {own, "packaging/make_venv.py", "Makefile", "setup.py", "pyproject.toml", "LICENSE"}
    assert wanted <= names
    assert {"docs/settings.md", "packaging/templates/gemma-local.rb"} <= names
    assert not [name for name in names if name.endswith(".pyc") or name.startswith(".venv")]


def test_a_build_from_the_sdist_elsewhere_is_the_same_to_the_byte(
    built: Built, script: Script, tmp_path: Path
) -> None:
    with tarfile.open(built.sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    # Another day, and a person whose files nobody else may read.
    for file in tree.rglob("*"):
        file.chmod(file.stat().st_mode & 0o700)
        os.utime(file, (1_600_000_000, 1_600_000_000))
    before = os.umask(0o077)
    try:
        wheel, sdist = script("distributions").build(tree, tmp_path / "out", EPOCH)
    finally:
        os.umask(before)
    assert wheel.read_bytes() == built.wheel.read_bytes()
    assert sdist.name == built.sdist.name


@pytest.mark.parametrize("module", [*ROOMS, "models.errors", "engine.runtime"])
def test_installed_modules_come_from_the_install(installed: Environment, module: str) -> None:
    assert installed.file_of(f"gemma_local.{module}").is_relative_to(installed.site)


def test_tests_and_packaging_are_not_installed(installed: Environment) -> None:
    found = {entry.name for entry in installed.site.iterdir()}
    assert not found & {"tests", "packaging", "docs", *ROOMS}


def test_console_script_is_installed(installed: Environment) -> None:
    assert shutil.which("gemma-local", path=str(installed.bin))
    code = (
        "from importlib.metadata import entry_points as points;"
        "print(*(p.value for p in points(group='console_scripts', name='gemma-local')))"
    )
    assert "gemma_local.app.cli:main" in installed.ask(code).split()


def test_editable_install_sees_what_is_added_later(tmp_path: Path) -> None:
    tree = copy_of_tree(tmp_path / "gemma-local")
    environment = Environment(tmp_path / "venv")
    environment.install("--editable", tree)
    for room in ROOMS:
        assert environment.file_of(f"gemma_local.{room}") == tree / room / "__init__.py"
    assert shutil.which("gemma-local", path=str(environment.bin))

    (tree / "models" / "added.py").touch()
    package = tree / "engine" / "added"
    package.mkdir()
    (package / "__init__.py").touch()
    assert environment.file_of("gemma_local.models.added") == tree / "models" / "added.py"
    assert environment.file_of("gemma_local.engine.added") == package / "__init__.py"
