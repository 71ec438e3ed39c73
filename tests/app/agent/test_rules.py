"""Rules that a person can read and write."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.agent.rules import (
    BadRule,
    Rule,
    Rules,
    parse_allowed,
    parse_rule,
    remember,
)
from gemma_local.app.errors import BadSettings
from gemma_local.app.settings_file import load_settings


@pytest.mark.parametrize(
    ("rule", "allowed", "not_allowed"),
    [
        ("run: pytest *", ["pytest", "pytest -q tests"], ["pytest2", "python -m pytest", ""]),
        ("run: pytest", ["pytest"], ["pytest -q"]),
        ("run: npm run test *", ["npm run test", "npm run test -- -x"], ["npm run", "npm test"]),
        ("run: python -m pytest *", ["python -m pytest x"], ["python x"]),
        ("run: make test-*", ["make test-a"], ["make", "make test-a b", "make install"]),
        ("run: * --version", ["git --version"], ["git", "git status --version"]),
        ("run: *", ["anything at all"], []),
    ],
)
def test_commands(rule: str, allowed: list[str], not_allowed: list[str]) -> None:
    rules = Rules([rule])
    assert all(rules.command_is_allowed(text.split()) for text in allowed)
    assert not any(rules.command_is_allowed(text.split()) for text in not_allowed)


@pytest.mark.parametrize(
    ("rule", "allowed", "not_allowed"),
    [
        (
            "edit: src/**",
            ["src/a.py", "src/b/c.py", "src/**", "src/b/**"],
            ["a.py", "srcs/a", "**"],
        ),
        ("edit: *.md", ["a.md"], ["docs/a.md", "a.py"]),
        ("edit: **/*.md", ["a.md", "docs/deep/a.md"], ["a.py"]),
        ("edit: **", ["a", "b/c", "**"], []),
        ("edit: *", ["a", "b/c", "**"], []),
        ("edit: a?.py", ["ab.py"], ["a/.py", "a.py"]),
        ("edit: a+(b).py", ["a+(b).py"], ["aab.py"]),
    ],
)
def test_files(rule: str, allowed: list[str], not_allowed: list[str]) -> None:
    rules = Rules([rule])
    assert all(rules.path_is_allowed("edit", path) for path in allowed)
    assert not any(rules.path_is_allowed("edit", path) for path in not_allowed)
    assert not any(rules.path_is_allowed("read", path) for path in allowed)


def test_what_is_forbidden() -> None:
    rules = Rules(["run: *", "!run: rm *", "!edit: secret/**"])
    assert str(rules.command_is_forbidden(["rm", "x"])) == "!run: rm *"
    assert rules.command_is_forbidden(["ls"]) is None
    assert str(rules.path_is_forbidden("edit", "secret/a")) == "!edit: secret/**"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("runn: x", 'rule 2, "runn: x", column 1: there is no "runn"; begin with read:, edit: or'),
        ("  pytest *", 'column 3: there is no "pytest"'),
        ("run", 'column 4: say what, as in "run: pytest *"'),
        ("edit:  ", 'column 5: say what, as in "edit: src/**"'),
        ("!read: x", "column 1: reading cannot be forbidden"),
        ("run: a\nb", "several lines"),
        ("", 'there is no ""'),
    ],
)
def test_rules_that_make_no_sense(text: str, sentence: str) -> None:
    with pytest.raises(BadRule) as caught:
        Rules(["run: ls", text])
    assert sentence in str(caught.value)


@given(st.text(max_size=60))
def test_any_text_is_a_rule_or_a_sentence(text: str) -> None:
    try:
        rules = parse_rule(text)
    except BadRule:
        return
    for rule in rules:
        assert parse_rule(str(rule)) == (rule,)
        rule.fits_path("a/b")
        rule.fits_words(["a", "b"])


def test_several_commands_in_one_rule() -> None:
    assert parse_rule("run: ruff  check * && pytest *") == (
        Rule("run", "ruff check *"),
        Rule("run", "pytest *"),
    )


def test_rules_for_this_session() -> None:
    rules = Rules()
    rules.allow("run: a * && b *")
    rules.allow("run: a *")
    assert list(map(str, rules)) == ["run: a *", "run: b *"]
    assert rules.command_is_allowed(["b"])


def test_rules_are_written_into_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    remember("run: pytest *", path)
    text = path.read_text()
    path.write_text(
        text.replace('"run: pytest *"', '\n    # for tests\n    "run: pytest *",\n')
        + '\n[screen]\ntheme = "gemma-light"  # mine\n'
    )
    remember("run: ruff check * && pytest *", path)
    remember("edit: src/**", path)
    remember("edit: src/**", path)
    loaded = load_settings(path, {})
    assert loaded.agent.rules == ["run: pytest *", "run: ruff check *", "edit: src/**"]
    assert loaded.screen.theme == "gemma-light"
    assert "# for tests" in path.read_text() and "# mine" in path.read_text()


def test_settings_with_rules_of_another_type(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('[agent]\nrules = "run: x"\n')
    with pytest.raises(BadSettings, match=r'line 2, .*rules must be a list such as \["run: '):
        load_settings(path, {})


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("read,edit,run:pytest", ("read: *", "edit: *", "run: pytest *")),
        ("run:npm run test", ("run: npm run test *",)),
        ("run: echo a,b *,edit:src/**", ("run: echo a,b *", "edit: src/**")),
        ("edit, run", ("edit: *", "run: *")),
    ],
)
def test_what_is_allowed_on_the_command_line(text: str, rules: tuple[str, ...]) -> None:
    assert parse_allowed(text) == rules


@pytest.mark.parametrize("text", ["", "write", "read,delete:x", "run:", "!run:x,"])
def test_what_cannot_be_allowed_on_the_command_line(text: str) -> None:
    with pytest.raises(BadRule, match="--allow"):
        parse_allowed(text)
