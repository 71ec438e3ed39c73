"""The sandbox of macOS, by ``sandbox-exec`` and a profile.

Not tried by the project's own tests, which run on Linux; what it forbids follows the same rules.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from gemma_local.app.agent.run.confinement import Confinement


def program() -> str:
    """Where it is, "" if it is missing."""
    return shutil.which("sandbox-exec", path="/usr/bin") or ""


def wrapped(program: str, confinement: Confinement, command: Sequence[str]) -> list[str]:
    """The command that runs ``command`` confined. It begins in the folder that it is started in."""
    return [program, "-p", profile(confinement), *command]


def profile(confinement: Confinement) -> str:
    """The rules; of several that fit the last one holds."""
    lines = [
        "(version 1)",
        "(allow default)",
        "(deny file-write*)",
        '(allow file-write* (regex #"^/dev/(null|zero|random|urandom|tty|ptmx|fd/|ttys)"))',
    ]
    lines += [f"(allow file-write* (subpath {_quoted(path)}))" for path in confinement.writable]
    lines += [f"(deny file-write* ({_filter(path)}))" for path in confinement.guarded]
    # Neither renamed nor removed.
    lines += [f"(deny file-write-unlink (literal {_quoted(path)}))" for path in confinement.pinned]
    lines += [f"(deny file-read* file-write* ({_filter(path)}))" for path in confinement.hidden]
    lines += [f"(allow file-read* (subpath {_quoted(path)}))" for path in confinement.shown]
    if not confinement.has_network:
        lines += [
            "(deny network*)",
            '(allow network* (local ip "localhost:*"))',
            '(allow network-outbound (remote ip "localhost:*"))',
        ]
        lines += [f"(allow network* (subpath {_quoted(path)}))" for path in confinement.writable]
    # Other programs, asked to act, would act outside.
    lines += ["(deny appleevent-send)", '(deny mach-lookup (global-name "com.apple.pasteboard.1"))']
    return "\n".join(lines)


def _filter(path: str) -> str:
    # What is not there yet may become a folder.
    return f"{'literal' if Path(path).is_file() else 'subpath'} {_quoted(path)}"


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
