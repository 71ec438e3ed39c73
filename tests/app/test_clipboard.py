"""With real programs on PATH that do what the desktops' tools do, well and badly."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gemma_local.app import clipboard
from gemma_local.app.clipboard import NoClipboard, copy, paste

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the programs are shell scripts")


class Desktop:
    """Programs in a folder, the clipboard in a file, and what went to the terminal."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.board = folder / "board"
        self.sent: list[str] = []
        self.environ = {"PATH": f"{folder}:/usr/bin:/bin", "BOARD": str(self.board)}

    def program(self, name: str, script: str) -> None:
        file = self.folder / name
        file.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        file.chmod(0o755)

    def wayland(self) -> None:
        self.environ["WAYLAND_DISPLAY"] = "wayland-0"
        self.program("wl-copy", 'cat > "$BOARD"')
        self.program("wl-paste", 'cat "$BOARD"')

    def x11(self) -> None:
        self.environ["DISPLAY"] = ":0"
        # Like the real one it leaves a child behind, which keeps whatever it inherited.
        self.program(
            "xclip",
            'if [ "$3" = "-o" ]; then cat "$BOARD"; else cat > "$BOARD"; sleep 5 & fi',
        )

    def copy(self, text: str, platform: str = "linux") -> clipboard.Copied:
        return copy(text, self.sent.append, self.environ, platform)

    def paste(self, platform: str = "linux") -> str:
        return paste(self.environ, platform)


@pytest.fixture
def desktop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desktop:
    monkeypatch.setattr(clipboard, "TIMEOUT", 0.5)
    return Desktop(tmp_path)


TEXT = "Grüße, 日本\r\nsecond line\n\n"


def test_the_desktops_tool_is_used_and_asked_whether_it_has_it(desktop: Desktop) -> None:
    desktop.wayland()
    done = desktop.copy(TEXT)
    assert done.sentence() == f"copied {len(TEXT)} characters with wl-copy"
    assert desktop.board.read_bytes() == TEXT.encode()
    assert desktop.sent == []


def test_a_child_that_is_left_behind_is_not_waited_for(desktop: Desktop) -> None:
    desktop.x11()
    assert desktop.copy("x" * 100_000).by == "xclip"
    assert desktop.paste() == "x" * 100_000


def test_a_tool_that_loses_the_text_is_passed_over(desktop: Desktop) -> None:
    desktop.wayland()
    desktop.program("wl-copy", "cat > /dev/null")
    desktop.board.write_text("something older", encoding="utf-8")
    desktop.x11()
    assert desktop.copy("new").by == "xclip"
    assert desktop.board.read_text(encoding="utf-8") == "new"


@pytest.mark.parametrize("script", ["exit 1", "exec sleep 30", "kill -9 $$"])
def test_a_tool_that_fails_or_hangs_is_passed_over(desktop: Desktop, script: str) -> None:
    desktop.wayland()
    desktop.program("wl-copy", script)
    done = desktop.copy("x" * 1_000_000)
    assert done.by == "OSC 52" and not done.has_arrived
    assert desktop.sent == ["x" * 1_000_000]
    assert "cut off" in done.sentence()


def test_a_tool_that_cannot_give_back_is_believed(desktop: Desktop) -> None:
    desktop.wayland()
    (desktop.folder / "wl-paste").unlink()
    assert desktop.copy("a").sentence() == "copied 1 character with wl-copy"


def test_over_ssh_the_terminal_gets_it(desktop: Desktop) -> None:
    desktop.wayland()
    desktop.environ["SSH_CONNECTION"] = "1.2.3.4 5 6.7.8.9 22"
    done = desktop.copy("secret")
    assert desktop.sent == ["secret"]
    assert not desktop.board.exists()
    assert done.sentence().startswith("sent 6 characters to the terminal (OSC 52); if it does not")
    with pytest.raises(NoClipboard, match=r"paste the text into the message$"):
        desktop.paste()


def test_tmux_is_asked_where_there_is_nothing_else(desktop: Desktop) -> None:
    desktop.environ |= {"TMUX": "/somewhere,1,0", "SSH_TTY": "/dev/pts/1"}
    desktop.program("tmux", 'echo "$@" > "$BOARD.arguments"; cat > "$BOARD"')
    done = desktop.copy("in tmux")
    assert done.by == "tmux" and "set-clipboard" in done.sentence()
    assert desktop.board.read_text(encoding="utf-8") == "in tmux"
    assert desktop.sent == []
    # An old tmux does not know -w.
    desktop.program("tmux", "exit 1")
    assert desktop.copy("in tmux").by == "OSC 52"


def test_a_local_tmux_leaves_it_to_the_desktop(desktop: Desktop) -> None:
    desktop.wayland()
    desktop.environ["TMUX"] = "/somewhere,1,0"
    assert desktop.copy("a").by == "wl-copy"


def test_wsl_gets_the_encoding_that_windows_reads(desktop: Desktop) -> None:
    desktop.environ["WSL_DISTRO_NAME"] = "Ubuntu"
    desktop.program("clip.exe", 'cat > "$BOARD"')
    desktop.program("powershell.exe", 'printf "\\357\\273\\277a\\r\\nb"')
    assert desktop.copy("Grüße").by == "clip.exe"
    assert desktop.board.read_bytes().decode("utf-16") == "Grüße"
    assert desktop.paste() == "a\nb"


def test_macos(desktop: Desktop) -> None:
    desktop.program("pbcopy", 'cat > "$BOARD"')
    desktop.program("pbpaste", 'cat "$BOARD"')
    assert desktop.copy("a", "darwin").by == "pbcopy"
    assert desktop.paste("darwin") == "a"


def test_lone_surrogates_are_copied_somehow(desktop: Desktop) -> None:
    desktop.wayland()
    assert desktop.copy("a\ud800b").by == "wl-copy"
    assert desktop.board.read_text(encoding="utf-8") == "a?b"


def test_what_cannot_be_pasted_is_a_sentence(desktop: Desktop) -> None:
    with pytest.raises(NoClipboard, match="there is no desktop"):
        desktop.paste()
    desktop.environ["DISPLAY"] = ":0"
    desktop.environ["PATH"] = str(desktop.folder)
    with pytest.raises(NoClipboard, match="with xclip installed"):
        desktop.paste()
    desktop.wayland()
    desktop.environ["PATH"] = f"{desktop.folder}:/bin:/usr/bin"
    with pytest.raises(NoClipboard, match="wl-paste gives nothing"):
        desktop.paste()
    desktop.board.write_text(" \n", encoding="utf-8")
    with pytest.raises(NoClipboard, match="holds no text"):
        desktop.paste()
