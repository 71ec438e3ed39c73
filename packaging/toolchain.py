"""What building llama.cpp from source takes. CMake and Ninja come by pip, compilers don't."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

# In the order in which CMake looks for them.
C_COMPILERS = ("cc", "gcc", "clang")
CXX_COMPILERS = ("c++", "g++", "clang++")

# The program that tells a package manager, and what to type there. The rare ones first: a
# distribution may offer another's package manager, and then it's apt or dnf.
INSTALL_COMMANDS = (
    ("apk", "sudo apk add build-base linux-headers"),
    ("pacman", "sudo pacman -S --needed base-devel"),
    ("zypper", "sudo zypper install gcc gcc-c++"),
    ("dnf", "sudo dnf install gcc gcc-c++"),
    ("apt-get", "sudo apt install build-essential"),
)


def missing_compiler(environ: Mapping[str, str], platform: str = sys.platform) -> str | None:
    """One sentence on what to install before llama.cpp can be built, or None if all is there."""
    if platform == "win32":
        return None if _has_msvc(environ) else _WINDOWS
    if platform == "darwin" and not _has_xcode_tools(environ):
        return _MACOS
    missing = []
    for language, variable, names in (
        ("C", "CC", C_COMPILERS),
        ("C++", "CXX", CXX_COMPILERS),
    ):
        chosen = shlex.split(environ.get(variable, ""))
        if chosen and not _which(chosen[0], environ):
            return (
                f"{variable} names the {language} compiler {chosen[0]!r}, which is not there: "
                f"install it or unset {variable}, then run the same command again."
            )
        if not chosen and not any(_which(name, environ) for name in names):
            missing.append(language)
    if not missing:
        return None
    languages = " and no ".join(missing)
    return (
        f"llama-cpp-python is built from source, and this machine has no {languages} "
        f"compiler: {_how_to_install(environ, platform)}, then the same command again."
    )


def usable_cpus(cgroup: Path = Path("/sys/fs/cgroup")) -> int:
    """How many processors this process may use: affinity and a container's quota count."""
    if hasattr(os, "sched_getaffinity"):
        cpus = len(os.sched_getaffinity(0))
    else:
        cpus = os.cpu_count() or 1
    quota = _cgroup_cpus(cgroup)
    return max(1, cpus if quota is None else min(cpus, round(quota)))


_MACOS = (
    "llama-cpp-python is built from source, and Apple's command line tools are not installed: "
    "run `xcode-select --install`, then the same command again."
)
_WINDOWS = (
    "llama-cpp-python is built from source, and no Visual C++ compiler was found: run `winget "
    "install Microsoft.VisualStudio.2022.BuildTools`, choose 'Desktop development with C++' in "
    "its installer, then run the same command again."
)


def _which(name: str, environ: Mapping[str, str]) -> str | None:
    return shutil.which(name, path=environ.get("PATH", ""))


def _how_to_install(environ: Mapping[str, str], platform: str) -> str:
    if platform == "darwin":
        return "run `xcode-select --install`"
    for program, command in INSTALL_COMMANDS:
        if _which(program, environ):
            return f"run `{command}`"
    return "install GCC or Clang, with C++, from your system's packages"


def _has_xcode_tools(environ: Mapping[str, str]) -> bool:
    """macOS has a `cc` in any case, but without the tools it only opens a dialogue."""
    xcode_select = _which("xcode-select", environ) or "/usr/bin/xcode-select"
    try:
        done = subprocess.run([xcode_select, "-p"], capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def _has_msvc(environ: Mapping[str, str]) -> bool:
    """Visual C++ on PATH, or where its installer says: CMake finds it there by itself."""
    if _which("cl", environ):
        return True
    programs = environ.get("ProgramFiles(x86)", r"C:\Program Files (x86)")
    vswhere = Path(programs) / "Microsoft Visual Studio" / "Installer" / "vswhere.exe"
    component = "Microsoft.VisualStudio.Component.VC.Tools.*"
    try:
        done = subprocess.run(
            [vswhere, "-products", "*", "-requires", component, "-property", "installationPath"],
            capture_output=True,
            check=False,
        )
    except OSError:
        return False
    return done.returncode == 0 and bool(done.stdout.strip())


def _cgroup_cpus(cgroup: Path) -> float | None:
    """The processors' worth of time that a container is granted, None without a limit."""
    try:
        quota, period = (cgroup / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            quota = (cgroup / "cpu" / "cpu.cfs_quota_us").read_text()
            period = (cgroup / "cpu" / "cpu.cfs_period_us").read_text()
        except OSError:
            return None
    try:
        granted = int(quota) / int(period)
    except (ValueError, ZeroDivisionError):  # "max" is no limit
        return None
    return granted if granted > 0 else None
