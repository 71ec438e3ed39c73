"""Paths as people give them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.models.given_path import given_path


def test_a_tilde_is_the_home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert given_path("~/a.gguf") == tmp_path / "a.gguf"
    assert given_path("b/~c") == Path("b/~c")


def test_a_home_that_nobody_has_is_a_name() -> None:
    assert given_path("~no such person/a.gguf") == Path("~no such person/a.gguf")
