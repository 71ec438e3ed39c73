"""Writing in the person's own editor."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from textual.app import App, SuspendNotSupported

from gemma_local.models.errors import GemmaLocalError

_FALLBACKS: Final = ("notepad",) if sys.platform == "win32" else ("nano", "vi")


class EditorFailed(GemmaLocalError):
    """The editor could not be used; the text is as it was."""


def editor_command(env: Mapping[str, str], chosen: str = "") -> list[str]:
    """The command that the settings name (``chosen``), else that of $VISUAL or $EDITOR, else an
    editor that is here. Raises EditorFailed."""
    commands = {"composer.editor": chosen}
    commands |= {f"${name}": env.get(name, "") for name in ("VISUAL", "EDITOR")}
    for name, given in commands.items():
        if given.strip():
            try:
                command = shlex.split(given, posix=sys.platform != "win32")
            except ValueError as error:
                raise EditorFailed(f"{name} is no command: {given}; set it anew") from error
            if shutil.which(command[0]) is None:
                raise EditorFailed(f"there is no {command[0]}, which {name} names; set it anew")
            return command
    for fallback in _FALLBACKS:
        if shutil.which(fallback) is not None:
            return [fallback]
    raise EditorFailed("there is no editor: set $EDITOR to the command of one")


def edited(app: App[Any], text: str, editor: str = "") -> str:
    """What the person made of ``text`` in their editor, which has the terminal meanwhile;
    ``editor`` is the one that the settings name.

    It lies in a file that only its owner can read and that is removed afterwards. Raises
    EditorFailed.
    """
    command = editor_command(os.environ, editor)
    try:
        with tempfile.TemporaryDirectory(prefix="gemma-local-") as folder:
            # Mode 0600, in a folder of 0700: an editor's own copies go there, too.
            handle, name = tempfile.mkstemp(dir=folder, prefix="message-", suffix=".md")
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            with _interrupts_ignored(), app.suspend():
                status = subprocess.run([*command, name], check=False).returncode
            if status:
                raise EditorFailed(
                    f"{command[0]} ended with status {status}: the text is unchanged"
                )
            changed = Path(name).read_text(encoding="utf-8")
    except SuspendNotSupported as error:
        raise EditorFailed("this terminal cannot be lent to an editor") from error
    except (OSError, UnicodeDecodeError) as error:
        raise EditorFailed(f"{command[0]} could not be used: {error}") from error
    # Editors end a file with a newline that nobody typed.
    return changed if text.endswith("\n") else changed.removesuffix("\n")


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ctrl-C is for the editor. Not by ignoring the signal, which the editor would inherit."""
    before = signal.signal(signal.SIGINT, lambda number, frame: None)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
