"""Installs gemma-local from this folder, without a network: ``python3 install.py``.

It checks every file's checksum, makes a virtual environment and puts links to the command, the man
page and the completions where shells look for them. ``--uninstall`` takes all of that away again.
It needs nothing but Python, and keeps to what any Python 3 can read, so that an old one gets a
sentence and no traceback.
"""

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
WINDOWS_FEATURES = {"ssse3": 36, "sse4_2": 38, "avx": 39, "avx2": 40, "avx512f": 41, "asimddp": 43}
"""Numbers of winnt.h (PF_AVX2_INSTRUCTIONS_AVAILABLE and so on)."""


class Refused(Exception):
    """Why it cannot be installed, and what to do; ``str()`` is for a person."""


def main() -> int:
    """Install, check or uninstall, and return the exit code."""
    options = _options()
    try:
        if options.uninstall:
            uninstall(options.prefix)
            return 0
        if options.check:
            # On any machine: a medium is looked at where it was written, too.
            check_files(HERE)
            print("Every file is as it was when the bundle was made.")
            return 0
        facts = read_facts(HERE)
        check_python(facts)
        check_processor(facts)
        check_files(HERE)
        install(HERE, facts, options.prefix, options.bin, options.share)
    except Refused as problem:
        print(problem, file=sys.stderr)
        return 1
    except OSError as problem:
        print(f"Installing failed: {problem}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nStopped. The same command begins anew.", file=sys.stderr)
        return 130
    return 0


def read_facts(folder: Path) -> "dict[str, str]":
    """What the bundle says of itself. Raises Refused."""
    try:
        facts = json.loads((folder / FACTS).read_text(encoding="utf-8"))
        return {name: str(facts[name]) for name in ("version", "python", "system", "machine")} | {
            name: str(facts.get(name, "")) for name in ("glibc", "baseline", "flags")
        }
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Refused(f"{FACTS} is damaged: copy the bundle again.") from None


def check_python(facts: "dict[str, str]") -> None:
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
    needed, (libc, found) = facts["glibc"], platform.libc_ver()
    if needed and libc != "glibc":
        raise Refused(
            f"This bundle needs glibc {needed} or newer, and this system has another C library: "
            "make one on a system like this one."
        )
    if needed and _numbers(found) < _numbers(needed):
        raise Refused(
            f"This bundle needs glibc {needed} or newer, and this system has {found}: make one on "
            "a system as old as this one."
        )


def check_processor(facts: "dict[str, str]") -> None:
    """Whether the processor has what llama.cpp is built for: else it would die of an illegal
    instruction at the first word. Raises Refused."""
    lacking = lacking_instructions(set(facts["flags"].split()))
    if lacking:
        raise Refused(
            f"This bundle is for processors of {facts['baseline']} or newer, and this one has no "
            f"{', '.join(sorted(lacking))}: make one with a llama-cpp-python that is built for it "
            "(packaging/bundle.py --llama)."
        )


def lacking_instructions(needed: "set[str]") -> "set[str]":
    """Those that the processor surely lacks. Names are of Linux's /proc/cpuinfo."""
    if sys.platform == "win32":
        import ctypes

        has = ctypes.windll.kernel32.IsProcessorFeaturePresent
        return {
            name for name in needed & WINDOWS_FEATURES.keys() if not has(WINDOWS_FEATURES[name])
        }
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        # macOS. Every Mac of the last ten years is of the baseline.
        return set()
    for line in text.splitlines():
        name, _, words = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return needed - set(words.split())
    return set()


