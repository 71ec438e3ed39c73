"""`packaging/leftovers.py` on a small tree with one of each kind."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "packaging"

CODE = '''\
"""Says why ``forgotten`` is not called."""
from functools import cache
from somewhere import register

LIMIT = 3
UNUSED = 4
TESTED = 5


def main() -> int:
    return LIMIT + helper() + getattr(Thing(), "by_its_name")()


@cache
def helper() -> int:
    return 1


def forgotten() -> int:
    return 2


@register
def handed_over() -> None: ...


class Thing:
    def __len__(self) -> int:
        return 0

    def on_key(self) -> None: ...

    def by_its_name(self) -> int:
        return 1

    def orphan(self) -> None: ...


main()
'''


@pytest.fixture
def leftovers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(SCRIPTS)
    monkeypatch.delitem(sys.modules, "leftovers", raising=False)
    return importlib.import_module("leftovers")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for folder in ("app", "engine", "models", "packaging", "tests"):
        (tmp_path / folder).mkdir()
    (tmp_path / "packaging" / "script.py").write_text(CODE)
    (tmp_path / "tests" / "test_it.py").write_text("from script import TESTED\n")
    return tmp_path


def test_what_nothing_uses_is_found(leftovers: ModuleType, root: Path) -> None:
    found = leftovers.left_over(root, tests_count=True)
    assert [line.rpartition(" ")[2] for line in found] == ["UNUSED", "forgotten", "Thing.orphan"]
    assert found[0] == "packaging/script.py:6: nothing uses UNUSED"


def test_so_is_what_nothing_but_tests_use(leftovers: ModuleType, root: Path) -> None:
    found = leftovers.left_over(root, tests_count=False)
    assert "packaging/script.py:7: nothing but tests use TESTED" in found
    assert len(found) == 4


def test_a_method_that_a_library_calls_is_used(leftovers: ModuleType) -> None:
    root = SCRIPTS.parent
    file = root / "app" / "tui" / "app.py"
    found = leftovers.definitions(file, leftovers.ast.parse(file.read_text(encoding="utf-8")))
    taken = {each.name for each in found if leftovers.is_called_by_others(each, root)}
    # Textual's App has one of its own; nothing here calls it.
    assert "_fatal_error" in taken


def test_a_file_that_is_too_long_is_found(leftovers: ModuleType, root: Path) -> None:
    assert leftovers.too_long(root) == []
    (root / "tests" / "test_it.py").write_text("x = 1\n" * 401)
    assert leftovers.too_long(root) == ["tests/test_it.py: 401 lines, and 400 are allowed"]
