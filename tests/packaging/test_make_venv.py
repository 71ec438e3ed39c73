"""`packaging/make_venv.py`, run as a person runs it, on a small project that installs offline."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pytest

from tests.packaging.conftest import Once

SCRIPTS = Path(__file__).resolve().parents[2] / "packaging"
PIN = "llama-cpp-python==9.9.9"
STAMP = "gemma-local.json"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses stand-ins for programs")

PYPROJECT = """\
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "small"
version = "1"
dependencies = [{dependencies}]

[project.optional-dependencies]
one = []
two = []
"""

# A whole build backend: it needs neither the network nor setuptools.
BACKEND = """\
import zipfile

METADATA = "Metadata-Version: 2.1\\nName: small\\nVersion: 1\\n"
for extra in ("one", "two"):
    METADATA += f"Provides-Extra: {extra}\\n"


def build_editable(folder, config_settings=None, metadata_directory=None):
    name = "small-1-py3-none-any.whl"
    files = {
        "small-1.dist-info/METADATA": METADATA,
        "small-1.dist-info/WHEEL": "Wheel-Version: 1.0\\nTag: py3-none-any\\n",
    }
    record = "".join(f"{file},,\\n" for file in [*files, "small-1.dist-info/RECORD"])
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        for file, text in {**files, "small-1.dist-info/RECORD": record}.items():
            wheel.writestr(file, text)
    return name


def build_wheel(folder, config_settings=None, metadata_directory=None):
    return build_editable(folder)
"""


@dataclass
class Outcome:
    code: int
    out: str
    error: str


@dataclass
class Project:
    root: Path
    environ: dict[str, str] = field(default_factory=dict)

    def write(self, dependencies: str = "") -> None:
        (self.root / "pyproject.toml").write_text(PYPROJECT.format(dependencies=dependencies))

    def set_up(self, *extras: str, **environ: str) -> Outcome:
        script = self.root / "packaging" / "make_venv.py"
        done = subprocess.run(
            [sys.executable, script, *extras],
            env={**self.environ, **environ},
            cwd=self.root.parent,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr
        return Outcome(done.returncode, done.stdout, done.stderr)

    @property
    def extras(self) -> list[str]:
        stamp = json.loads((self.root / ".venv" / STAMP).read_text())
        return list(stamp["extras"])


def small_project(folder: Path) -> Project:
    """One that installs without the network, on a machine that has compilers and nothing else; the
    one in a folder, which is made if it is not there."""
    root = folder / "project"
    kept_out = ("CMAKE", "PIP_", "CC", "CXX", "PYTHON")
    environ = {name: value for name, value in os.environ.items() if not name.startswith(kept_out)}
    environ |= {
        "PATH": str(folder / "bin"),
        "PIP_NO_INDEX": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_CACHE_DIR": str(folder / "cache"),
    }
    project = Project(root, environ)
    if not root.exists():
        shutil.copytree(SCRIPTS, root / "packaging", ignore=shutil.ignore_patterns("__pycache__"))
        (root / "backend.py").write_text(BACKEND)
        programs(folder / "bin", "cc", "c++")
        project.write()
    return project


@pytest.fixture(scope="module")
def first_setup(once: Once) -> tuple[Project, Outcome]:
    """A project set up from nothing, once: making a .venv takes seconds, copying it doesn't."""

    def set_up(folder: Path) -> None:
        outcome = small_project(folder).set_up("one")
        (folder / "outcome.json").write_text(json.dumps(asdict(outcome)))

    folder = once("first_setup", set_up)
    outcome = json.loads((folder / "outcome.json").read_text())
    return small_project(folder), Outcome(**outcome)


@pytest.fixture
def project(tmp_path: Path, first_setup: tuple[Project, Outcome]) -> Project:
    """A project with a .venv in which nothing is installed yet, as far as anyone knows."""
    project = small_project(tmp_path)
    copy_venv(first_setup[0].root / ".venv", project.root / ".venv")
    (project.root / ".venv" / STAMP).unlink()
    return project


def copy_venv(venv: Path, copy: Path) -> None:
    """Copy one, but for pip and setuptools: a thousand files, which nobody here changes."""

    def is_linked(folder: str, names: list[str]) -> set[str]:
        return {"pip", "setuptools"} & set(names) if folder.endswith("site-packages") else set()

    shutil.copytree(venv, copy, symlinks=True, ignore=is_linked)
    for site in venv.glob("lib/python*/site-packages"):
        for name in is_linked(str(site), [entry.name for entry in site.iterdir()]):
            (copy / site.relative_to(venv) / name).symlink_to(site / name)


def programs(folder: Path, *names: str) -> Path:
    """A folder for PATH with programs that do nothing."""
    folder.mkdir()
    for name in names:
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    return folder


