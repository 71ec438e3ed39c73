"""Tries the ways to install gemma-local, each from nothing: ``python packaging/installations.py``.

Every way has a home of its own with nothing in it, a PATH with the system's programs alone and no
variables of the person who starts this. Each then says its version, looks at the machine, starts on
a terminal and answers with the model that comes along; and goes again, after which nothing may be
left but in the folders that ``gemma-local paths`` names. The log says what was done and how long it
took; the exit code is 1 if anything was not as it should be.

llama.cpp is compiled once, before, for all of them. pipx and uv come from the package index.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pexpect
from distributions import ROOT, build, source_epoch
from llama_build import FILE_STEM, pinned_release

QUESTION: Final = "How do I quit?"
_OUTSIDE: Final = ("PIP_", "UV_", "SSL_", "REQUESTS_", "http_proxy", "https_proxy", "no_proxy")
"""Beginnings of variables by which this machine reaches its package index."""
_TAIL: Final = 15
_SEQUENCES: Final = re.compile(r"\x1b[^a-zA-Z]*[a-zA-Z]")


class Failed(Exception):
    """A step was not as it should be; ``str()`` is what it said."""


class Home:
    """A person who has nothing yet: their folder, what they type, and the log of it."""

    def __init__(self, folder: Path, say: Callable[[str], None], **variables: str) -> None:
        """``variables`` are set besides HOME and PATH."""
        folder.mkdir(parents=True)
        self.folder = folder
        self._say = say
        outside = {k: v for k, v in os.environ.items() if k.startswith(_OUTSIDE)}
        self.environ = {
            **outside,
            "HOME": str(folder),
            "PATH": f"{folder}/.local/bin:{Path(sys.executable).resolve().parent}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "xterm-256color",
            **variables,
        }

    def run(
        self, what: str, *words: str | Path, where: Path | None = None, quiet: bool = False
    ) -> str:
        """Run a command and log how long it took; returns its standard output. Raises Failed."""
        began = time.monotonic()
        done = subprocess.run(
            [*map(str, words)],
            env=self.environ,
            cwd=where or self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            said = f"{done.stdout}{done.stderr}".rstrip().splitlines()[-_TAIL:]
            raise Failed("\n".join([f"{what}: exit code {done.returncode}", *said]))
        said = done.stdout.strip().splitlines()
        seconds = time.monotonic() - began
        self._say(f"   {what:<28} {seconds:6.1f} s   {'' if quiet or not said else said[-1]}")
        return done.stdout

    def on_a_terminal(self, *words: str | Path) -> None:
        """Start it as a person does, wait until it can be typed to, and leave. Raises Failed."""
        began = time.monotonic()
        first, *rest = map(str, words)
        child = pexpect.spawn(
            *(first, rest),
            env=self.environ,
            cwd=str(self.folder),
            dimensions=(24, 80),
            encoding="utf-8",
            timeout=60,
        )
        try:
            # The cursor may stand on its first letter.
            child.expect("rite a message")
            child.sendcontrol("d")
            child.expect(pexpect.EOF)
        except pexpect.ExceptionPexpect as problem:
            said = _SEQUENCES.sub(" ", child.before if isinstance(child.before, str) else "")
            raise Failed(f"on a terminal: {' '.join(said.split())[-400:]}") from problem
        finally:
            child.close(force=True)
        if child.exitstatus != 0:
            raise Failed(
                f"on a terminal: exit code {child.exitstatus}, signal {child.signalstatus}"
            )
        self._say(f"   {'starts on a terminal, ends':<28} {time.monotonic() - began:6.1f} s")


def use(home: Home, *command: str | Path) -> list[Path]:
    """What everybody does with it who has just installed it, offline.

    Returns the folders that it says it keeps things in. Raises Failed.
    """
    home.run("--version", *command, "--version")
    home.run("doctor", *command, "doctor", quiet=True)
    kept = json.loads(home.run("paths", *command, "paths", "--json", quiet=True))
    home.environ["HF_HUB_OFFLINE"] = "1"
    ask = ("--model", "pocket", "--temperature", "0", "-p", QUESTION)
    home.run(f'-p "{QUESTION}"', *command, *ask)
    home.on_a_terminal(*command, "--model", "pocket")
    return [Path(folder["path"]) for folder in kept.values()]


def left_behind(home: Path, kept: Sequence[Path]) -> list[Path]:
    """Files and links of a home that lie in none of the folders that are kept."""
    files = [path for path in home.rglob("*") if path.is_symlink() or not path.is_dir()]
    return sorted(path for path in files if not any(path.is_relative_to(folder) for folder in kept))


class Ways:
    """The ways, each a method that is given a home. They raise Failed, OSError."""

    def __init__(self, scratch: Path, say: Callable[[str], None], llama: Path | None) -> None:
        self._scratch = scratch
        self._say = say
        self._wheels = scratch / "wheels"
        self._wheels.mkdir()
        self._maker = Home(scratch / "maker", say, PIP_CACHE_DIR=str(_pip_cache()))
        self._llama = self._compiled(llama)
        self._wheel, self._sdist = build(ROOT, scratch, source_epoch(ROOT))
        self._found: dict[str, str] = {
            "PIP_FIND_LINKS": str(self._wheels),
            "UV_FIND_LINKS": str(self._wheels),
            "PIP_CACHE_DIR": str(_pip_cache()),
            "UV_CACHE_DIR": str(scratch / "uv-cache"),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    def _compiled(self, given: Path | None) -> Path:
        """The wheel of llama-cpp-python that all ways install."""
        if given is not None:
            return Path(shutil.copy(given, self._wheels))
        project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
        release = pinned_release(project["dependencies"])
        words = ("wheel", "--no-deps", "--wheel-dir", self._wheels, f"llama-cpp-python=={release}")
        self._maker.run("llama.cpp, once for all", sys.executable, "-m", "pip", *words, quiet=True)
        (wheel,) = self._wheels.glob(f"{FILE_STEM}-*.whl")
        return wheel

    def _tool(self, name: str) -> Path:
        """A program of the package index."""
        folder = self._scratch / "tools"
        if not folder.exists():
            self._maker.run("pipx and uv", sys.executable, "-m", "venv", folder)
            self._maker.run(
                "  from the index", folder / "bin" / "pip", "install", "pipx", "uv", quiet=True
            )
        return folder / "bin" / name

    @contextmanager
    def _home(self, name: str, **variables: str) -> Iterator[Home]:
        yield Home(self._scratch / name / "home", self._say, **{**self._found, **variables})

    def _goes(self, home: Home, kept: Sequence[Path], *words: str | Path) -> None:
        """Uninstall it. What the tools keep for themselves does not lie in this home."""
        home.run("uninstalls", *words, quiet=True)
        if left := left_behind(home.folder, kept):
            raise Failed("left behind:\n" + "\n".join(map(str, left)))
        used = [str(folder.relative_to(home.folder)) for folder in kept if folder.exists()]
        self._say(f"   {'left, as `paths` says':<28}            {', '.join(sorted(used))}")

    def pipx(self) -> None:
        """pipx, from the wheel."""
        pipx = self._tool("pipx")
        with self._home("pipx", PIPX_HOME=str(self._scratch / "pipx" / "own")) as home:
            home.run("installs", pipx, "install", "--python", sys.executable, self._wheel)
            kept = use(home, "gemma-local")
            self._goes(home, kept, pipx, "uninstall", "gemma-local")

    def uv(self) -> None:
        """uv, from the wheel."""
        uv = self._tool("uv")
        with self._home("uv", UV_TOOL_DIR=str(self._scratch / "uv" / "own")) as home:
            home.run("installs", uv, "tool", "install", "--python", sys.executable, self._wheel)
            kept = use(home, "gemma-local")
            self._goes(home, kept, uv, "tool", "uninstall", "gemma-local")

    def sdist(self) -> None:
        """pip, from the source distribution, into a virtual environment."""
        self._by_pip("sdist", self._sdist)

    def editable(self) -> None:
        """pip, editable, from a fresh clone."""
        self._by_pip("editable", "--editable", self._clone("editable"))

    def _by_pip(self, name: str, *what: str | Path) -> None:
        with self._home(name) as home:
            folder = self._scratch / name / "venv"
            home.run("makes a venv", sys.executable, "-m", "venv", folder)
            home.run("installs", folder / "bin" / "pip", "install", *what, quiet=True)
            kept = use(home, folder / "bin" / "gemma-local")
            self._goes(home, kept, folder / "bin" / "pip", "uninstall", "--yes", "gemma-local")

    def bundle(self) -> None:
        """The bundle, with the network cut where this machine can cut it."""
        place = self._scratch / "bundle"
        script = Path(__file__).with_name("bundle.py")
        words = ("--llama", self._llama, "--baseline", "this machine", "--out", place)
        self._maker.run("is made", sys.executable, script, *words, quiet=True)
        (archive,) = place.glob("*.tar.gz")
        cut = ["unshare", "--map-root-user", "--net"]
        if subprocess.run([*cut, "true"], capture_output=True, check=False).returncode != 0:
            self._say("   (the network cannot be cut here)")
            cut = []
        with self._home("bundled") as home:
            home.environ = {k: v for k, v in home.environ.items() if not k.startswith(_OUTSIDE)}
            home.run("unpacks", "tar", "-xzf", archive, where=place)
            folder = place / archive.name.removesuffix(".tar.gz")
            python = Path(sys.executable).resolve()
            home.run("installs, network cut", *cut, python, folder / "install.py")
            kept = use(home, *cut, "gemma-local")
            self._goes(home, kept, python, folder / "install.py", "--uninstall")

    def make_run(self) -> None:
        """``make run`` in a fresh clone."""
        tree = self._clone("make-run")
        with self._home("make_run") as home:
            make = ("make", "-s", f"PYTHON={Path(sys.executable).resolve()}")
            home.run("make run", *make, "run", "ARGS=--version", where=tree)
            home.environ["HF_HUB_OFFLINE"] = "1"
            arguments = f'ARGS=--model pocket --temperature 0 -p "{QUESTION}"'
            home.run(f'make run, -p "{QUESTION}"', *make, "run", arguments, where=tree)
            home.on_a_terminal("make", *make[1:], "-C", tree, "run", "ARGS=--model pocket")

    def make_test(self) -> None:
        """``make test`` in a fresh clone."""
        tree = self._clone("make-test")
        with self._home("make_test") as home:
            python = f"PYTHON={Path(sys.executable).resolve()}"
            home.run("make test", "make", "-s", python, "test", where=tree)

    def _clone(self, name: str) -> Path:
        tree = self._scratch / name / "tree"
        tree.parent.mkdir()
        self._maker.run("clones", "git", "clone", "--quiet", ROOT, tree)
        return tree


NAMES: Final = ("pipx", "uv", "sdist", "editable", "bundle", "make_run", "make_test")


def _pip_cache() -> Path:
    words = [sys.executable, "-m", "pip", "cache", "dir"]
    return Path(subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip())


def tried(ways: Ways, names: Sequence[str], say: Callable[[str], None]) -> Mapping[str, bool]:
    """Go the ways with these names; says which are as they should be."""
    good: dict[str, bool] = {}
    for name in names:
        way: Callable[[], None] = getattr(ways, name)
        say(f"-- {(way.__doc__ or name).strip().rstrip('.')}")
        try:
            way()
            good[name] = True
        except (Failed, OSError) as problem:
            say(f"   NOT AS IT SHOULD BE: {problem}")
            good[name] = False
    return good


def main() -> int:
    """Try the ways that are named, all of them if none is."""
    parser = argparse.ArgumentParser(description="Tries the ways to install it, from nothing.")
    parser.add_argument("ways", nargs="*", metavar="WAY", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--llama", type=Path, help="a wheel of llama-cpp-python to install")
    options = parser.parse_args()
    if unknown := [name for name in options.ways if name not in NAMES]:
        parser.error(f"there is no way {unknown[0]}: choose of {', '.join(NAMES)}")

    def say(line: str) -> None:
        print(line.rstrip(), flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        good = tried(Ways(Path(scratch), say, options.llama), options.ways or NAMES, say)
    failed = [name for name, is_good in good.items() if not is_good]
    say(f"-- {len(good) - len(failed)} of {len(good)} ways are as they should be")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
