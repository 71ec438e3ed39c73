"""The clipboard: by the desktop's own tools, and through the terminal where there are none.

Tools are asked to give back what they took, because some take it and lose it: then the next way is
tried, and the person is told which way it went.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from gemma_local.models.errors import GemmaLocalError

TIMEOUT: Final = 2.0
"""Seconds that a tool may take."""

_SURE_OF_TERMINAL: Final = 50_000
"""Bytes that a terminal takes by OSC 52 without cutting them off, most of them at least."""


class NoClipboard(GemmaLocalError):
    """Nothing can be read from a clipboard."""


@dataclass(frozen=True, slots=True)
class Copied:
    """What was copied and how. ``has_arrived``: it was read back, or at least a tool said so; if
    not, ``doubt`` says what may help."""

    characters: int
    by: str
    has_arrived: bool
    doubt: str = ""

    def sentence(self) -> str:
        """What happened, honestly."""
        count = f"{self.characters} character{'' if self.characters == 1 else 's'}"
        if self.has_arrived:
            return f"copied {count} with {self.by}"
        return f"sent {count} to the terminal ({self.by}); {self.doubt}"


@dataclass(frozen=True, slots=True)
class _Tool:
    """A program and its arguments to copy and to paste. ``gives_back``: quickly enough to check."""

    copy: tuple[str, ...]
    paste: tuple[str, ...]
    encoding: str = "utf-8"
    gives_back: bool = True

    @property
    def name(self) -> str:
        return self.copy[0]


_WAYLAND: Final = _Tool(("wl-copy",), ("wl-paste", "--no-newline"))
_X11: Final = (
    _Tool(("xclip", "-selection", "clipboard"), ("xclip", "-selection", "clipboard", "-o")),
    _Tool(("xsel", "--clipboard", "--input"), ("xsel", "--clipboard", "--output")),
)
_MACOS: Final = _Tool(("pbcopy",), ("pbpaste",))
_POWERSHELL: Final = (
    "powershell.exe",
    "-NoProfile",
    "-Command",
    "[Console]::OutputEncoding = [Text.Encoding]::UTF8; Get-Clipboard -Raw",
)
# PowerShell takes a second to start: it is asked only when something is to be pasted.
_WINDOWS: Final = _Tool(("clip.exe",), _POWERSHELL, "utf-16-le", gives_back=False)


def copy(
    text: str,
    send: Callable[[str], None],
    environ: Mapping[str, str] = os.environ,
    platform: str = sys.platform,
) -> Copied:
    """Copy ``text``. May take a few seconds where tools hang: not for the app's own thread.

    Args:
        send: passes a text to the terminal as OSC 52, such as ``App.copy_to_clipboard``.
    """
    for tool in _tools(environ, platform):
        if _copies(tool, text, environ):
            return Copied(len(text), tool.name, has_arrived=True)
    if _by_tmux(text, environ):
        return Copied(
            len(text),
            "tmux",
            False,
            'if it does not arrive, "set -g set-clipboard on" in tmux.conf may help; '
            "tmux has it in its own buffer in any case",
        )
    send(text)
    doubt = "if it does not arrive, the terminal does not allow it: /export writes a file"
    if len(text.encode("utf-8", "replace")) > _SURE_OF_TERMINAL:
        doubt = "so long a text may arrive cut off: /export writes a file"
    return Copied(len(text), "OSC 52", False, doubt)


def paste(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> str:
    """The clipboard's text. Raises NoClipboard if there is none or it cannot be read."""
    tools = _tools(environ, platform)
    for tool in tools:
        text = _given_back(tool, environ)
        if text is not None:
            if not text.strip():
                raise NoClipboard("the clipboard holds no text; copy some first")
            return text.replace("\r\n", "\n")
    if tools:
        raise NoClipboard(
            f"{tools[0].paste[0]} gives nothing from the clipboard; paste the text into the message"
        )
    hint = "" if _is_remote(environ) else f"; {_advice(environ, platform)}"
    raise NoClipboard(
        f"the clipboard cannot be read from here: paste the text into the message{hint}"
    )


def _is_remote(environ: Mapping[str, str]) -> bool:
    """Whether the desktop is at the other end of a connection, with its clipboard."""
    return any(environ.get(name) for name in ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"))


def _tools(environ: Mapping[str, str], platform: str) -> list[_Tool]:
    """What there is to reach this desktop's clipboard, the best first."""
    if _is_remote(environ):
        return []
    if platform == "darwin":
        wanted = [_MACOS]
    elif platform == "win32" or "WSL_DISTRO_NAME" in environ:
        wanted = [_WINDOWS]
    else:
        wanted = [_WAYLAND] if environ.get("WAYLAND_DISPLAY") else []
        wanted += _X11 if environ.get("DISPLAY") else ()
    return [tool for tool in wanted if shutil.which(tool.name, path=environ.get("PATH", ""))]


def _copies(tool: _Tool, text: str, environ: Mapping[str, str]) -> bool:
    """Whether a tool took the text and, where it can be asked, has it."""
    # The byte order mark tells clip.exe what it gets.
    mark = "\ufeff" if tool.encoding.startswith("utf-16") else ""
    if not _runs(tool.copy, (mark + text).encode(tool.encoding, "replace"), environ):
        return False
    back = _given_back(tool, environ) if tool.gives_back else None
    return back is None or _even(back) == _even(text)


def _by_tmux(text: str, environ: Mapping[str, str]) -> bool:
    """Give the text to tmux, which passes it on to the terminal that it is shown in.

    By default tmux takes no OSC 52 from the programs in it; this goes around that.
    """
    if not environ.get("TMUX") or shutil.which("tmux", path=environ.get("PATH", "")) is None:
        return False
    return _runs(("tmux", "load-buffer", "-w", "-"), text.encode("utf-8", "replace"), environ)


def _runs(command: tuple[str, ...], text: bytes, environ: Mapping[str, str]) -> bool:
    """Whether a program read ``text`` and ended well.

    xclip and wl-copy leave a child behind that holds the clipboard. It inherits our pipes, so
    there are none but the one that it reads, and no end of one is waited for.
    """
    program = shutil.which(command[0], path=environ.get("PATH", ""))
    if program is None:
        return False
    try:
        done = subprocess.run(
            [program, *command[1:]],
            input=text,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=dict(environ),
            timeout=TIMEOUT,
            start_new_session=True,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _given_back(tool: _Tool, environ: Mapping[str, str]) -> str | None:
    """What a tool has on the clipboard; None if it cannot say."""
    program = shutil.which(tool.paste[0], path=environ.get("PATH", ""))
    if program is None:
        return None
    # A file and no pipe: whoever inherits it may keep it open as long as they like.
    with tempfile.TemporaryFile() as output:
        try:
            done = subprocess.run(
                [program, *tool.paste[1:]],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.DEVNULL,
                env=dict(environ),
                timeout=TIMEOUT if tool.gives_back else 5 * TIMEOUT,
                start_new_session=True,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        if done.returncode != 0:
            return None
        output.seek(0)
        return output.read().decode("utf-8-sig", "replace")


def _even(text: str) -> str:
    """``text`` as it compares: tools differ in line ends and in the last newline."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").rstrip("\n")


def _advice(environ: Mapping[str, str], platform: str) -> str:
    if platform in ("darwin", "win32"):
        return "its tool is missing from PATH"
    if environ.get("WAYLAND_DISPLAY"):
        return "with wl-clipboard installed it could be read"
    if environ.get("DISPLAY"):
        return "with xclip installed it could be read"
    return "there is no desktop"