def check_files(folder: Path) -> None:
    """Compare every file with its checksum. Raises Refused."""
    listed = set()
    try:
        lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        raise Refused(f"{SUMS} is missing: copy the bundle again, all of it.") from None
    except ValueError:
        raise Refused(f"{SUMS} is damaged: copy the bundle again.") from None
    for line in lines:
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
    folder: Path, facts: "dict[str, str]", prefix: Path, bin_folder: Path, share: Path
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
    (pip,) = (folder / "wheels").glob("pip-*.whl")
    # Python compiles what is used when it is used first; all of it takes longer than the rest.
    words = ["install", "--isolated", "--no-index", "--no-cache-dir", "--no-compile", "--quiet"]
    words += ["--no-input", "--disable-pip-version-check", "--find-links", str(folder / "wheels")]
    # Nothing is there that it could be in conflict with.
    words += ["--no-warn-conflicts"]
    wanted = f"gemma-local=={facts['version']}"
    # Isolated: what PYTHONPATH leads to would count as installed, and be missed later.
    _run("pip could not install it", str(_python(prefix)), "-I", str(pip / "pip"), *words, wanted)
    command = _command(prefix)
    said = _run("the installed program does not start", str(command), "--version", quiet=True)
    if (folder / "models").is_dir():
        print("Taking the models in", flush=True)
        _run(
            "the models were not taken in", str(command), "models", "import", str(folder / "models")
        )
    if not WINDOWS:
        links += _link(command, bin_folder / command.name, prefix)
        for file in sorted((prefix / "share").rglob("*")):
            if file.is_file():
                links += _link(file, share / file.relative_to(prefix / "share"), prefix)
    _remember(prefix, links)
    print(f"{said.strip()} is installed. {_how_to_start(command, bin_folder)}", flush=True)
    check_llama(prefix)


def check_llama(prefix: Path) -> None:
    """Whether llama.cpp, which is not loaded before it is needed, starts on this machine. Raises
    Refused."""
    module = "gemma_local.engine.hardware.devices_process"
    try:
        done = subprocess.run(
            [str(_python(prefix)), "-P", "-m", module],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
        )
        problem = json.loads(done.stdout.splitlines()[-1])["problem"]
    except subprocess.TimeoutExpired:
        # A driver of graphics that hangs; the processor may do all the same.
        return
    except (IndexError, KeyError, TypeError, ValueError):
        problem = f"its process ended with status {done.returncode}"
    if problem:
        raise Refused(
            f"But llama.cpp does not start here: {problem}. A library that it lacks is in the "
            "system's packages (on Debian and Ubuntu libgomp1 and libstdc++6); `gemma-local "
            "doctor` says more."
        )


def uninstall(prefix: Path) -> None:
    """Remove what ``install`` made; what gemma-local wrote itself stays. Raises Refused."""
    if not (prefix / MARKER).is_file():
        raise Refused(f"There is no install of this in {prefix}: name its folder with --prefix.")
    command = _command(prefix)
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


def _python(prefix: Path) -> Path:
    return prefix.joinpath(*(("Scripts", "python.exe") if WINDOWS else ("bin", "python")))


def _command(prefix: Path) -> Path:
    return _python(prefix).with_name("gemma-local.exe" if WINDOWS else "gemma-local")


def _run(failure: str, *command: str, quiet: bool = False) -> str:
    """Run a command; with ``quiet``, what it prints. Raises Refused with what it said."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE if quiet else None,
        stderr=subprocess.PIPE if quiet else None,
        text=True,
        errors="replace",
        check=False,
    )
    if done.returncode != 0:
        said = (done.stderr or "").strip() or f"status {done.returncode}; see above"
        raise Refused(f"Installing failed: {failure} ({said}).")
    return done.stdout or ""


def _path(text: str) -> Path:
    return Path(text).expanduser().absolute()


def _link(target: Path, link: Path, prefix: Path) -> "list[str]":
    """Make a link unless something else has its place; those that were made."""
    # A link may be another installer's (pipx makes such); one that leads nowhere is nobody's.
    is_own = link.is_symlink() and prefix in link.readlink().parents
    if is_own or not link.exists():
        link.parent.mkdir(parents=True, exist_ok=True)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        return [str(link)]
    print(f"{link} is there already and stays as it is.")
    return []


def _links_of(prefix: Path) -> "list[str]":
    try:
        return list(json.loads((prefix / MARKER).read_text(encoding="utf-8"))["links"])
    except (OSError, ValueError, KeyError):
        return []


def _remember(prefix: Path, links: "list[str]") -> None:
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
        for chunk in iter(lambda: content.read(1 << 20), b""):
            digest.update(chunk)
    return digest.hexdigest()


def _numbers(version: str) -> "list[int]":
    return [int(part) for part in version.split(".") if part.isdigit()]


if __name__ == "__main__":
    if sys.version_info < (3, 11):  # noqa: UP036 - whoever starts it may have an old one
        sys.exit(f"gemma-local needs Python 3.11 or newer, and this is {sys.version.split()[0]}.")
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        sys.exit("This is a Python without the global lock: use the ordinary one.")
    sys.exit(main())
