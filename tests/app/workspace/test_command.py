"""Commands of the shell, really run and really ended."""

from __future__ import annotations

import sys
from pathlib import Path

import psutil
import pytest

from gemma_local.app.stop import Stop
from gemma_local.app.workspace.command import Command
from tests.waiting import nap

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="uses sh")


def left_over(mark: str) -> list[psutil.Process]:
    """Processes with ``mark`` in their command line that still run."""
    return [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if mark in " ".join(process.info["cmdline"] or ())
        and process.info["status"] != psutil.STATUS_ZOMBIE
    ]


def test_output_comes_in_order_and_as_it_comes(tmp_path: Path) -> None:
    heard: list[str] = []
    command = Command("echo one; echo two >&2; sleep 0.2; pwd", tmp_path, on_output=heard.append)
    ended = command.run()
    assert ended.output == f"one\ntwo\n{tmp_path}\n" == "".join(heard)
    assert len(heard) > 1
    assert (ended.status, ended.timed_out, ended.stopped) == (0, False, False)


def test_nobody_is_asked_for_input(tmp_path: Path) -> None:
    assert Command("cat; read x || echo nothing", tmp_path).run().output == "nothing\n"


def test_statuses_and_signals(tmp_path: Path) -> None:
    assert Command("exit 3", tmp_path).run().status == 3
    assert Command("kill -9 $$", tmp_path).run().status == -9


@pytest.mark.parametrize(
    "words",
    [
        "NAP & wait",
        "(NAP &) ; NAP",
        "setsid NAP & NAP",
        "trap '' TERM; NAP & while :; do sleep 1; done",
    ],
)
def test_a_timeout_leaves_nothing_running(tmp_path: Path, words: str) -> None:
    mark = nap(7001)
    ended = Command(words.replace("NAP", mark), tmp_path, timeout=0.8).run()
    assert ended.timed_out
    assert left_over(mark) == []


def test_a_stop_leaves_nothing_running(tmp_path: Path) -> None:
    stop, mark = Stop(), nap(7002)
    ended = Command(f"echo begun; {mark}", tmp_path, on_output=lambda _: stop.ask()).run(stop)
    assert ended.stopped
    assert ended.output == "begun\n"
    assert left_over(mark) == []


def test_a_child_that_keeps_the_output_open_is_not_waited_for(tmp_path: Path) -> None:
    mark = nap(7003)
    ended = Command(f"{mark} & echo done", tmp_path).run()
    assert ended.output == "done\n"
    assert left_over(mark) == []


def test_a_command_that_closes_its_output_is_waited_for(tmp_path: Path) -> None:
    assert Command("exec >&- 2>&-; sleep 0.5; exit 4", tmp_path).run().status == 4


def test_broken_characters_at_the_edge_of_a_read_are_whole(tmp_path: Path) -> None:
    words = "printf '\\303'; sleep 0.2; printf '\\244\\377'"
    assert Command(words, tmp_path).run().output == "ä\ufffd"


def test_the_environment_is_what_is_given(tmp_path: Path) -> None:
    given = {"PATH": "/usr/bin:/bin", "COLOUR": "red"}
    ended = Command("echo $COLOUR $TERM $HOME.", tmp_path, environment=given).run()
    assert ended.output == "red dumb .\n"


def test_a_list_of_words_needs_no_shell(tmp_path: Path) -> None:
    ended = Command([sys.executable, "-c", "print('$HOME')"], tmp_path).run()
    assert ended.output == "$HOME\n"


@pytest.mark.parametrize(
    "words",
    [
        "setsid NAP >/dev/null 2>&1 & exit 0",
        "nohup setsid NAP >/dev/null 2>&1 & exit 0",
        "(setsid sh -c 'trap \"\" TERM; NAP; NAP' >/dev/null 2>&1 &) ; exit 0",
    ],
)
def test_what_hides_from_its_parents_is_found(tmp_path: Path, words: str) -> None:
    assert Command(words, tmp_path).run().status == 0
    assert left_over(nap(7004)) == []


def test_whoever_hears_may_fail(tmp_path: Path) -> None:
    def fail(text: str) -> None:
        raise ValueError(text)

    with pytest.raises(ValueError, match="begun"):
        Command(f"echo begun; {nap(7005)}", tmp_path, on_output=fail).run()
    assert left_over(nap(7005)) == []


def test_much_output_is_kept_in_part_and_saved_whole(tmp_path: Path) -> None:
    save = tmp_path / "saved"
    ended = Command("yes | head -c 1000000", tmp_path, most=1000, save=save).run()
    assert ended.length == save.stat().st_size == 1_000_000
    assert len(ended.output) < 1_100
    assert "999,000 characters left out" in ended.output


def test_many_open_files_are_no_hindrance(tmp_path: Path) -> None:
    import resource

    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if most < 1200:
        pytest.skip("needs more open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(least, 1200), most))
    files = [(tmp_path / "f").open("w") for _ in range(1100)]
    try:
        assert Command("echo x", tmp_path).run().output == "x\n"
    finally:
        for file in files:
            file.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, (least, most))
