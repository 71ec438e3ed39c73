"""The offline bundle: gemma-local's own wheel and pip for real, what it needs as empty stand-ins,
and no network while it installs."""

from __future__ import annotations

import ensurepip
import json
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.packaging.conftest import EPOCH, ROOT, Built, Script

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="its links are for other systems"),
    pytest.mark.timeout(600),
]

Install = Callable[..., subprocess.CompletedProcess[str]]


def stand_in(requirement: Requirement, folder: Path) -> None:
    """An empty wheel that meets a requirement."""
    version = next(one.version for one in requirement.specifier if one.operator in ("==", ">="))
    name = requirement.name.replace("-", "_")
    about = f"{name}-{version}.dist-info"
    files = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{file},,\n" for file in [*files, f"{about}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for file, text in {**files, f"{about}/RECORD": record}.items():
            wheel.writestr(file, text)


@pytest.fixture(scope="module")
def wheels(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    shutil.copy(built.wheel, folder)
    (pip,) = (Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl")
    shutil.copy(pip, folder)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    for line in project["dependencies"]:
        stand_in(Requirement(line), folder)
    return folder


@pytest.fixture
def bundle(script: Script, wheels: Path, tmp_path: Path) -> Path:
    """A bundle as somebody has it who unpacked it."""
    folder = script("bundle").assemble(wheels, tmp_path / "made", "x86-64-v3")
    archive = tmp_path / "bundle.tar.gz"
    script("distributions").pack(folder, archive, EPOCH)
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / str(folder.name)


@pytest.fixture
def install(bundle: Path, tmp_path: Path) -> Install:
    """Runs the installer as a person with an empty home does, where possible with no network."""
    cut = ["unshare", "--map-root-user", "--net"]
    try:
        can_cut = subprocess.run([*cut, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        can_cut = False

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*(cut if can_cut else []), sys.executable, str(bundle / "install.py"), *words],
            env={"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


def test_it_installs_starts_and_goes_without_a_trace(install: Install, tmp_path: Path) -> None:
    home = tmp_path / "home"
    command = home / ".local" / "bin" / "gemma-local"
    # What somebody else has put there stays.
    command.parent.mkdir(parents=True)
    command.write_text("#!/bin/sh\n")
    done = install()
    assert done.returncode == 0, done.stderr
    assert f"{command} is there already" in done.stdout
    assert command.read_text() == "#!/bin/sh\n"

    # Once more, over what is there.
    command.unlink()
    done = install()
    assert done.returncode == 0, done.stderr
    assert f"Put {command.parent} on PATH" in done.stdout
    said = subprocess.run([command, "--version"], capture_output=True, text=True, check=True)
    assert f"{said.stdout.strip()} is installed" in done.stdout
    page = home / ".local" / "share" / "man" / "man1" / "gemma-local.1"
    assert page.is_symlink() and page.read_text(encoding="utf-8").startswith(".TH")

    gone = install("--uninstall")
    assert gone.returncode == 0, gone.stderr
    assert [path for path in home.rglob("*") if path.is_symlink() or not path.is_dir()] == []


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda folder: next(folder.glob("wheels/textual*")).write_bytes(b"x"), "is damaged"),
        (lambda folder: next(folder.glob("wheels/rich*")).unlink(), "is missing"),
        (lambda folder: (folder / "wheels" / "more.whl").touch(), "does not belong"),
        (lambda folder: (folder / "README.txt").write_text("x"), "README.txt is damaged"),
    ],
)
def test_a_bundle_that_is_not_as_it_was_is_refused(
    bundle: Path,
    install: Install,
    tmp_path: Path,
    spoil: Callable[[Path], object],
    sentence: str,
) -> None:
    spoil(bundle)
    for words in ((), ("--check",)):
        done = install(*words)
        assert (done.returncode, done.stdout) == (1, "")
        assert sentence in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("fact", "value", "sentence"),
    [
        ("python", "3.99", "is for Python 3.99"),
        ("machine", "vax", "vax"),
        ("glibc", "99.1", "needs glibc 99.1"),
    ],
)
def test_a_bundle_for_another_system_is_refused(
    bundle: Path, install: Install, fact: str, value: str, sentence: str
) -> None:
    if fact == "glibc" and not sys.platform.startswith("linux"):
        pytest.skip("only Linux has it")
    facts = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    (bundle / "bundle.json").write_text(json.dumps({**facts, fact: value}), encoding="utf-8")
    done = install()
    assert done.returncode == 1
    assert sentence in done.stderr


def test_a_folder_of_something_else_stays(install: Install, tmp_path: Path) -> None:
    prefix = tmp_path / "precious"
    prefix.mkdir()
    (prefix / "thesis.txt").write_text("x")
    assert "name another --prefix" in install("--prefix", str(prefix)).stderr
    assert "There is no install" in install("--uninstall", "--prefix", str(prefix)).stderr
    assert (prefix / "thesis.txt").read_text() == "x"


def test_the_same_bundle_is_the_same_bytes(script: Script, wheels: Path, tmp_path: Path) -> None:
    packed = []
    for name in ("one", "other"):
        folder = script("bundle").assemble(wheels, tmp_path / name, "x86-64-v3")
        archive = tmp_path / f"{name}.tar.gz"
        script("distributions").pack(folder, archive, EPOCH)
        packed.append(archive.read_bytes())
    assert packed[0] == packed[1]


def test_every_baseline_switches_off_what_is_only_here(script: Script) -> None:
    for _, arguments in script("bundle").BASELINES.values():
        assert "-DGGML_NATIVE=OFF" in arguments.split()
