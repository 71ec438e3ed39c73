"""A conversation on a terminal, as people have it."""

from __future__ import annotations

import stat
from pathlib import Path

from tests.app.running import STORY
from tests.app.tui.end_to_end.screen import (
    CTRL_C,
    CTRL_D,
    CTRL_G,
    ENTER,
    ESCAPE,
    Screen,
)
from tests.app.tui.end_to_end.terminals import POINT, READY, Terminals
from tests.ggufs import Pair


def test_a_conversation_from_the_first_key_to_the_last(terminals: Terminals, endless: Pair) -> None:
    with terminals.app(endless) as screen:
        before = screen.modes
        screen.wait_for(READY)
        screen.keys("go on for ever", ENTER)
        screen.wait_for("red7")
        screen.keys(ESCAPE)
        # Not "length", which is how it would end by itself.
        screen.wait_for("stopped")
        screen.until(lambda: terminals.saved[-1].state == "stopped")
        kept = terminals.saved[-1]
        # What was on the screen is what is kept, to the last word.
        screen.until(lambda: shown(screen).endswith(kept.message.text.split()[-1]))
        for columns, lines in ((60, 20), (120, 40), (80, 24)):
            screen.resize(columns, lines)
            # All of it is drawn anew, though its lines are broken elsewhere.
            screen.until(lambda: is_whole(screen, kept.message.text))
            rows = screen.text.split("\n")
            assert len(rows) == lines
            assert max(map(len, rows)) <= columns
        screen.keys(CTRL_C)
        screen.wait_for("Ctrl-C again leaves")
        screen.keys(CTRL_C)
        assert screen.end() == 0
        assert screen.emulator.left_on == []
        assert screen.modes == before
        assert "gemma-local --resume" in screen.text
        assert "red7" not in screen.text


def test_what_is_typed_early_or_fast_arrives_in_order(terminals: Terminals, story: Pair) -> None:
    with terminals.app(story) as screen:
        screen.wait_up()
        # There is no model yet: messages wait, and what is being written stays.
        screen.send(b"first\rsecond\rthird\rand half a mess")
        screen.wait_for(f"{POINT} and half a mess")
        screen.until(lambda: [entry.state for entry in terminals.saved] == ["complete"] * 6)
        said = [entry.message.text for entry in terminals.saved]
        assert said == ["first", STORY.text, "second", STORY.text, "third", STORY.text]
        assert f"{POINT} and half a mess" in screen.words
        screen.keys(CTRL_C)
        screen.wait_for("Write a message")
        screen.send(b"the quick brown fox\x7f\x7f\x7fdog")
        screen.wait_for(f"{POINT} the quick brown dog")
        # With something written Ctrl-D deletes, and there is nothing behind the cursor.
        screen.keys(CTRL_D)
        screen.keys(CTRL_C, CTRL_D)
        assert screen.end() == 0
        assert screen.emulator.left_on == []


def test_a_long_paste_and_an_editor(terminals: Terminals, story: Pair, tmp_path: Path) -> None:
    editor, seen = tmp_path / "editor", tmp_path / "seen"
    editor.write_text(
        "#!/bin/sh\n"
        f'cp "$1" {seen}; stty -a >{seen}.stty\n'
        'echo "the editor has the terminal for $(head -c 9 "$1")"\n'
        "read answer </dev/tty\n"
        'printf "%s" "$answer" >"$1"\n'
    )
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    pasted = "".join(f"line {i} of very many lines\n" for i in range(4000))[:100_000]
    with terminals.app(story, variables={"EDITOR": str(editor)}) as screen:
        screen.wait_for(READY)
        screen.send(b"\x1b[200~" + pasted.encode() + b"\x1b[201~")
        screen.wait_for("[Pasted text #1")
        screen.keys(" and more")
        screen.wait_for("lines] and more")
        screen.keys(CTRL_G)
        screen.wait_for("the editor has the terminal for line 0 of")
        assert screen.emulator.left_on == []
        assert seen.read_text() == f"{pasted} and more"
        modes = Path(f"{seen}.stty").read_text().split()
        # As it was before the app.
        assert {"echo", "icanon", "isig", "icrnl", "iexten"} <= {mode.rstrip(";") for mode in modes}
        screen.keys("written elsewhere", ENTER)
        screen.wait_for(f"{POINT} written elsewhere")
        screen.wait_for(READY)
        assert "bracketed paste" in screen.emulator.left_on
        screen.keys(ENTER)
        screen.wait_for("word49.")
        assert terminals.saved[0].message.text == "written elsewhere"
        # The editor is left with an error: what was written stays.
        screen.keys("a thought", CTRL_G)
        screen.wait_for("the editor has the terminal for a thought")
        screen.keys(CTRL_C)
        screen.wait_for("unchanged")
        screen.wait_for(f"{POINT} a thought")
        screen.keys(CTRL_C, CTRL_D)
        assert screen.end() == 0


def is_whole(screen: Screen, answer: str) -> bool:
    """Whether the screen has the end of an answer, and all that belongs below it."""
    *_, above, last = screen.text.split("\n")
    words = shown(screen)
    return (
        bool(words)
        and words in answer
        and words.endswith(answer.split()[-1])
        and f"{POINT} Write a message" in above
        and "tokens/s" in last
    )


def shown(screen: Screen) -> str:
    """The words of the answer that are to be seen."""
    rows = [
        row[:-1] if row.endswith(("▁", "▂", "▃", "▄", "▅", "▆", "▇", "█")) else row
        for row in screen.text.split("\n")
    ]
    end = next((at for at, row in enumerate(rows) if "stopped" in row), 0)
    return " ".join(word for row in rows[:end] for word in row.split() if word[-1].isdigit())
