"""Bubblewrap: a program with its own namespaces, also where others may not make any."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from gemma_local.app.agent.run.confinement import Confinement


def program() -> str:
    """Where it is, "" if it is not installed."""
    return shutil.which("bwrap") or ""


def wrapped(program: str, confinement: Confinement, command: Sequence[str]) -> list[str]:
    """The command that runs ``command`` confined."""
    words = [program, "--die-with-parent", "--unshare-pid", "--unshare-ipc"]
    if not confinement.has_network:
        words.append("--unshare-net")
    words += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]
    # Later ones lie over earlier ones.
    for path in confinement.hidden:
        if Path(path).is_dir():
            words += ["--tmpfs", path]
        else:
            words += ["--ro-bind", "/dev/null", path]
    for path in confinement.shown:
        words += ["--ro-bind", path, path]
    for path in confinement.writable:
        words += ["--bind", path, path]
    for path in confinement.pinned:
        # What something is mounted on can be neither renamed nor removed.
        words += ["--bind", path, path]
    for path in confinement.guarded:
        words += ["--ro-bind", path, path]
    return [*words, "--chdir", confinement.folder, "--", *command]
