"""Everything that the documents tell people to type does what it is shown to do."""

from __future__ import annotations

import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

import pytest

from gemma_local.app import arguments, completions, paths_command
from gemma_local.app.batch.arguments import parse_batch
from gemma_local.app.best.wish import parse_wish
from gemma_local.app.config_command.arguments import parse_config
from gemma_local.app.doctor.arguments import parse_doctor
from gemma_local.app.errors import UsageError
from gemma_local.app.models_command.arguments import parse_models
from gemma_local.app.sessions.arguments import parse_sessions
from gemma_local.app.settings import Settings
from tests.documents.blocks import ROOT, Block, blocks, inline_commands
from tests.documents.stage import SESSION, Stage, set_up
from tests.ggufs import Pair, build, script

ELSEWHERE: Final = {
    r"make (run|test|lint|coverage)\b": ".ci/run",
    r"pipx install |uv tool install |pipx runpip |CMAKE_ARGS=": "packaging/installations.py",
    r"tar -xzf gemma-local|cd gemma-local-": "tests/packaging/test_bundle.py",
    r"python3\.\d+ install\.py|\S+/python packaging/bundle\.py": "tests/packaging/test_bundle.py",
}
"""What is not typed here, since it sets up an environment of its own or needs what no machine of
tests has; and where it is done for real."""
PARSERS: Final[dict[str, Callable[[list[str]], object]]] = {
    "batch": lambda words: parse_batch(words, lambda options, _: options),
    "bench": arguments.parse_bench,
    "verify": arguments.parse_verify,
    "sessions": parse_sessions,
    "models": parse_models,
    "doctor": parse_doctor,
    "config": parse_config,
    "paths": paths_command.parse_paths,
    "completions": completions.parse_completions,
}
SHORTER: Final = {
    "gemma-local verify": "--draft 2 --tokens 8 --threads 1",
    "gemma-local bench": "--repeat 1 --tokens 12 --kinds code --draft 2 --threads 1",
}
"""What takes minutes as it is shown gets options that make it short."""
ON_SCREEN: Final = re.compile(r"gemma-local( --(model|resume) \S+| --continue)*$")
"""It opens the app."""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="they are for a POSIX shell")


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    said = script(["The Nile", ",", " the Rhine", " and", " the Po", "."])
    return build("edge", said, tmp_path_factory.mktemp("documents"))


@pytest.fixture
def stage(tmp_path: Path, pair: Pair) -> Iterator[Stage]:
    with set_up(tmp_path, pair) as stage:
        yield stage


def test_there_are_commands() -> None:
    assert len(blocks("sh")) > 8
    assert len(inline_commands()) > 20


@pytest.mark.parametrize("block", blocks("sh"), ids=lambda block: block.id)
def test_commands_work_as_they_are_shown(block: Block, stage: Stage) -> None:
    typed = [command for command in block.commands if not _is_elsewhere(command)]
    said = " ".join(typed)
    if any(name in said for name in ("SESSION", "--continue", "sessions rm")):
        stage.prepare(stage.filled('gemma-local --model MODEL -p "connection reset by peer"'))
    if "SESSION" in said:
        stage.prepare(stage.filled('gemma-local --model MODEL --continue -p "and now"'))
        stage.prepare(f'gemma-local sessions rename "connection reset by peer" {SESSION}')
    if "gemma-local batch" in said:
        stage.prepare(stage.filled("gemma-local models add MODEL"))
    if "git diff" in said:
        stage.prepare("git init -q && echo one > a && git add a && echo two > a")
    for command in typed:
        line = stage.filled(f"{command} {SHORTER.get(_name(command), '')}".strip())
        if "completions zsh" in command and not shutil.which("zsh"):
            line = "gemma-local completions zsh"
        elif "completions zsh" in command:
            line = f"zsh -fc {shlex.quote(f'autoload -U compinit; compinit -D; {line}')}"
        if ON_SCREEN.fullmatch(command):
            _open_and_leave(stage, line)
            continue
        done = stage.run(line, stdin="y\n" if re.search(r"\brm\b", command) else "")
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr


def _name(command: str) -> str:
    return " ".join(command.split()[:2])


def _is_elsewhere(command: str) -> bool:
    for pattern, place in ELSEWHERE.items():
        if re.match(pattern, command):
            assert (ROOT / place).is_file()
            return True
    return False


def _open_and_leave(stage: Stage, line: str) -> None:
    from tests.app.tui.end_to_end.screen import CTRL_D, Screen

    words = ["bash", "-c", f"exec {line}"]
    with Screen(words, stage.environment, folder=stage.project) as screen:
        screen.wait_for("Write a message")
        screen.wait_for("context")
        screen.keys(CTRL_D)
        assert screen.end() == 0


@pytest.mark.parametrize("command", inline_commands(), ids=lambda text: text)
def test_what_is_named_in_passing_is_understood(command: str) -> None:
    """Not run, but taken apart as the command line would."""
    words = shlex.split(command.split(" > ")[0])[1:]
    parse = PARSERS.get(words[0] if words else "")
    # A command may be named without what it wants; and --help ends by itself.
    expected: list[type[BaseException]] = (
        [SystemExit] if {"--help", "--version"} & set(words) else []
    )
    if words and all(word.isalpha() for word in words):
        expected.append(UsageError)
    with suppress(*expected):
        if parse is None:
            arguments.parse_answer(words)
        else:
            parse(words[1:])


@pytest.mark.parametrize("block", blocks("toml"), ids=lambda block: block.id)
def test_settings_are_valid(block: Block) -> None:
    Settings.model_validate(tomllib.loads(block.text))


@pytest.mark.parametrize(
    "text", [b.text for b in blocks("") if b.text.startswith("/best")], ids=lambda text: text[:9]
)
def test_attempts_are_wished_for_as_shown(text: str) -> None:
    wish = parse_wish(text.removeprefix("/best"))
    assert wish.task and wish.count == 3 and wish.judge
