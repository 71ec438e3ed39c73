"""The shell that runs a command, and where it was at the end."""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Shell:
    """``program`` is bash, or sh where there is none; "" on Windows, whose shell is another."""

    program: str

    @property
    def is_posix(self) -> bool:
        """Whether it reads lines as they are understood here: bash does, and of sh only those
        without what is bash's own."""
        return Path(self.program).name == "bash"

    def command(self, text: str, left_in: Path) -> list[str] | str:
        """What runs ``text`` and writes the folder in which it ends to ``left_in``."""
        if not self.program:
            return text
        note = f"pwd -P >{shlex.quote(str(left_in))} 2>/dev/null"
        # On the same line, so that the shell counts lines as the model does.
        return [self.program, "-c", f"trap {shlex.quote(note)} 0; {text}"]


def shell_here(which: Callable[[str], str | None] = shutil.which) -> Shell:
    """The shell of this machine."""
    if sys.platform == "win32":
        return Shell("")
    return Shell(which("bash") or which("sh") or "/bin/sh")
