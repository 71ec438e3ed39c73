"""Makes a bundle that installs without a network: ``python packaging/bundle.py [OPTIONS]``.

The bundle is a ``.tar.gz``, on Windows a ``.zip``, for this system and this minor version of Python
alone: gemma-local and all that it needs as wheels, checksums of everything, and an installer that
needs nothing but Python. llama.cpp in it is built for a stated baseline of processors, not for this
one. With ``--models`` models come along.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from distributions import ROOT, BuildFailed, build_wheel, pack, pack_zip, source_epoch
from llama_build import FILE_STEM, LlamaBuild, pinned_release
from pip_process import run_pip

INSTALLER: Final = Path(__file__).with_name("bundle_installer.py")
WINDOWS: Final = sys.platform == "win32"
BASELINES: Final = {
    # Haswell (2013), Zen (2017) and later; not the Pentiums, Celerons and Atoms that Intel brought
    # out without AVX2 until 2021. Spelt out: with SOURCE_DATE_EPOCH set, CMake's defaults leave all
    # of them off. GGML_CPU_ALL_VARIANTS, which chooses as it starts, is not it: llama.cpp looks for
    # its parts beside Python's program and in the current folder, where they are not and a project
    # of somebody else's might have some.
    "x86_64": (
        "x86-64-v3",
        (
            "-DGGML_NATIVE=OFF -DGGML_SSE42=ON -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON "
            "-DGGML_F16C=ON -DGGML_BMI2=ON"
        ),
    ),
    # Cortex-A76 (2018), Raspberry Pi 5, Apple M1 and later.
    "arm64": ("armv8.2-a+dotprod", "-DGGML_NATIVE=OFF -DGGML_CPU_ARM_ARCH=armv8.2-a+dotprod"),
}
"""By architecture: the oldest processors that run it, and how llama.cpp is built for them."""
FLAGS: Final = {
    "x86-64-v2": "popcnt sse4_2 ssse3",
    "x86-64-v3": "avx avx2 bmi2 f16c fma sse4_2",
    "x86-64-v4": "avx avx2 avx512bw avx512cd avx512dq avx512f avx512vl bmi2 f16c fma sse4_2",
    "armv8.2-a+dotprod": "asimddp",
}
"""By baseline: what the installer looks for in a processor, as Linux's /proc/cpuinfo has it."""
_SAME: Final = {"amd64": "x86_64", "aarch64": "arm64"}
_README: Final = """\
gemma-local {version}, to install without a network.

    {start} install.py              installs it for you alone
    {start} install.py --help       where to, and how to remove it
    {start} install.py --check      compares every file with its checksum

It is for Python {python} and no other, on {system} {machine}, with a processor of {baseline} or
newer.
"""


class NoBundle(Exception):
    """Why there is no bundle; ``str()`` is for a person."""


def collect(wheels: Path, llama: Path | None) -> None:
    """Put the wheels of gemma-local, of all that it needs and of pip into a folder.

    ``llama`` is a ready wheel of llama-cpp-python, None: one is built for the baseline. Raises
    NoBundle.
    """
    wheels.mkdir(parents=True, exist_ok=True)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    release = pinned_release(project["dependencies"])
    if release is None:
        raise NoBundle("pyproject.toml pins no release of llama-cpp-python")
    if llama is not None and not re.match(
        rf"{FILE_STEM}-{re.escape(release)}-.*\.whl$", llama.name
    ):
        raise NoBundle(f"{llama.name} is no wheel of llama-cpp-python {release}")
    with tempfile.TemporaryDirectory() as scratch:
        try:
            own = build_wheel(ROOT, Path(scratch), source_epoch(ROOT))
        except BuildFailed as error:
            raise NoBundle(f"gemma-local could not be built:\n{error}") from error
        shutil.copy(own, wheels)
    own = wheels / own.name
    if llama is not None:
        shutil.copy(llama, wheels)
    else:
        arguments = baseline()[1]
        builder = LlamaBuild(Path(sys.executable), release, arguments, os.environ, _say)
        _stop_if(builder.wheel(wheels))
    (built,) = wheels.glob(f"{FILE_STEM}-*.whl")
    # Nothing else is compiled here: it would be made for this machine. The wheel is named, since an
    # index that pip is set up with may have one of the same release for other processors.
    words = ["download", "--only-binary", ":all:", "--find-links", str(wheels)]
    words += ["--dest", str(wheels), str(own), str(built), "pip"]
    _stop_if(run_pip(words, python=Path(sys.executable), environ=os.environ, say=_say))


