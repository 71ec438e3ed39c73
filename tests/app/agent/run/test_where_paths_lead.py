"""What is asked for because of where a path of a command leads."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gemma_local.app.agent.run.judgement import judged
from gemma_local.app.agent.run.shell_reader import Word
from gemma_local.app.agent.run.surroundings import Surroundings

pytestmark = pytest.mark.skipif(os.name == "nt", reason="links of POSIX")


@pytest.fixture
def work(tmp_path: Path) -> Surroundings:
    """A workspace with secrets, and with links that lead out of it."""
    root, outside = tmp_path.resolve() / "work", tmp_path.resolve() / "outside"
    for path in ("work/src/a.py", "work/src/.env", "work/tls/server.key", "work/build/x", "beside"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    (outside / "folder" / "deep").mkdir(parents=True)
    (outside / "folder" / "file").write_text("theirs")
    (root / "src" / "out").symlink_to(outside / "folder" / "deep")
    (root / "src" / "other.py").symlink_to(outside / "folder" / "file")
    (root / "notes.txt").symlink_to("src/.env")
    (root / "build" / "in").symlink_to(root / "src")
    return Surroundings((root,), root, tmp_path.resolve() / "temporary", is_confined=True)


@pytest.mark.parametrize(
    ("text", "is_free"),
    [
        ("cat src/a.py", True),
        ("cat src/a*.py", True),
        ("cat build/[x]*", True),
        ("cat src/*.md", True),
        ("ls src/* tls/*", False),
        ("ls tls/*", True),
        ("cat src/*.py", False),
        ("cat src/*/../file", False),
        ("cat src/[o]*", False),
        ('cat src/"o"*', False),
        ("cat src/out/../file", False),
        ("cd src/out/.. && ls", False),
        ("cat tls/*", False),
        ("cat tls/serv*", False),
        ("cat t*/*", False),
        ("cat src/.e*", False),
        ("cat src/.?n*", False),
        ("cat */.env", False),
        ("cat src/.*/../../beside", False),
        ("cat notes.txt", False),
        ("cat <notes.txt", False),
        ("ls notes.txt", True),
    ],
)
def test_what_only_looks(work: Surroundings, text: str, *, is_free: bool) -> None:
    assert judged(text, work).only_looks == is_free


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("cp tls/* backup", "secrets: "),
        ("cp notes.txt backup", "secrets: "),
        ("cp src/.e* backup", "secrets: "),
        ("wc -l src/a*", ""),
        ("ls tls/*", ""),
        ("echo x >src/out/../file", "outside the workspace: "),
        ("touch src/out/x", "outside the workspace: "),
        ("rm -rf build/x", ""),
        ("rm -rf build/in/a.py", "deletes files"),
        ("rm -rf build/in/../src", "deletes files"),
        ("rm -rf build/in", ""),
    ],
)
def test_what_is_asked_for(work: Surroundings, text: str, why: str) -> None:
    said = judged(text, work).why
    assert (why in said) if why else not said


def test_a_place_that_is_not_where_it_seems_is_told(work: Surroundings) -> None:
    there = work.roots[0].parent / "outside" / "folder" / "file"
    assert work.leads_out(Word("src/out/../file"), [work.folder]) == str(there)


def test_more_files_than_are_looked_at_are_asked_for(work: Surroundings) -> None:
    (work.folder / "many").mkdir()
    for number in range(2_100):
        (work.folder / "many" / f"{number}").touch()
    assert not judged("cat many/*", work).only_looks
