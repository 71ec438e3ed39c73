"""Installs gemma-local from this folder, without a network: ``python3 install.py``.

It checks every file's checksum, makes a virtual environment and puts links to the command, the man
page and the completions where shells look for them. ``--uninstall`` takes all of that away again.
It needs nothing but Python.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
SUMS = "SHA256SUMS"
FACTS = "bundle.json"
MARKER = "gemma-local-bundle.json"
WINDOWS = os.name == "nt"


class Refused(Exception):
    """Why it cannot be installed, and what to do; ``str()`` is for a person."""


def main() -> int:
    """Install, check or uninstall, and return the exit code."""
    options = _options()
    try:
        if options.uninstall:
            uninstall(options.prefix)
            return 0
        facts = json.loads((HERE / FACTS).read_text(encoding="utf-8"))
        check_python(facts)
        check_files(HERE)
        if options.check:
            print("Every file is as it was when the bundle was made.")
            return 0
        install(HERE, facts, options.prefix, options.bin, options.share)
    except Refused as problem:
        print(problem, file=sys.stderr)
        return 1
    except (OSError, subprocess.CalledProcessError) as problem:
        print(f"Installing failed: {problem}.", file=sys.stderr)
        return 1
    return 0


def check_python(facts: dict[str, str]) -> None:
    """Whether the wheels are for this Python on this system. Raises Refused."""
    have = {
        "python": f"{sys.version_info[0]}.{sys.version_info[1]}",
        "system": sys.platform,
        "machine": platform.machine().lower(),
    }
    for name, value in have.items():
        if value != facts[name]:
            raise Refused(
                f"This bundle is for Python {facts['python']} on {facts['system']} "
                f"{facts['machine']}, and this is Python {have['python']} on {have['system']} "
                f"{have['machine']}: start install.py with that Python, or get the other bundle."
            )
    needed, found = facts.get("glibc", ""), platform.libc_ver()[1]
    if needed and found and _numbers(found) < _numbers(needed):
        raise Refused(
            f"This bundle needs glibc {needed} or newer, and this system has {found}: make one on "
            "a system as old as this one."
        )


def check_files(folder: Path) -> None:
    """Compare every file with its checksum. Raises Refused."""
    listed = set()
    for line in (folder / SUMS).read_text(encoding="utf-8").splitlines():
        expected, _, name = line.partition("  ")
        listed.add(name)
        if not (folder / name).is_file():
            raise Refused(f"{name} is missing: copy the bundle again, all of it.")
        if _sha256(folder / name) != expected:
            raise Refused(f"{name} is damaged: copy the bundle again.")
    for wheel in (folder / "wheels").iterdir():
        if f"wheels/{wheel.name}" not in listed:
            raise Refused(f"wheels/{wheel.name} does not belong to the bundle: remove it.")


def install(
    folder: Path, facts: dict[str, str], prefix: Path, bin_folder: Path, share: Path
) -> None:
    """Make the virtual environment and the links. Raises Refused."""
    if prefix.exists() and any(prefix.iterdir()) and not (prefix / MARKER).is_file():
        raise Refused(f"{prefix} is there and no install of this: name another --prefix.")
    links = _links_of(prefix)
    shutil.rmtree(prefix, ignore_errors=True)
    print(f"Making {prefix}", flush=True)
    # Without pip, which some systems have no copy of; the bundle brings its own.
    venv.EnvBuilder(symlinks=not WINDOWS).create(prefix)
    # First, so that an install that breaks off can be repeated and undone.
    _remember(prefix, links)
    python = prefix.joinpath(*(("Scripts", "python.exe") if WINDOWS else ("bin", "python")))
    (pip,) = (folder / "wheels").glob("pip-*.whl")
    # Python compiles what is used when it is used first; all of it takes longer than the rest.
    words = ["install", "--isolated", "--no-index", "--no-cache-dir", "--no-compile", "--quiet"]
    words += ["--no-input", "--disable-pip-version-check", "--find-links", str(folder / "wheels")]
    subprocess.run(
        [str(python), str(pip / "pip"), *words, f"gemma-local=={facts['version']}"], check=True
    )
    command = python.with_name("gemma-local.exe" if WINDOWS else "gemma-local")
    said = subprocess.run([str(command), "--version"], check=True, capture_output=True, text=True)
    if (folder / "models").is_dir():
        print("Taking the models in", flush=True)
        subprocess.run([str(command), "models", "import", str(folder / "models")], check=True)
    if not WINDOWS:
        links += _link(command, bin_folder / command.name)
        for file in sorted((prefix / "share").rglob("*")):
            if file.is_file():
                links += _link(file, share / file.relative_to(prefix / "share"))
    _remember(prefix, links)
    print(f"{said.stdout.strip()} is installed. {_how_to_start(command, bin_folder)}")


def uninstall(prefix: Path) -> None:
    """Remove what ``install`` made; what gemma-local wrote itself stays. Raises Refused."""
    if not (prefix / MARKER).is_file():
        raise Refused(f"There is no install of this in {prefix}: name its folder with --prefix.")
    command = prefix / "bin" / "gemma-local"
    if command.exists():
        print(
            "These folders stay, with what you said, set and downloaded; delete them if you like:"
        )
        sys.stdout.flush()
        subprocess.run([str(command), "paths"], check=False)
    for link in _links_of(prefix):
        path = Path(link)
        # It may be another's by now.
        if path.is_symlink() and prefix in path.readlink().parents:
            path.unlink()
    shutil.rmtree(prefix)
    print(f"{prefix} is removed.")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Installs gemma-local from this folder.")
    home = Path.home()
    add = parser.add_argument
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    own = home / ".local" / "lib" / "gemma-local"
    if WINDOWS:
        own = Path(os.environ.get("LOCALAPPDATA") or home) / "Programs" / "gemma-local"
    add("--prefix", type=_path, default=own, help=f"the virtual environment (default: {own})")
    add(
        "--bin",
        type=_path,
        default=home / ".local" / "bin",
        help="where the command is linked from (default: %(default)s)",
    )
    add(
        "--share",
        type=_path,
        default=data,
        help="where man page and completions are linked from (default: %(default)s)",
    )
    add("--check", action="store_true", help="only compare the files with their checksums")
    add("--uninstall", action="store_true", help="remove what was installed")
    return parser.parse_args()


def _path(text: str) -> Path:
    return Path(text).expanduser().absolute()


def _link(target: Path, link: Path) -> list[str]:
    """Make a link unless something else has its place; those that were made."""
    if link.is_symlink() or not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        return [str(link)]
    print(f"{link} is there already and stays as it is.")
    return []


def _links_of(prefix: Path) -> list[str]:
    try:
        return list(json.loads((prefix / MARKER).read_text(encoding="utf-8"))["links"])
    except (OSError, ValueError, KeyError):
        return []


def _remember(prefix: Path, links: list[str]) -> None:
    text = json.dumps({"links": sorted(set(links))}, indent=2)
    (prefix / MARKER).write_text(text + "\n", encoding="utf-8")


def _how_to_start(command: Path, bin_folder: Path) -> str:
    if WINDOWS:
        return f"Start it as {command}, or put {command.parent} on PATH."
    if str(bin_folder) in os.environ.get("PATH", "").split(os.pathsep):
        return "Start it with `gemma-local`."
    return f"Put {bin_folder} on PATH, then start it with `gemma-local`."


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdigit()]


if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever starts it may have an old one
        sys.exit(f"gemma-local needs Python 3.11 or newer, and this is {sys.version.split()[0]}.")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        sys.exit("This is a Python without the global lock: use the ordinary one.")
    sys.exit(main())
