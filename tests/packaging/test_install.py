"""What a person gets from a wheel, an sdist and an editable install, each made for real."""

from __future__ import annotations

import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("app", "engine", "models")
# Nothing is fetched: the build backend comes from the environment that the tests run in.
OFFLINE = ("--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check")
WINDOWS = sys.platform == "win32"


def run(*command: str | Path, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def copy_of_tree(target: Path) -> Path:
    """The repository without what builds leave in it."""
    leave_out = shutil.ignore_patterns(
        ".git", ".venv", "__pycache__", "*.egg-info", "build", "dist", ".*_cache", ".hypothesis"
    )
    return Path(shutil.copytree(ROOT, target, ignore=leave_out))


def build_wheel(source: Path, target: Path) -> Path:
    run(
        *(sys.executable, "-m", "pip", "wheel", *OFFLINE, "--wheel-dir", target, source),
        cwd=target.parent,
    )
    (wheel,) = target.glob("*.whl")
    return wheel


def names_in(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


class Environment:
    """A throw-away virtual environment that also sees the dependencies of this one."""

    def __init__(self, folder: Path) -> None:
        run(sys.executable, "-m", "venv", "--without-pip", folder, cwd=folder.parent)
        self.bin = folder / ("Scripts" if WINDOWS else "bin")
        self.python = self.bin / ("python.exe" if WINDOWS else "python")
        self.outside = folder.parent
        self.site = Path(self.ask("import sysconfig; print(sysconfig.get_path('purelib'))"))
        # A line in a .pth file makes the folder visible and runs none of its own .pth files, so an
        # editable gemma-local in this environment stays out of sight.
        seen = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        (self.site / "dependencies.pth").write_text("\n".join(sorted(seen)) + "\n")

    def install(self, *what: str | Path) -> None:
        pip = (sys.executable, "-m", "pip", "--python", self.python, "install")
        run(*pip, *OFFLINE, "--ignore-installed", *what, cwd=self.outside)

    def ask(self, code: str) -> str:
        return run(self.python, "-I", "-c", code, cwd=self.outside).strip()

    def file_of(self, module: str) -> Path:
        return Path(self.ask(f"import {module} as module; print(module.__file__)"))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = copy_of_tree(tmp_path_factory.mktemp("tree") / "gemma-local")
    (tree / "models" / "probe.toml").touch()
    (tree / "engine" / "data").mkdir(exist_ok=True)
    (tree / "engine" / "data" / "probe.jinja").touch()
    return tree


@pytest.fixture(scope="module")
def sdist(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    code = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    run(sys.executable, "-c", code, folder, cwd=tree)
    (archive,) = folder.glob("*.tar.gz")
    return archive


@pytest.fixture(scope="module")
def wheel(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tree, tmp_path_factory.mktemp("wheel") / "out")


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    environment = Environment(tmp_path_factory.mktemp("installed") / "venv")
    environment.install(wheel)
    return environment


def test_wheel_holds_every_file_of_the_rooms_and_nothing_else(wheel: Path, tree: Path) -> None:
    # Data files too: one with a new suffix has to be named in pyproject.toml's package-data.
    files = {
        f"gemma_local/{file.relative_to(tree).as_posix()}"
        for room in ROOMS
        for file in (tree / room).rglob("*")
        # How the pocket pair is made stays in the repository.
        if file.is_file() and not file.is_relative_to(tree / "models" / "pocket" / "train")
    }
    assert {"gemma_local/models/probe.toml", "gemma_local/engine/data/probe.jinja"} <= files
    assert {f"gemma_local/{room}/py.typed" for room in ROOMS} <= files
    assert {name for name in names_in(wheel) if ".dist-info/" not in name} == files


def test_sdist_holds_tests_and_what_builds_it(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    own = Path(__file__).relative_to(ROOT).as_posix()
    wanted = {own, "packaging/make_venv.py", "Makefile", "setup.py", "pyproject.toml", "LICENSE"}
    assert wanted <= names
    assert not [name for name in names if name.endswith(".pyc") or name.startswith(".venv")]


def test_wheel_from_sdist_is_the_same(sdist: Path, wheel: Path, tmp_path: Path) -> None:
    assert names_in(build_wheel(sdist, tmp_path / "out")) == names_in(wheel)


@pytest.mark.parametrize("module", [*ROOMS, "models.errors", "engine.runtime"])
def test_installed_modules_come_from_the_install(installed: Environment, module: str) -> None:
    assert installed.file_of(f"gemma_local.{module}").is_relative_to(installed.site)


def test_tests_and_packaging_are_not_installed(installed: Environment) -> None:
    found = {entry.name for entry in installed.site.iterdir()}
    assert not found & {"tests", "packaging", *ROOMS}


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
