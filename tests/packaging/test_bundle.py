"""The offline bundle: gemma-local's own wheel and pip for real, what it needs as stand-ins that
lead to what is installed beside the tests, and no network while it installs."""

from __future__ import annotations

import ast
import ensurepip
import json
import shutil
import subprocess
import sys
import sysconfig
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


def stand_in(requirement: Requirement, folder: Path, *, leads_back: bool = False) -> Path:
    """A wheel that meets a requirement; ``leads_back``: what is installed beside the tests can be
    imported where it is installed."""
    version = next(one.version for one in requirement.specifier if one.operator in ("==", ">="))
    name = requirement.name.replace("-", "_")
    about = f"{name}-{version}.dist-info"
    files = {
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if leads_back:
        seen = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        files["dependencies.pth"] = "\n".join(sorted(seen)) + "\n"
    record = "".join(f"{file},,\n" for file in [*files, f"{about}/RECORD"])
    path = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for file, text in {**files, f"{about}/RECORD": record}.items():
            wheel.writestr(file, text)
    return path


def requirements() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return [Requirement(line) for line in project["dependencies"]]


@pytest.fixture(scope="module")
def wheels(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheels")
    shutil.copy(built.wheel, folder)
    (pip,) = (Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl")
    shutil.copy(pip, folder)
    for wanted in requirements():
        stand_in(wanted, folder, leads_back=wanted.name == "llama-cpp-python")
    return folder


@pytest.fixture(scope="module")
def archive(script: Script, wheels: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle as somebody gets it."""
    place = tmp_path_factory.mktemp("bundle")
    folder = script("bundle").assemble(wheels, place, "x86-64-v3")
    script("distributions").pack(folder, place / f"{folder.name}.tar.gz", EPOCH)
    return place / f"{folder.name}.tar.gz"


@pytest.fixture
def bundle(archive: Path, tmp_path: Path) -> Path:
    """One as somebody has it who unpacked it."""
    with tarfile.open(archive) as packed:
        packed.extractall(tmp_path, filter="data")
    return tmp_path / archive.name.removesuffix(".tar.gz")


@pytest.fixture(scope="module")
def without_network() -> list[str]:
    """What to put before a command, nothing where there is no way."""
    cut = ["unshare", "--map-root-user", "--net"]
    try:
        can_cut = subprocess.run([*cut, "true"], capture_output=True, check=False).returncode == 0
    except OSError:
        can_cut = False
    return cut if can_cut else []


@pytest.fixture
def install(bundle: Path, tmp_path: Path, without_network: list[str]) -> Install:
    """Runs the installer as a person with an empty home does, where possible with no network."""

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*without_network, sys.executable, str(bundle / "install.py"), *words],
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


def test_links_of_another_installer_stay(install: Install, tmp_path: Path) -> None:
    # As pipx leaves them.
    link = tmp_path / "home" / ".local" / "bin" / "gemma-local"
    link.parent.mkdir(parents=True)
    other = tmp_path / "pipx" / "bin" / "gemma-local"
    other.parent.mkdir(parents=True)
    other.touch()
    link.symlink_to(other)
    # One that leads nowhere is of no use to anybody.
    page = tmp_path / "home" / ".local" / "share" / "man" / "man1" / "gemma-local.1"
    page.parent.mkdir(parents=True)
    page.symlink_to(tmp_path / "gone")
    done = install()
    assert done.returncode == 0, done.stderr
    assert f"{link} is there already" in done.stdout
    assert page.resolve().is_file()
    gone = install("--uninstall")
    assert gone.returncode == 0, gone.stderr
    assert link.readlink() == other
    assert not page.is_symlink()


def test_a_llama_cpp_that_does_not_start_is_no_success(
    script: Script, wheels: Path, install: Install, bundle: Path, tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(wheels, broken)
    (llama,) = (one for one in requirements() if one.name == "llama-cpp-python")
    stand_in(llama, broken)
    made = script("bundle").assemble(broken, tmp_path / "again", "x86-64-v3")
    shutil.rmtree(bundle)
    shutil.copytree(made, bundle)
    done = install()
    assert done.returncode == 1
    assert "llama.cpp does not start here: llama.cpp could not be loaded" in done.stderr
    assert "Traceback" not in done.stderr
    assert install("--uninstall").returncode == 0


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda folder: next(folder.glob("wheels/textual*")).write_bytes(b"x"), "is damaged"),
        (lambda folder: next(folder.glob("wheels/rich*")).unlink(), "is missing"),
        (lambda folder: (folder / "wheels" / "more.whl").touch(), "does not belong"),
        (lambda folder: (folder / "README.txt").write_text("x"), "README.txt is damaged"),
        (lambda folder: (folder / "bundle.json").write_text('{"version'), "bundle.json is damaged"),
        (lambda folder: (folder / "bundle.json").write_text("[]"), "bundle.json is damaged"),
        (lambda folder: (folder / "SHA256SUMS").write_bytes(b"\xff"), "SHA256SUMS is damaged"),
        (lambda folder: (folder / "SHA256SUMS").unlink(), "SHA256SUMS is missing"),
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
        ("flags", "avx99 fpu99", "x86-64-v3 or newer, and this one has no avx99, fpu99"),
    ],
)
def test_a_bundle_for_another_system_is_refused(
    bundle: Path, install: Install, fact: str, value: str, sentence: str
) -> None:
    if fact in ("glibc", "flags") and not sys.platform.startswith("linux"):
        pytest.skip("only Linux tells")
    facts = json.loads((bundle / "bundle.json").read_text(encoding="utf-8"))
    (bundle / "bundle.json").write_text(json.dumps({**facts, fact: value}), encoding="utf-8")
    done = install()
    assert done.returncode == 1
    assert sentence in done.stderr
    # Whether it arrived whole can be seen on any machine.
    assert "bundle.json is damaged" in install("--check").stderr


def test_a_bundle_for_another_system_can_be_checked(
    bundle: Path, install: Install, script: Script
) -> None:
    other = {**json.loads((bundle / "bundle.json").read_text("utf-8")), "system": "plan9"}
    (bundle / "bundle.json").write_text(json.dumps(other), encoding="utf-8")
    lines = (bundle / "SHA256SUMS").read_text("utf-8").splitlines()
    own = f"{script('manifests').sha256(bundle / 'bundle.json')}  bundle.json"
    lines = [own if line.endswith("  bundle.json") else line for line in lines]
    (bundle / "SHA256SUMS").write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert install("--check").returncode == 0
    assert "plan9" in install().stderr


def test_old_python_gets_a_sentence(script: Script) -> None:
    installer = script("bundle").INSTALLER
    code = (
        "import runpy, sys; sys.version_info = (3, 8, 18, 'final', 0); sys.argv[1:] = [];"
        f"runpy.run_path({str(installer)!r}, run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith("gemma-local needs Python 3.11 or newer")


def test_old_python_can_read_the_installer(script: Script) -> None:
    text = script("bundle").INSTALLER.read_text(encoding="utf-8")
    ast.parse(text, feature_version=(3, 6))
    # Python 3.6 does not know what comes from there, and parsing does not show it.
    assert "from __future__" not in text


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


def test_for_windows_it_is_a_zip_file_of_the_same_bytes(
    script: Script, wheels: Path, tmp_path: Path
) -> None:
    bundle, packed = script("bundle"), []
    for name in ("one", "other"):
        folder = bundle.assemble(wheels, tmp_path / name, "x86-64-v3")
        archive = bundle.archived(folder, tmp_path / name, windows=True)
        assert archive.name == f"{folder.name}.zip"
        packed.append(archive.read_bytes())
    assert packed[0] == packed[1]
    with zipfile.ZipFile(archive) as content:
        assert content.testzip() is None
        names = {
            f"{folder.name}/{file.relative_to(folder).as_posix()}"
            for file in folder.rglob("*")
            if file.is_file()
        }
        assert set(content.namelist()) == names
        content.extractall(tmp_path / "unpacked")
    (unpacked,) = (tmp_path / "unpacked").iterdir()
    done = subprocess.run(
        [sys.executable, str(unpacked / "install.py"), "--check"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr


def test_the_wheel_of_llama_cpp_is_the_one_that_was_given(
    script: Script, wheels: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And none that an index has, made for nobody knows which processors."""
    index = tmp_path / "index"
    shutil.copytree(wheels, index)
    (given,) = index.glob("llama_cpp_python-*")
    tagged = given.name.replace("-py3-", "-7-py3-")
    given = Path(shutil.move(given, tmp_path))
    # Of two with one version pip takes the one with the greater build number.
    shutil.copy(given, index / tagged)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    script("bundle").collect(tmp_path / "made", given)
    made = {file.name for file in (tmp_path / "made").iterdir()}
    assert {name for name in made if name.startswith("llama")} == {given.name}
    assert len(made) == len(requirements()) + 2


def test_a_wheel_of_another_release_is_refused(script: Script, tmp_path: Path) -> None:
    bundle = script("bundle")
    with pytest.raises(bundle.NoBundle, match=r"is no wheel of llama-cpp-python \d"):
        bundle.collect(tmp_path / "made", tmp_path / "llama_cpp_python-0.0.1-py3-none-any.whl")


def test_every_baseline_switches_off_what_is_only_here(script: Script) -> None:
    bundle = script("bundle")
    for name, arguments in bundle.BASELINES.values():
        assert "-DGGML_NATIVE=OFF" in arguments.split()
        # And the installer knows what to look for.
        assert bundle.FLAGS[name]
