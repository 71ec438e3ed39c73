"""Conversations across processes: gone on with, kept off the disk, and killed."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from gemma_local.app.sessions.entry import Entry
from gemma_local.app.sessions.store import SessionStore
from tests.app.running import FAST, STORY, Command, wait_gone
from tests.ggufs import Drafter, Pair, build, script
from tests.waiting import until

GREEDY = ("--temperature", 0)
STATUS = r"(\d+\.\d) tokens/s · [^\n]*\n"
THOUGHT = [f" think{i}" for i in range(30)]
KILLS = int(os.environ.get("GEMMA_LOCAL_TEST_KILLS", "8"))
"""How often a process is killed; more take longer and find more."""


@pytest.fixture(scope="module")
def thinker(ggufs: Path) -> Pair:
    spec = script(["<|channel>", "thought", "\n", *THOUGHT, "<channel|>", "It", " is", "."])
    return build("edge", spec, ggufs / "thinker", drafter=Drafter(wrong_every=4))


def store_of(command: Command) -> Path:
    return command.home / "XDG_DATA_HOME" / "gemma-local" / "sessions.sqlite3"


def entries_of(command: Command, session: str) -> list[Entry]:
    with SessionStore.open(store_of(command)) as store:
        return list(store.entries(session))


def test_continue_goes_on_where_this_folder_s_last_one_ended(command: Command, story: Pair) -> None:
    ask = ("--model", story.target, *FAST, *GREEDY)
    first = command.json(*ask, "-p", "hello")
    second = command.json(*ask, "--continue", "-p", "what is it?")
    assert second["session"] == first["session"]
    assert second["prompt_tokens"] > first["prompt_tokens"] + first["emitted_tokens"]
    third = command.json(*ask, "--resume", first["session"][:5], "-p", "and now?")
    assert third["session"] == first["session"]
    assert [entry.message.text for entry in entries_of(command, first["session"])] == [
        *("hello", STORY.text, "what is it?", STORY.text, "and now?", STORY.text),
    ]
    fresh = command.json(*ask, "-p", "hello")
    assert fresh["session"] != first["session"]
    assert fresh["prompt_tokens"] == first["prompt_tokens"]


def test_instructions_stay_with_the_session(command: Command, story: Pair) -> None:
    ask = ("--model", story.target, *FAST, *GREEDY)
    with_system = command.json(*ask, "--system", "say it", "-p", "hello")
    without = command.json(*ask, "-p", "hello")
    again = command.json(*ask, "--resume", with_system["session"], "-p", "hello")
    other = command.json(*ask, "--resume", without["session"], "-p", "hello")
    extra = with_system["prompt_tokens"] - without["prompt_tokens"]
    assert extra > 0 and again["prompt_tokens"] - other["prompt_tokens"] == extra


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--continue"], "no conversation was begun in this folder"),
        (["--resume"], "needs the id"),
        (["--resume", "nonsense"], "there is no session 'nonsense'"),
        (["--continue", "--resume", "x"], "exclude each other"),
        (["--raw", "--continue"], "--raw continues a text"),
    ],
)
def test_what_cannot_be_gone_on_with_is_said_at_once(
    command: Command, story: Pair, options: list[str], sentence: str
) -> None:
    if options == ["--resume"]:
        command.json("--model", story.target, *FAST, "-p", "x")
    done = command.run("--model", story.target, *FAST, *options, "-p", "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr


def test_no_save_keeps_everything_off_the_disk(command: Command, story: Pair) -> None:
    said = command.json("--model", story.target, *FAST, "--no-save", "-p", "secret")
    assert said["session"] is None
    raw = command.json("--model", story.target, *FAST, "--raw", "-p", " file")
    assert raw["session"] is None
    assert not store_of(command).exists()
    assert b"secret" not in b"".join(
        path.read_bytes() for path in command.home.rglob("*") if path.is_file()
    )


def test_where_nothing_can_be_saved_it_answers_and_says_so(command: Command, story: Pair) -> None:
    store_of(command).parent.mkdir(parents=True)
    store_of(command).write_bytes(b"no database at all" * 100)
    done = command.run("--model", story.target, *FAST, "-p", "hello")
    assert (done.returncode, done.stdout) == (0, STORY.text + "\n")
    assert "not being saved" in done.stderr
    # Somebody's file is never overwritten.
    assert store_of(command).read_bytes().startswith(b"no database at all")
    done = command.run("--model", story.target, *FAST, "--continue", "-p", "hello")
    assert (done.returncode, done.stdout) == (1, "")


def test_thoughts_are_shown_apart_and_have_their_budget(command: Command, thinker: Pair) -> None:
    ask = ("--model", thinker.target, *FAST, *GREEDY, "-p", "well?")
    done = command.run(*ask, "--think", "on")
    assert (done.returncode, done.stdout) == (0, "It is.\n")
    whole = command.json(*ask, "--think", "on")
    assert (whole["text"], whole["thought"]) == ("It is.", "".join(THOUGHT))
    short = command.json(*ask, "--think", 8)
    # Two of the eight are the channel's name.
    assert (short["text"], short["thought"]) == ("It is.", "".join(THOUGHT[:6]))
    cut = command.json(*ask, "--think", "on", "--max-tokens", 12)
    assert (cut["text"], cut["finish_reason"]) == ("It is", "length")
    assert whole["prompt_tokens"] > command.json(*ask)["prompt_tokens"]
    stream = command.run(*ask, "--think", "on", "--output", "stream-json")
    events = [json.loads(line) for line in stream.stdout.splitlines()]
    deltas = [event for event in events if event["type"] == "delta"]
    assert "".join(delta["thought"] for delta in deltas) == "".join(THOUGHT)
    assert "".join(delta["text"] for delta in deltas) == "It is."
    assert sum(len(delta["tokens"]) for delta in deltas) == whole["emitted_tokens"]
    refused = command.run(*ask, "--think", "much")
    assert refused.returncode == 2
    assert "on, off or a whole number" in refused.stderr


def test_stats_show_what_was_reused(command: Command, story: Pair) -> None:
    ask = ("--model", story.target, *FAST, *GREEDY)
    command.run(*ask, "-p", "hello " * 1100)
    done = command.run(*ask, "--continue", "-p", "what is it?", "--stats")
    match = re.search(r"prompt (\d+) read in \S+ s, (\d+) reused", done.stderr)
    assert match is not None, done.stderr
    read, reused = map(int, match.groups())
    # The state came from the disk.
    assert reused > 1000 > 128 > read


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pty")
def test_a_chat_is_gone_on_with_and_reads_nothing_again(command: Command, story: Pair) -> None:
    chat = ("--model", story.target, *FAST, *GREEDY)
    with command.terminal("--plain", *chat) as terminal:
        terminal.wait_for("> ")
        terminal.line("hello please, " * 40)
        terminal.wait_for(STATUS)
        terminal.line("/context")
        assert "history" in terminal.wait_for(r"context \d+ of \d+ [^\n]*\n")
        # What the next prompt will begin with is read while the person does nothing.
        terminal.wait_until_resting()
        terminal.line("/exit")
        assert terminal.end() == 0
    with command.terminal("--plain", *chat, "--continue") as terminal:
        terminal.wait_for("going on with")
        # The last turn is shown again.
        assert STORY.text in terminal.wait_for(r"word49\.\s+> ")
        terminal.line("and now?")
        status = terminal.wait_for(STATUS)
        match = re.search(r"prompt (\d+) read in \S+ s, (\d+) reused", status)
        assert match is not None, status
        read, reused = map(int, match.groups())
        assert reused > 150 > 64 > read
        terminal.line("/compact")
        terminal.wait_for("nothing can be dropped")
        terminal.line("/stats")
        assert "in the cache" in terminal.wait_for(r"tokens in the cache[^\n]*\n")
        terminal.line("/exit")
        assert terminal.end() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pty")
def test_resume_asks_which(command: Command, story: Pair) -> None:
    ask = ("--model", story.target, *FAST, *GREEDY)
    for question in ("alpha", "beta"):
        command.run(*ask, "-p", question)
    with command.terminal("--plain", *ask, "--resume") as terminal:
        offered = terminal.wait_for("which one")
        assert offered.index("beta") < offered.index("alpha")
        terminal.line("7")
        terminal.wait_for("a number from 1 to 2")
        terminal.line("2")
        assert "alpha" in terminal.wait_for("going on with[^\n]*\n")
        terminal.wait_for("> ")
        terminal.line("/exit")
        assert terminal.end() == 0


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pty")
def test_a_session_that_is_open_elsewhere_is_not_written_to(command: Command, story: Pair) -> None:
    ask = ("--model", story.target, *FAST, *GREEDY)
    with command.terminal("--plain", *ask) as terminal:
        terminal.wait_for("> ")
        terminal.line("hello")
        terminal.wait_for(STATUS)
        done = command.run(*ask, "--continue", "-p", "me too")
        assert done.returncode == 1
        assert "is open in another gemma-local" in done.stderr
        terminal.wait_for("> ")
        terminal.line("/exit")
        assert terminal.end() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_killed_at_any_moment_nothing_that_was_shown_is_lost(
    command: Command, endless: Pair
) -> None:
    """What was shown at some moment is on the disk soon, and no kill takes it away again."""
    moments = random.Random(5)
    ask = ("--model", endless.target, *FAST, "--ctx", 16384, "--output", "stream-json")
    is_there = False
    for round_ in range(KILLS):
        more = ["--continue"] if is_there and round_ % 2 else []
        lines: list[str] = []
        settled = ""
        with command.start(*ask, *more, "-p", f"question {round_}") as process:
            assert process.stdout is not None
            reader = threading.Thread(target=lines.extend, args=[process.stdout], daemon=True)
            reader.start()
            if round_ % 3:
                until(lambda shown=lines: said_in(shown))  # type: ignore[misc]
                settled = said_in(lines)
                until(lambda text=settled: newest_text(command).startswith(text))  # type: ignore[misc]
            # Else often before the model is loaded.
            time.sleep(moments.uniform(0.0, 1.0))
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            reader.join()
        said = said_in(lines)
        if not said:
            continue
        is_there = True
        with sqlite3.connect(store_of(command)) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        with SessionStore.open(store_of(command)) as store:
            *_, asked, answered = store.entries(store.list()[0].id)
        assert (asked.message.text, answered.state) == (f"question {round_}", "stopped")
        text = answered.message.text
        assert said.startswith(text) or text.startswith(said)
        assert text.startswith(settled)
        wait_gone(next((event["pid"] for event in events_in(lines) if event["type"] == "ready"), 0))


def events_in(lines: list[str]) -> list[dict[str, Any]]:
    """What a stream told, up to the last line that is whole."""
    return [json.loads(line) for line in lines if line.endswith("\n")]


def said_in(lines: list[str]) -> str:
    """The answer in such a stream."""
    return "".join(event["text"] for event in events_in(lines) if event["type"] == "delta")


def newest_text(command: Command) -> str:
    """The last message that is kept."""
    with SessionStore.open(store_of(command)) as store:
        (session, *_) = store.list()
        return store.entries(session.id)[-1].message.text
