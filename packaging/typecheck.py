"""Runs mypy on all that is typed here: ``python packaging/typecheck.py [MYPY-ARGUMENT...]``.

mypy finds modules by their folders, and no folder is called gemma_local. So this lays links out in
the shape of the installed package, lets mypy look there and puts the real paths into its messages.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOMS = ("app", "engine", "models")


def lay_out(root: Path, tree: Path) -> None:
    """Make ``tree/gemma_local/ROOM`` and ``tree/tests`` links to the folders under ``root``."""
    places = {tree / "gemma_local" / room: root / room for room in ROOMS}
    places[tree / "tests"] = root / "tests"
    for link, folder in places.items():
        link.parent.mkdir(parents=True, exist_ok=True)
        target = os.path.relpath(folder, link.parent)
        if not link.is_symlink() or str(link.readlink()) != target:
            link.unlink(missing_ok=True)
            link.symlink_to(target, target_is_directory=True)


def check(root: Path, tree: Path, arguments: list[str]) -> int:
    """Run mypy on the packages and tests, then on the scripts, and return the worse exit code."""
    # The scripts are a run of their own: they are no package, and their folder's name is that of a
    # well-known one.
    runs: tuple[tuple[list[str], dict[str, str]], ...] = (
        (["-p", "gemma_local", "-p", "tests"], {"MYPYPATH": str(tree)}),
        (
            ["--follow-imports=silent", str(root / "packaging"), str(root / "setup.py")],
            {"MYPYPATH": str(tree)},
        ),
    )
    worst = 0
    for what, environ in runs:
        done = subprocess.run(
            [sys.executable, "-m", "mypy", *arguments, *what],
            cwd=root,
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
        sys.stdout.write(real_paths(done.stdout, root, tree))
        sys.stdout.flush()
        worst = max(worst, done.returncode)
    return worst


def real_paths(text: str, root: Path, tree: Path) -> str:
    """``text`` with paths through the links replaced by those of the files themselves."""
    shown = re.escape(os.path.relpath(tree, root) + os.sep)
    absolute = re.escape(str(tree) + os.sep)
    return re.sub(rf"^(?:{shown}|{absolute})(?:gemma_local[/\\])?", "", text, flags=re.MULTILINE)


def main() -> int:
    """Lay the links out under ``.venv/typing`` and check."""
    root = Path(__file__).resolve().parent.parent
    tree = root / ".venv" / "typing"
    lay_out(root, tree)
    if sys.argv[1:] == ["--links-only"]:
        return 0
    return check(root, tree, sys.argv[1:])


if __name__ == "__main__":
    raise SystemExit(main())
