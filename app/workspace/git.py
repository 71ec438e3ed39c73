"""The program's own questions to git: how each of them is asked.

A repository's settings may be hostile, and name programs that git runs by the way: a file-system
monitor, hooks, a pager, an editor, what fetches and what signs. Whoever calls git here takes its
words and its environment from this file, so that no call can forget one of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from gemma_local.app.workspace.programs import installed

_OVERRULED: Final = {
    # What is said on the command line goes before all settings that a repository has.
    "core.fsmonitor": "false",
    "core.hooksPath": os.devnull,
    "core.attributesFile": os.devnull,
    "core.pager": "cat",
    "core.editor": "true",
    "core.askPass": "true",
    "core.sshCommand": "false",
    "core.gitProxy": "",
    "core.alternateRefsCommand": "true",
    "credential.helper": "",
    "diff.external": "",
    "gpg.program": "false",
    "protocol.allow": "never",
    # A folder of the project may be a repository by itself, without a .git: its settings would
    # come with the files. Git before 2.38 does not know this, and does without.
    "safe.bareRepository": "explicit",
    # Other repositories, with settings of their own.
    "submodule.recurse": "false",
    # Nothing in the background.
    "gc.auto": "0",
    "maintenance.auto": "false",
    "worktree.useRelativePaths": "false",
}


def git_command(words: Iterable[str], *, but_not_in: Iterable[Path]) -> list[str] | None:
    """The command that asks git, to be run with ``environment_of_git``; None without a git.

    No git that lies in one of the folders ``but_not_in`` is taken.
    """
    program = installed("git", but_not_in=but_not_in)
    if program is None:
        return None
    settings = [part for name, value in _OVERRULED.items() for part in ("-c", f"{name}={value}")]
    return [program, "--no-pager", *settings, *words]


def environment_of_git() -> dict[str, str]:
    """For a git that is asked about a repository whose own settings may be hostile.

    What is missing there is not fetched: from where, and by which program, they would say.
    """
    # Set by git itself for its hooks: another repository than the one that is meant.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return environ | {
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        # Known to older versions, too: no protocol is allowed, whatever the settings say.
        "GIT_ALLOW_PROTOCOL": "none",
    }
