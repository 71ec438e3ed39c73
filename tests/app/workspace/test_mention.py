from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.workspace.mention import mention_of, mentions, shown_path


def test_what_is_a_mention_and_what_is_not(tmp_path: Path) -> None:
    for name in ("a.py", "b c.md", "odd)", "x:1-2", "src/deep.py", "Makefile"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    text = (
        '@a.py, and (@src/deep.py) or "@Makefile"; @"b c.md":3-9 @a.py:10-40. @a.py:7\n'
        "@odd) me@a.py @nobody @src/gone.py @x:1-2 @a.py:9-5 @@a.py @dataclass a,@a.py"
    )
    found = [
        (mention.path, mention.target is not None, mention.lines)
        for mention in mentions(text, tmp_path)
    ]
    assert found == [
        ("a.py", True, None),
        ("src/deep.py", True, None),
        ("Makefile", True, None),
        ("b c.md", True, (3, 9)),
        ("a.py", True, (10, 40)),
        ("a.py", True, (7, 7)),
        ("odd)", True, None),
        ("nobody", False, None),
        ("src/gone.py", False, None),
        ("x:1-2", True, None),
        ("a.py", True, (5, 9)),
        ("dataclass", False, None),
        ("a.py", True, None),
    ]


@pytest.mark.parametrize(
    ("path", "meant"), [("src/gone", True), ("gone.py", True), ("property", False), ("me", False)]
)
def test_a_path_looks_meant(tmp_path: Path, path: str, *, meant: bool) -> None:
    (mention,) = mentions(f"see @{path}", tmp_path)
    assert mention.target is None and mention.looks_meant is meant


@given(st.text(st.characters(blacklist_characters='"/\\\0', blacklist_categories=("Cc", "Cs"))))
def test_a_file_that_is_mentioned_is_found(
    tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    name = f"{name[:40]}x"
    folder = tmp_path_factory.mktemp("mentions")
    (folder / name).touch()
    for text in (mention_of(name), f"see {mention_of(name)} and", f"({mention_of(name)})"):
        found = [mention.target for mention in mentions(text, folder) if mention.target]
        assert folder / name in found


def test_a_path_is_shown_as_seen_from_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "me")
    folder = tmp_path / "me" / "work"
    assert shown_path(folder / "a" / "b.py", folder) == "a/b.py"
    assert shown_path(tmp_path / "me" / "notes.md", folder) == "~/notes.md"
    assert shown_path(tmp_path / "else" / "b.py", folder) == str(tmp_path / "else" / "b.py")