def keep_wheel(cache: Path) -> None:
    """Put a wheel where pip keeps those that it built, as if another Python had built it."""
    folder = cache / "wheels" / "ab" / "cd"
    folder.mkdir(parents=True)
    info = "llama_cpp_python-9.9.9.dist-info"
    with zipfile.ZipFile(folder / "llama_cpp_python-9.9.9-py3-none-any.whl", "w") as wheel:
        wheel.writestr(
            f"{info}/METADATA", "Metadata-Version: 2.1\nName: llama-cpp-python\nVersion: 9.9.9\n"
        )
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{info}/RECORD", "")


def test_missing_venv_is_made(first_setup: tuple[Project, Outcome]) -> None:
    project, outcome = first_setup
    assert outcome.code == 0, outcome
    assert f"Making {project.root / '.venv'} with Python" in outcome.out
    assert "Installing gemma-local[one]" in outcome.out
    assert project.extras == ["one"]


def test_second_setup_does_nothing(first_setup: tuple[Project, Outcome]) -> None:
    project, _ = first_setup
    stamp = project.root / ".venv" / STAMP
    before = stamp.stat().st_mtime_ns
    second = project.set_up("one")
    # Each step says that it begins, and the stamp is written anew after the last.
    assert (second.code, second.out, second.error) == (0, "", "")
    assert stamp.stat().st_mtime_ns == before


def test_extras_add_up_and_a_changed_project_is_installed_again(project: Project) -> None:
    assert project.set_up("one").code == 0
    assert "[one,two]" in project.set_up("two").out
    assert project.extras == ["one", "two"]
    assert project.set_up().out == ""

    project.write("  ")
    assert "[one,two]" in project.set_up().out


def test_unknown_extra(project: Project) -> None:
    outcome = project.set_up("three")
    assert (outcome.code, outcome.error) == (
        1,
        "pyproject.toml has no extra 'three': it has one, two.\n",
    )


def test_missing_compiler_ends_the_setup_before_pip_starts(
    project: Project, tmp_path: Path
) -> None:
    project.write(f'"{PIN}"')
    outcome = project.set_up(PATH=str(programs(tmp_path / "debian", "apt-get")))
    assert outcome.code == 1
    assert outcome.error == (
        "llama-cpp-python is built from source, and this machine has no C and no C++ compiler: "
        "run `sudo apt install build-essential`, then the same command again.\n"
    )
    assert outcome.out == ""


def test_build_is_announced_and_failure_explained(project: Project) -> None:
    project.write(f'"{PIN}"')
    outcome = project.set_up(CMAKE_BUILD_PARALLEL_LEVEL="3")
    assert outcome.code == 1
    assert "15 to 20 minutes on two cores (3 used here), once" in outcome.out
    assert outcome.out.index("15 to 20") < outcome.out.index("ERROR")
    assert outcome.error.startswith("pip failed (exit code 1). Its last lines:")
    assert f"No matching distribution found for {PIN}" in outcome.error
    assert outcome.error.splitlines()[-1].startswith("pip found no fitting release")
    assert not (project.root / ".venv" / STAMP).exists()


def test_cached_wheel_is_no_build(project: Project, tmp_path: Path) -> None:
    project.write(f'"{PIN}"')
    keep_wheel(tmp_path / "cache")
    no_compiler = str(programs(tmp_path / "empty"))
    outcome = project.set_up(PATH=no_compiler)
    assert outcome.code == 0, outcome
    assert "from pip's cache" in outcome.out
    assert "minutes" not in outcome.out

    # And once it's installed, it's not looked for.
    project.write(f'"{PIN}" ')
    outcome = project.set_up(PATH=no_compiler)
    assert outcome.code == 0, outcome
    assert outcome.out.startswith("==> Installing gemma-local")


def test_ready_made_wheel_is_no_build(project: Project, tmp_path: Path) -> None:
    project.write(f'"{PIN}"')
    keep_wheel(tmp_path / "elsewhere")
    outcome = project.set_up(PIP_FIND_LINKS=str(tmp_path / "elsewhere" / "wheels" / "ab" / "cd"))
    assert outcome.code == 0, outcome
    assert "as a ready-made wheel" in outcome.out


def test_cmake_arguments_are_a_build_of_their_own(project: Project, tmp_path: Path) -> None:
    project.write(f'"{PIN}"')
    keep_wheel(tmp_path / "cache")
    outcome = project.set_up(CMAKE_ARGS="-DGGML_CUDA=on")
    assert outcome.code == 1
    assert "from source with CMAKE_ARGS='-DGGML_CUDA=on'. That takes 15 to 20" in outcome.out


def test_old_python_gets_a_sentence() -> None:
    code = (
        "import runpy, sys; sys.version_info = (3, 9, 18, 'final', 0); sys.argv[1:] = [];"
        f"runpy.run_path({str(SCRIPTS / 'make_venv.py')!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("gemma-local needs Python 3.11 or newer, and ")
    assert "is Python 3.9: install a newer one" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_old_python_can_read_the_script() -> None:
    ast.parse((SCRIPTS / "make_venv.py").read_text(), feature_version=(3, 6))
