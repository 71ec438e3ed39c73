"""The grammar of ``gemma-local models``, and how it shows progress."""

from __future__ import annotations

import re

import pytest

from gemma_local.app.errors import UsageError
from gemma_local.app.models_command.arguments import COMMANDS, parse_models
from gemma_local.app.models_command.options import ListOptions
from gemma_local.app.models_command.progress_line import DownloadLine, download_text
from gemma_local.models.store.progress import FileProgress, Progress
from tests.app.running import Command


def test_every_command_helps(command: Command, capsys: pytest.CaptureFixture[str]) -> None:
    helped = command.run("models", "--help")
    assert helped.returncode == 0 and all(name in helped.stdout for name in COMMANDS)
    for name in COMMANDS:
        with pytest.raises(SystemExit) as end:
            parse_models([name, "--help"])
        assert not end.value.code
        shown = capsys.readouterr().out
        assert shown.startswith(f"usage: gemma-local models {name}")
    assert "of LM Studio, Ollama and llama.cpp" in shown


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("lst", "no command 'lst'"),
        ("list x", "no place for 'x'"),
        ("list --all", "no option '--all'"),
        ("get", "WHAT"),
        ("get a b", "no place for 'b'"),
        ("rm", "MODEL"),
        ("rm --yes", "--unfinished"),
        ("export out", "MODEL"),
        ("import", "FOLDER"),
        ("get=", "no command"),
    ],
)
def test_wrong_words_get_a_sentence(words: str, hint: str) -> None:
    with pytest.raises(UsageError) as problem:
        parse_models(words.split())
    assert hint in str(problem.value) and "\n" not in str(problem.value)
    assert parse_models([]) == ListOptions()


def test_progress_says_what_a_person_wants_to_know() -> None:
    files = (
        FileProgress("a.gguf", 500_000_000, 2_000_000_000, "fetching"),
        FileProgress("MTP/b.gguf", 0, 500_000_000, "fetching"),
    )
    event = Progress(files, 500_000_000, 2_500_000_000, 10_000_000.0, 200.0)
    assert download_text(event) == (
        " 20%, 500.00 MB of 2.50 GB, 10.00 MB/s, 3 min left, fetching a.gguf and b.gguf"
    )


def test_a_log_gets_a_line_for_every_tenth(capsys: pytest.CaptureFixture[str]) -> None:
    show = DownloadLine()
    for done in range(1001):
        show(Progress((), done, 1000, 0.0, None))
    show(Progress((), 1000, 1000, 0.0, None))
    lines = capsys.readouterr().err.splitlines()
    assert [int(re.findall(r"(\d+)%", line)[0]) for line in lines] == [*range(10, 101, 10)]
