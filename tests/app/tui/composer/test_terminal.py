"""In a real terminal: what keys really send, and an editor that really has it."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from gemma_local.app.tui.composer.external_editor import EditorFailed, edited, editor_command
from tests.app.tui.composer.host import hosted, press
from tests.waiting import PATIENCE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such terminals there")

ROOT = Path(__file__).parents[4]


class Terminal:
    """A composer's screen and keyboard."""

    def __init__(self, tmp_path: Path, editor: str = "") -> None:
        import pexpect
        import pyte

        self.out = tmp_path / "out"
        (tmp_path / "folder").mkdir()
        self._screen = pyte.Screen(80, 24)
        self._stream = pyte.Stream(self._screen)
        self._process = pexpect.spawn(
            sys.executable,
            ["-m", "tests.app.tui.composer.in_terminal"]
            + [str(tmp_path / name) for name in ("folder", "state", "out")],
            cwd=str(ROOT),
            env={**os.environ, "TERM": "xterm-256color", "VISUAL": "", "EDITOR": editor},
            dimensions=(24, 80),
            encoding="utf-8",
            timeout=PATIENCE,
        )
        self._pexpect = pexpect
        self.until(lambda: "Write a message" in self.shown)

    @property
    def shown(self) -> str:
        return "\n".join(self._screen.display)

    @property
    def sent(self) -> list[str]:
        lines = self.out.read_text(encoding="utf-8").splitlines() if self.out.exists() else []
        return [json.loads(line) for line in lines]

    def type(self, text: str) -> None:
        self._process.send(text)

    def until(self, is_so: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not is_so():
            assert time.monotonic() < end, self.shown
            with suppress(self._pexpect.TIMEOUT):
                self._stream.feed(self._process.read_nonblocking(1 << 16, timeout=0.05))

    def close(self) -> None:
        self._process.close(force=True)


@contextmanager
def terminal(tmp_path: Path, editor: str = "") -> Iterator[Terminal]:
    there = Terminal(tmp_path, editor)
    try:
        yield there
    finally:
        there.close()


def script(tmp_path: Path, lines: str) -> str:
    path = tmp_path / "an editor"
    path.write_text(f"#!/bin/sh\n{lines}\n")
    path.chmod(0o755)
    return f"'{path}' --wait"


def test_what_terminals_send(tmp_path: Path) -> None:
    with terminal(tmp_path) as there:
        # Alt-Enter, a broken report of the mouse, Ctrl-J, and Shift-Enter as kitty has it.
        there.type("one\x1b\rtwo\x1b[<35;NaN;NaNM")
        there.until(lambda: "two" in there.shown)
        time.sleep(0.3)
        there.type(" more\nthree\x1b[13;2ufour\r")
        there.until(lambda: bool(there.sent))
        assert there.sent == ["one\ntwo more\nthree\nfour"]
        there.type("\x1b[200~first\r\nsecond\rthird\nfourth\x1b[201~")
        there.until(lambda: "[Pasted text #1, 4 lines]" in there.shown)
        # The next keys are there before the message is on its way.
        there.type(" end\rnext\r")
        there.until(lambda: len(there.sent) == 3)
        assert there.sent[1:] == ["first\nsecond\nthird\nfourth end", "next"]


def test_an_editor_has_the_terminal_and_the_text(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    editor = script(
        tmp_path,
        f'stat -c %a "$2" >>{seen}\necho "$1 $2" >>{seen}\ncat "$2" >>{seen}\necho >>{seen}\n'
        'echo " and more" >>"$2"',
    )
    with terminal(tmp_path, editor) as there:
        there.type("text\x07")
        there.until(lambda: "and more" in there.shown)
        there.type("\x18\x05")
        there.until(lambda: there.shown.count("and more") == 2)
        there.type("!\r")
        there.until(lambda: bool(there.sent))
        assert there.sent == ["text and more and more!"]
    mode, arguments, before, *_ = seen.read_text().splitlines()
    flag, path = arguments.split()
    assert (mode, flag, before) == ("600", "--wait", "text")
    assert path.endswith(".md") and not Path(path).exists() and not Path(path).parent.exists()


def test_an_editor_that_fails_changes_nothing(tmp_path: Path) -> None:
    with terminal(tmp_path, script(tmp_path, 'echo gone >"$2"\nexit 3')) as there:
        there.type("text\x07")
        there.until(lambda: "status 3" in there.shown)
        there.type("\r")
        there.until(lambda: bool(there.sent))
        assert there.sent == ["text"]


async def test_where_nothing_can_be_lent_it_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VISUAL", sys.executable)
    async with hosted(tmp_path) as (app, pilot):
        await press(pilot, "text", "ctrl+g")
        assert [n.message for n in app._notifications] == [
            "this terminal cannot be lent to an editor"
        ]
        assert app.area.text == "text"
        with pytest.raises(EditorFailed, match="cannot be lent"):
            edited(app, "text")


def test_which_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("one", "nano"):
        (tmp_path / name).write_text("")
        (tmp_path / name).chmod(stat.S_IRWXU)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert editor_command({"VISUAL": "one -w 'a b'", "EDITOR": "nano"}) == ["one", "-w", "a b"]
    assert editor_command({"VISUAL": " ", "EDITOR": "nano"}) == ["nano"]
    assert editor_command({}) == ["nano"]
    # What was chosen for this program comes first.
    assert editor_command({"VISUAL": "nano"}, "one -w") == ["one", "-w"]
    with pytest.raises(EditorFailed, match=r"no gone, which composer.editor names"):
        editor_command({"VISUAL": "nano"}, "gone")
    with pytest.raises(EditorFailed, match=r"no gone, which \$EDITOR names"):
        editor_command({"EDITOR": "gone -x"})
    with pytest.raises(EditorFailed, match=r"\$VISUAL is no command"):
        editor_command({"VISUAL": "one 'a"})
    (tmp_path / "nano").unlink()
    with pytest.raises(EditorFailed, match=r"set \$EDITOR"):
        editor_command({})
