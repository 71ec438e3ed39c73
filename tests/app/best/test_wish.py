"""What is asked for, and how a project is tested."""

from __future__ import annotations

from argparse import ArgumentTypeError
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.best.usual_judge import usual_judge
from gemma_local.app.best.wish import Wish, parse_wish


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("3 fix the parser", Wish(3, "fix the parser")),
        ('3 --judge "pytest -q" fix it', Wish(3, "fix it", "pytest -q")),
        ("2 --judge='make test' fix it", Wish(2, "fix it", "make test")),
        ("2 --judge make fix it", Wish(2, "fix it", "make")),
        (
            '2 --judge "test \\"$A\\" = 1" fix\nall of it',
            Wish(2, "fix\nall of it", 'test "$A" = 1'),
        ),
        ("2 explain --judge to me", Wish(2, "explain --judge to me")),
    ],
)
def test_a_wish_is_read(text: str, wish: Wish) -> None:
    assert parse_wish(text) == wish


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "how many"),
        ("1 fix it", "from 2 to 8"),
        ("fix it", "from 2 to 8"),
        ("3", "what is to be done"),
        ("3 --judge", "needs a command"),
        ("3 --judge 'pytest' ", "what is to be done"),
        ("3 --judge 'pytest fix it", "no closing '"),
    ],
)
def test_what_is_missing_is_said(text: str, sentence: str) -> None:
    with pytest.raises(ArgumentTypeError, match=sentence):
        parse_wish(text)


@given(
    st.integers(2, 8),
    st.text(min_size=1).filter(lambda text: text.strip() and not text.strip().startswith("--")),
    st.text(alphabet="abc -'$\\", min_size=1).map(str.strip).filter(bool),
)
def test_any_command_can_be_quoted(count: int, task: str, judge: str) -> None:
    quoted = '"' + judge.replace("\\", "\\\\").replace("$", "$") + '"'
    wish = parse_wish(f"{count} --judge {quoted} {task}")
    assert wish == Wish(count, task.strip(), judge)


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({}, ""),
        ({"README.md": "run pytest"}, ""),
        ({"Makefile": "build:\n\ntest: build\n\tpytest\n"}, "make test"),
        ({"Makefile": "test := x\nbuild:\n", "tests/test_a.py": ""}, "python -m pytest -q"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "python -m pytest -q"),
        ({"package.json": '{"scripts": {"test": "vitest"}}'}, "npm test"),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\""}}'}, ""),
        ({"package.json": "[]"}, ""),
        ({"Cargo.toml": ""}, "cargo test"),
        ({"go.mod": ""}, "go test ./..."),
    ],
)
def test_how_a_project_is_tested(tmp_path: Path, files: dict[str, str], command: str) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    assert usual_judge(tmp_path) == command
