"""Completions: every command and option, and the shells themselves where they are installed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from gemma_local.app import cli
from gemma_local.app.arguments import COMMANDS
from gemma_local.app.command_tree import command_tree
from gemma_local.app.completions import SHELLS, script

BASH = """\
source "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_shtab_gemma_local
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture(scope="module")
def scripts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("completions")
    for shell in SHELLS:
        (folder / shell).write_text(script(shell), encoding="utf-8")
    return {shell: folder / shell for shell in SHELLS}


def completed(scripts: dict[str, Path], *words: str) -> set[str]:
    """What bash offers for the last word of a command line."""
    done = subprocess.run(
        ["bash", "--norc", "-c", BASH, "bash", str(scripts["bash"]), "gemma-local", *words],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash")


@needs_bash
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ([""], set(COMMANDS)),
        (["--mo"], {"--model", "--mode"}),
        (["--mode", ""], {"plan", "ask", "edits", "auto"}),
        (["--draft", ""], {"auto", "off"}),
        (["--think", ""], {"off", "on"}),
        (["models", "ver"], {"verify"}),
        (["models", "get", "E"], {"E2B", "E4B"}),
        (["sessions", "export", "--format", ""], {"markdown", "json", "html"}),
        (["completions", ""], set(SHELLS)),
        (["doctor", "--js"], {"--json"}),
    ],
)
def test_bash_offers(scripts: dict[str, Path], words: list[str], offered: set[str]) -> None:
    assert completed(scripts, *words) == offered


@needs_bash
def test_bash_offers_every_option_of_every_command(scripts: dict[str, Path]) -> None:
    tree = command_tree()
    for words, parser in [
        ([], tree.parser),
        *(([one.name], one.parser) for one in tree.commands),
        *(([one.name, two.name], two.parser) for one in tree.commands for two in one.commands),
    ]:
        options = {name for action in parser._actions for name in action.option_strings}
        assert completed(scripts, *words, "-") == options, words


@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_can_read_it(scripts: dict[str, Path], shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"no {shell}")
    done = subprocess.run(
        [shell, "-n", str(scripts[shell])], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_it_is_printed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completions", shell]) == 0
    assert capsys.readouterr().out == f"{script(shell)}\n"


def test_another_shell_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completions", "tcsh"]) == 2
    assert "give bash, zsh or fish, not 'tcsh'" in capsys.readouterr().err
