"""``gemma-local sessions`` as a person or a script uses it."""

from __future__ import annotations

import json
import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gemma_local.app import folders
from gemma_local.app.errors import UsageError
from gemma_local.app.sessions.arguments import COMMANDS, parse_sessions, span
from gemma_local.app.sessions.command import run
from gemma_local.app.sessions.listing import age
from gemma_local.app.sessions.options import ListOptions, RemoveOptions, SessionsOptions
from gemma_local.app.sessions.store import SessionStore
from gemma_local.models.message import Message, ToolCall
from tests.app.running import Command
from tests.waiting import PATIENCE

NOW = datetime(2026, 3, 4, tzinfo=UTC)
EVIL = "\x1b[2J\x1b]0;owned\x07"


@pytest.fixture
def path(command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the process has its sessions; this one, too."""
    path = command.home / "XDG_DATA_HOME" / "gemma-local" / "sessions.sqlite3"
    monkeypatch.setattr(folders, "sessions_path", lambda: path)
    return path


def fill(path: Path, *texts: str, folder: Path | None = None) -> list[str]:
    """A session for each text, the oldest first; their ids."""
    ids = []
    with SessionStore.open(path) as store:
        for text in texts:
            with store.create(folder or Path.cwd(), "gemma-4-E2B", "v") as session:
                session.append(Message("user", text))
                call = ToolCall("read", {"path": f"{text}.py"})
                session.append(Message("assistant", "I look.", thought="deep", calls=(call,)))
                ids.append(session.id)
    return ids


def ids_in(path: Path) -> list[str]:
    with SessionStore.open(path) as store:
        return [info.id for info in store.list()]


# ------------------------------------------------------------------------------- as a process


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="platformdirs' folders of Linux")
def test_a_whole_life_of_a_session(command: Command, path: Path, tmp_path: Path) -> None:
    (id_,) = fill(path, "Question one")
    listed = command.run("sessions")
    assert listed.returncode == 0
    assert re.search(rf"{id_} +just now +2 +gemma-4-E2B  Question one\n", listed.stdout)
    out = tmp_path / "session.json"
    assert command.run("sessions", "export", id_, "-o", out).returncode == 0
    renamed = command.run("sessions", "rename", id_[:7], "Another", "title")
    assert renamed.stdout == f"{id_}  Another title\n"
    branch = command.run("sessions", "branch", "Another title", "--at", "1").stdout.split()[0]
    state = command.home / "XDG_CACHE_HOME" / "gemma-local" / "states"
    gone = command.run("sessions", "rm", id_, "Another title", "--yes")
    assert (gone.returncode, gone.stderr) == (0, "gemma-local: deleted 1 session\n")
    assert not state.exists() and ids_in(path) == [branch]
    imported = command.run("sessions", "import", out)
    assert imported.stdout == f"{id_}  Question one\n"
    again = command.run("sessions", "import", "-", stdin=out.read_bytes()).stdout.split()[0]
    assert sorted(ids_in(path)) == sorted([id_, branch, again])


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="platformdirs' folders of Linux")
def test_a_person_is_asked_before_anything_is_deleted(command: Command, path: Path) -> None:
    one, two = fill(path, "Question one", f"Question {EVIL}two")
    refused = command.run("sessions", "rm", "--all")
    assert refused.returncode == 2 and "give --yes" in refused.stderr
    assert "no option '--json'" in command.run("sessions", "rm", "--json").stderr
    for answer, left in (("n", [two, one]), ("", [two, one]), ("y", [])):
        with command.terminal("sessions", "rm", "--all") as terminal:
            screen = terminal.wait_for(r"delete 2 sessions for good\? \[y/N\] ")
            assert one in screen and two in screen and "owned" in screen
            assert "\x07" not in screen and "\x1b]" not in screen
            terminal.line(answer)
            assert terminal.end() == 0
        assert ids_in(path) == left


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="platformdirs' folders of Linux")
def test_what_was_said_does_nothing_to_a_terminal(command: Command, path: Path) -> None:
    (id_,) = fill(path, f"Question {EVIL}" + "long " * 40)
    for words in (["list"], ["show", id_, "--thoughts"], ["search", "owned"],
                  ["export", id_, "--format", "json"], ["export", id_]):  # fmt: skip
        with command.terminal("sessions", *words) as terminal:
            assert terminal.end() == 0
            assert "owned" in terminal.screen or "long" in terminal.screen
            left = re.sub(r"\x1b\[[02]?m", "", terminal.screen)
            assert not re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]", left)
    # A pipe gets no colour, whole titles, and the text as it was.
    shown = command.run("sessions", "show", id_)
    assert EVIL in shown.stdout and "\x1b[2m" not in shown.stdout
    assert "…" in command.run("sessions", "list").stdout


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="platformdirs' folders of Linux")
def test_a_reader_that_has_seen_enough(command: Command, path: Path) -> None:
    fill(path, *[f"Question {n}" for n in range(30)])
    with command.start("sessions", "list") as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.wait(timeout=PATIENCE) == 0
        assert process.stderr.read() == ""


def test_errors_come_as_asked(command: Command) -> None:
    failed = command.run("sessions", "show", "zzzz", "--json")
    assert failed.returncode == 2
    assert "there is no session 'zzzz'" in json.loads(failed.stdout)["error"]
    helped = command.run("sessions", "--help")
    assert helped.returncode == 0 and all(name in helped.stdout for name in COMMANDS)
    for name in COMMANDS:
        helped = command.run("sessions", name, "--help")
        assert helped.returncode == 0 and helped.stdout.startswith("usage: gemma-local sessions")


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="platformdirs' folders of Linux")
def test_repair_asks_and_keeps_the_damaged_file(command: Command, path: Path) -> None:
    nothing = command.run("sessions", "repair")
    assert (nothing.returncode, "nothing to repair" in nothing.stderr) == (0, True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"rubbish" * 999)
    for words in (["list"], ["show", "x"], ["rm", "--all", "--yes"]):
        failed = command.run("sessions", *words)
        assert failed.returncode == 1 and "gemma-local sessions repair" in failed.stderr
    assert "give --yes" in command.run("sessions", "repair").stderr
    assert path.read_bytes() == b"rubbish" * 999
    with command.terminal("sessions", "repair") as terminal:
        terminal.wait_for(r"\[y/N\] ")
        terminal.line("y")
        assert terminal.end() == 0
    (kept,) = path.parent.glob("*.damaged-*")
    assert kept.read_bytes() == b"rubbish" * 999
    assert "is sound" in command.run("sessions", "repair").stderr


# ------------------------------------------------------------------------------------ in here


def test_nothing_to_list_says_what_to_do(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(ListOptions())
    run(ListOptions(all=True))
    out, err = capsys.readouterr()
    assert out == ""
    assert "--all lists those of every folder" in err and "with its first message" in err


def test_list_and_search_as_json(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    here = fill(path, "Question one", "Question two")
    (there,) = fill(path, "Question three", folder=Path("/elsewhere"))
    assert [s["id"] for s in _json(capsys, "list")["sessions"]] == here[::-1]
    assert [s["id"] for s in _json(capsys, "list", "--all")["sessions"]] == [there, *here[::-1]]
    assert len(_json(capsys, "list", "--all", "--limit", "1")["sessions"]) == 1
    (first, *_) = _json(capsys, "list")["sessions"]
    assert first["title"] == "Question two" and first["messages"] == 2
    assert first["folder"] == str(Path.cwd()) and first["parent"] is None
    assert len(_json(capsys, "search", "question")["hits"]) == 6
    (hit,) = _json(capsys, "search", "two.py", "--here")["hits"]
    assert (hit["session"], hit["number"], hit["role"]) == (here[1], 2, "assistant")
    assert _json(capsys, "search", "--", "--nowhere")["hits"] == []
    shown = _json(capsys, "show", here[0])
    assert [e["message"]["role"] for e in shown["entries"]] == ["user", "assistant"]


def test_show_has_thoughts_only_if_asked(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (id_,) = fill(path, "Question one")
    run(parse_sessions(["show", id_]))
    plain = capsys.readouterr().out
    run(parse_sessions(["show", id_, "--thoughts"]))
    full = capsys.readouterr().out
    assert "deep" not in plain and "deep" in full
    for part in ("[1] You\nQuestion one\n", "calls read\n  path: Question one.py\n",
                 "(a call has no result)"):  # fmt: skip
        assert part in plain


def test_export_goes_by_the_name_and_overwrites_nothing(path: Path, tmp_path: Path) -> None:
    (id_,) = fill(path, "Question one")
    for name, beginning in (("a.md", "# Question one"), ("a.html", "<!DOCTYPE"), ("a.json", "{"),
                            ("a.txt", "# Question one")):  # fmt: skip
        out = tmp_path / name
        run(parse_sessions(["export", id_, "-o", str(out)]))
        assert out.read_text(encoding="utf-8").startswith(beginning)
        out.write_text("mine")
        with pytest.raises(UsageError, match="give --force"):
            run(parse_sessions(["export", id_, "-o", str(out)]))
        assert out.read_text() == "mine"
        run(parse_sessions(["export", id_, "-o", str(out), "--force", "--format", "html"]))
        assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE")
    with pytest.raises(UsageError, match="cannot be written"):
        run(parse_sessions(["export", id_, "-o", str(tmp_path / "no" / "a.md")]))
    with pytest.raises(UsageError, match="cannot be read"):
        run(parse_sessions(["import", str(tmp_path / "no")]))


def test_rm_deletes_states_and_keeps_what_is_open(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    removed: list[str] = []
    monkeypatch.setattr("gemma_local.app.sessions.command.remove_states", removed.append)
    old, new, busy = fill(path, "old", "new", "busy")
    with SessionStore.open(path) as store:
        with store._database.write() as connection:
            connection.execute("UPDATE sessions SET updated = 0 WHERE id = ?", (old,))
        run(parse_sessions(["rm", "--all", "--older-than", "30d", "--yes"]))
        assert removed == [old]
        with store.resume(busy):
            assert run(parse_sessions(["rm", "--all", "--yes"])) == 1
    assert removed == [old, new] and ids_in(path) == [busy]
    assert f"kept {busy}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("foo", "no command 'foo'"),
        ("list x", "no place for 'x'"),
        ("list --limit 0", "from 1"),
        ("list --al", "no option '--al'"),
        ("show", "SESSION"),
        ("search", "WORD"),
        ("export x --format pdf", "markdown, json or html"),
        ("rm", "name the sessions"),
        ("rm x --all", "leave SESSION out"),
        ("rm --older-than 30d", "goes with --all"),
        ("rm x --older-than 30d", "leave SESSION out"),
        ("rm --all --older-than 0d", "12h, 30d or 8w"),
        ("rm --all --older-than 1m", "12h, 30d or 8w"),
        ("rename x", "TITLE"),
        ("branch x --at 0", "from 1"),
    ],
)
def test_wrong_words_are_named_with_what_to_give(words: str, said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)) as problem:
        parse_sessions(words.split())
    assert "\n" not in str(problem.value) and "--help" in str(problem.value)


def test_without_a_command_it_lists() -> None:
    nothing: SessionsOptions = parse_sessions([])
    assert nothing == ListOptions() == parse_sessions(["list"])
    removal = parse_sessions(["rm", "--all", "--older-than", "8w", "--yes"])
    assert removal == RemoveOptions(all=True, older_than=timedelta(weeks=8), yes=True)
    assert (span("12h"), span("30d")) == (timedelta(hours=12), timedelta(days=30))


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(-5, "just now"), (59, "just now"), (60, "1 min ago"), (3599, "59 min ago"), (7300, "2 h ago"),
     (86400, "1 d ago"), (13 * 86400, "13 d ago"), (40 * 86400, "2026-01-2")],
)  # fmt: skip
def test_ages(seconds: int, said: str) -> None:
    assert age(NOW - timedelta(seconds=seconds), NOW).startswith(said)


def _json(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, list[dict[str, Any]]]:
    capsys.readouterr()
    assert run(parse_sessions([*words[:1], "--json", *words[1:]])) == 0
    found: dict[str, list[dict[str, Any]]] = json.loads(capsys.readouterr().out)
    return found


def test_a_transcript_has_what_tools_gave(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (id_,) = fill(path, "Question")
    with SessionStore.open(path) as store, store.resume(id_) as session:
        session.append(Message("tool", "1|import os\n2|", tool="read"))
        session.append(Message("assistant", "It imports os."))
    assert run(parse_sessions(["show", id_])) == 0
    shown = capsys.readouterr().out
    assert "calls read\n  " in shown
    assert "· read\n  1|import os\n  2|\n\n[4] " in shown
    assert shown.endswith("It imports os.\n")


def test_a_search_without_a_hit_says_what_finds_more(
    path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(path, "Question")
    assert run(parse_sessions(["search", "nowhere", "at", "all"])) == 0
    out, err = capsys.readouterr()
    assert out == "" and "no message has 'nowhere at all'; fewer words find more" in err
