"""The wheel and the source distribution, the same bytes whoever builds them, and whenever.

``python packaging/distributions.py [FOLDER]`` builds them into ``dist``. What they are built from
is copied first, with modes and times that do not depend on who checked it out; the times are that
of the last commit, or SOURCE_DATE_EPOCH (https://reproducible-builds.org/specs/source-date-epoch/).
The same bytes need the same setuptools, too, whose version stands in the wheel, the same zlib, and
a file system that has modes, which Windows' have not.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent

LEFT_OUT = (".git", ".venv", "__pycache__", "build", "dist", ".hypothesis", ".pocket")
"""What builds and checks leave behind, for a tree that git does not know."""
EARLIEST = 315532800
"""1980-01-01: ZIP files know no earlier time."""

_BACKEND = """
import sys
from setuptools import build_meta
# Before setuptools puts its own words there.
folder, *kinds = sys.argv[1:]
for kind in kinds:
    getattr(build_meta, f"build_{kind}")(folder)
"""


class BuildFailed(Exception):
    """setuptools could not build; ``str()`` is what it said, and what helps."""


def build(root: Path, target: Path, epoch: int) -> tuple[Path, Path]:
    """Build wheel and sdist of ``root`` into ``target``, with times of ``epoch`` (Unix seconds).

    Raises BuildFailed.
    """
    with _built(root, epoch, "wheel", "sdist") as out:
        (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
        _normalise(sdist, epoch)
        return _moved(wheel, target), _moved(sdist, target)


def build_wheel(root: Path, target: Path, epoch: int) -> Path:
    """Build the wheel alone, the same as ``build`` does in a third of the time. Raises
    BuildFailed."""
    with _built(root, epoch, "wheel") as out:
        (wheel,) = out.glob("*.whl")
        return _moved(wheel, target)


def source_epoch(root: Path, environ: Mapping[str, str] = os.environ) -> int:
    """The time to build with: SOURCE_DATE_EPOCH, else that of the last commit."""
    if chosen := environ.get("SOURCE_DATE_EPOCH"):
        return max(EARLIEST, int(chosen))
    told = _git(root, "log", "-1", "--format=%ct")
    return max(EARLIEST, int(told)) if told else EARLIEST


def pack(folder: Path, archive: Path, epoch: int) -> None:
    """``folder`` as a ``.tar.gz`` that begins with its name, the same bytes each time."""
    with _packed(archive, epoch) as tar:
        for file in sorted(folder.rglob("*"), key=lambda file: file.as_posix()):
            info = tar.gettarinfo(str(file), file.relative_to(folder.parent).as_posix())
            if file.is_file():
                with file.open("rb") as content:
                    _add(tar, info, content, epoch)
            else:
                _add(tar, info, None, epoch)


def pack_zip(folder: Path, archive: Path, epoch: int) -> None:
    """``folder`` as a ``.zip`` that begins with its name, the same bytes each time."""
    date = datetime.fromtimestamp(max(EARLIEST, epoch), UTC).timetuple()[:6]
    with zipfile.ZipFile(archive, "w") as packed:
        for file in sorted(folder.rglob("*"), key=lambda file: file.as_posix()):
            if not file.is_file():
                continue
            info = zipfile.ZipInfo(file.relative_to(folder.parent).as_posix(), date)
            info.create_system = 3  # Unix, wherever it is packed
            info.external_attr = 0o644 << 16
            info.file_size = file.stat().st_size
            is_packed = file.suffix in (".whl", ".gguf")
            info.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
            with file.open("rb") as content, packed.open(info, "w") as copy:
                shutil.copyfileobj(content, copy, 1 << 20)


@contextmanager
def _built(root: Path, epoch: int, *kinds: str) -> Iterator[Path]:
    """A folder with what setuptools builds of ``root``, as long as it is needed."""
    with tempfile.TemporaryDirectory() as scratch:
        tree, out = Path(scratch, "tree"), Path(scratch, "out")
        _copy(root, tree, epoch)
        out.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", _BACKEND, str(out), *kinds],
            cwd=tree,
            env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "TZ": "UTC", "LC_ALL": "C"},
            capture_output=True,
            text=True,
            check=False,
            # setuptools gives copies the modes that the umask leaves.
            umask=0o022 if os.name == "posix" else -1,
        )
        if done.returncode != 0:
            raise BuildFailed(_explained(f"{done.stdout}\n{done.stderr}".strip()))
        yield out


@contextmanager
def _packed(archive: Path, epoch: int) -> Iterator[tarfile.TarFile]:
    with (
        archive.open("wb") as raw,
        # By itself it would write the file's name and the time into its header. Level 9 takes half
        # as long again, for a thousandth.
        gzip.GzipFile("", "wb", compresslevel=6, mtime=epoch, fileobj=raw) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        yield tar


def _add(tar: tarfile.TarFile, info: tarfile.TarInfo, file: IO[bytes] | None, epoch: int) -> None:
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    info.mtime = epoch
    info.mode = 0o755 if info.isdir() or info.mode & 0o100 else 0o644
    tar.addfile(info, file)


def _explained(said: str) -> str:
    """What setuptools said; first what to do where it is not there or too old."""
    if "No module named 'setuptools'" in said or "`project.license`" in said:
        return (
            "There is no setuptools here that knows this pyproject.toml: run `python3 "
            f"packaging/make_venv.py release`, and this with the Python of .venv.\n{said}"
        )
    return said


def _normalise(sdist: Path, epoch: int) -> None:
    """Pack a source distribution anew, without what depends on time and place."""
    # In memory: it is read in another order than it was written in.
    unpacked = io.BytesIO(gzip.decompress(sdist.read_bytes()))
    with tarfile.open(fileobj=unpacked) as tar, _packed(sdist, epoch) as anew:
        for member in sorted(tar, key=lambda member: member.name):
            if "/" in member.name:
                info = tarfile.TarInfo(member.name)
                info.type, info.size, info.mode = member.type, member.size, member.mode
                _add(anew, info, tar.extractfile(member), epoch)


def _copy(root: Path, tree: Path, epoch: int) -> None:
    for file in _sources(root):
        copy = tree / file
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(root / file, copy)
        copy.chmod(0o755 if (root / file).stat().st_mode & 0o100 else 0o644)
        os.utime(copy, (epoch, epoch))


def _sources(root: Path) -> Iterator[Path]:
    """The files that belong to the project, relative to ``root``."""
    if (root / ".git").exists():
        listed = _git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        names = (Path(name) for name in listed.split("\0") if name)
        yield from (name for name in names if (root / name).is_file())
        return
    for file in root.rglob("*"):
        parts = file.relative_to(root).parts
        is_left = any(part in LEFT_OUT or part.endswith((".egg-info", "_cache")) for part in parts)
        if file.is_file() and not is_left:
            yield file.relative_to(root)


def _git(root: Path, *words: str) -> str:
    """What git prints; "" where there is no git, or no repository."""
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *words], capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def _moved(file: Path, folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(file, folder / file.name))


def main() -> int:
    """Build into a folder and print the paths."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, nargs="?", default=ROOT / "dist")
    try:
        for file in build(ROOT, parser.parse_args().folder, source_epoch(ROOT)):
            print(file)
    except BuildFailed as error:
        print(f"The build failed.\n{error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