def baseline() -> tuple[str, str]:
    """The baseline of this machine's architecture. Raises NoBundle."""
    machine = platform.machine().lower()
    found = BASELINES.get(_SAME.get(machine, machine))
    if found is None:
        raise NoBundle(
            f"no baseline is known for {machine}: build llama-cpp-python as you need it, and give "
            "its wheel with --llama"
        )
    return found


def facts_of(wheels: Path, oldest: str) -> dict[str, str]:
    """What a bundle says of itself: what it is, and which systems it is for."""
    (own,) = wheels.glob("gemma_local-*.whl")
    libc, release = platform.libc_ver()
    return {
        "version": own.name.split("-")[1],
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "system": sys.platform,
        "machine": platform.machine().lower(),
        "glibc": release if libc == "glibc" else "",
        "baseline": oldest,
        "flags": FLAGS.get(oldest, ""),
    }


def assemble(wheels: Path, target: Path, oldest: str, models: Sequence[str] = ()) -> Path:
    """Make the folder of a bundle in ``target`` from wheels; returns it. Raises NoBundle."""
    facts = facts_of(wheels, oldest)
    name = "gemma-local-{version}-{system}-{machine}-py{python}".format_map(facts)
    folder = target / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copytree(wheels, folder / "wheels")
    shutil.copy(INSTALLER, folder / "install.py")
    (folder / "bundle.json").write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    python = facts["python"]
    readme = _README.format(**facts, start=f"py -{python}" if WINDOWS else f"python{python}")
    (folder / "README.txt").write_text(readme, encoding="utf-8")
    if models:
        words = ["-m", "gemma_local.app.cli", "models", "export", str(folder / "models"), *models]
        if subprocess.run([sys.executable, *words], check=False).returncode != 0:
            raise NoBundle("the models could not be copied; see above")
    sums = "".join(f"{_sha256(folder / name)}  {name}\n" for name in _names(folder))
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8", newline="\n")
    return folder


def archived(folder: Path, target: Path, *, windows: bool = WINDOWS) -> Path:
    """Pack the folder of a bundle into one file in ``target``, as the system unpacks it without
    further programs; returns it."""
    archive = target / f"{folder.name}{'.zip' if windows else '.tar.gz'}"
    (pack_zip if windows else pack)(folder, archive, source_epoch(ROOT))
    return archive


def _names(folder: Path) -> list[str]:
    return sorted(
        file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()
    )


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _stop_if(failure: str | None) -> None:
    if failure:
        raise NoBundle(failure)


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    """Make a bundle and print its path."""
    parser = argparse.ArgumentParser(description="Makes a bundle that installs without a network.")
    add = parser.add_argument
    add("--out", type=Path, default=ROOT / "dist", help="the folder to put it into")
    add("--llama", type=Path, help="a wheel of llama-cpp-python, in place of building one")
    add("--baseline", help="what that wheel is built for, such as x86-64-v2 (goes with --llama)")
    add("--models", nargs="+", default=[], help="sizes or names of models to put in")
    options = parser.parse_args()
    if (options.llama is None) != (options.baseline is None):
        parser.error("--llama and --baseline go together: nobody can tell what a wheel is for")
    try:
        oldest = options.baseline or baseline()[0]
        options.out.mkdir(parents=True, exist_ok=True)
        # There, not in /tmp, which is often memory: models have gigabytes.
        with tempfile.TemporaryDirectory(dir=options.out) as scratch:
            collect(Path(scratch, "wheels"), options.llama)
            folder = assemble(Path(scratch, "wheels"), Path(scratch), oldest, options.models)
            # Under its name only when it is whole: the disk may be full.
            packed = archived(folder, Path(scratch))
            archive = packed.replace(options.out / packed.name)
    except (NoBundle, OSError) as problem:
        print(f"No bundle: {problem}", file=sys.stderr)
        return 1
    print(archive)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
