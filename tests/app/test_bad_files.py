"""Files that cannot work: one sentence, exit status 3, and llama.cpp never sees them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.app.running import FAST, Command
from tests.ggufs import Pair, build, script


def cut(pair: Pair, folder: Path) -> Path:
    path = folder / "cut.gguf"
    path.write_bytes(pair.target.read_bytes()[:-5000])
    return path


def written(name: str, content: bytes) -> Callable[[Pair, Path], Path]:
    def write(_pair: Pair, folder: Path) -> Path:
        path = folder / name
        path.write_bytes(content)
        return path

    return write


BAD_TARGETS: dict[str, tuple[Callable[[Pair, Path], Path], str]] = {
    "missing": (lambda _pair, folder: folder / "none.gguf", "none.gguf"),
    "folder": (lambda _pair, folder: folder, ""),
    "empty": (written("empty.gguf", b""), "empty"),
    "web page": (written("page.gguf", b"<!doctype html><html>"), "web page"),
    "pointer": (written("lfs.gguf", b"version https://git-lfs.github.com/spec/v1\n"), "LFS"),
    "zip": (written("zip.gguf", b"PK\x03\x04" + bytes(100)), "zip"),
    "noise": (written("noise.gguf", bytes(range(256)) * 8), "GGUF"),
    "cut short": (cut, "cut short"),
    "a drafter": (lambda pair, _folder: pair.drafter, "--drafter"),
}


@pytest.mark.parametrize("case", BAD_TARGETS)
def test_a_bad_target(command: Command, story: Pair, tmp_path: Path, case: str) -> None:
    make, hint = BAD_TARGETS[case]
    done = command.run("--model", make(story, tmp_path), "-p", "x", *FAST)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("gemma-local: ")
    assert done.stderr.count("\n") == 1
    assert hint in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def stranger(ggufs: Path) -> Pair:
    """A pair of another size."""
    return build("dense", script(["Hi", "."]), ggufs / "stranger", width=256)


@pytest.mark.parametrize("case", ["a target", "another size", "web page", "missing"])
def test_a_bad_drafter(
    command: Command, story: Pair, stranger: Pair, tmp_path: Path, case: str
) -> None:
    page = tmp_path / "page.gguf"
    page.write_bytes(b"<!doctype html>")
    drafters = {
        "a target": story.target,
        "another size": stranger.drafter,
        "web page": page,
        "missing": tmp_path / "none.gguf",
    }
    # A drafter that is named is looked at even if it is not to be used.
    more = ["--draft", "off"] if case == "missing" else []
    ask = ("--model", story.target, "--drafter", drafters[case], "-p", "x", *FAST, *more)
    done = command.run(*ask)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


def test_drafters_that_do_not_fit_are_passed_over(
    command: Command, story: Pair, stranger: Pair, tmp_path: Path
) -> None:
    model = Path(shutil.copy(story.target, tmp_path / "model.gguf"))
    shutil.copy(stranger.drafter, tmp_path / "mtp-model.gguf")
    (tmp_path / "broken.gguf").write_bytes(b"GGUF")
    assert command.json("--model", model, "-p", "x", *FAST)["drafter"] is None


@pytest.mark.parametrize("form", ["json", "stream-json"])
def test_programs_get_an_object(command: Command, tmp_path: Path, form: str) -> None:
    done = command.run("--model", tmp_path / "none.gguf", "-p", "x", f"--output={form}")
    said = json.loads(done.stdout)
    assert (done.returncode, said["exit_code"]) == (3, 3)
    assert done.stderr == f"gemma-local: {said['error']}\n"
    assert ("type" in said) == (form == "stream-json")
    wrong = command.run("--output", form, "--draft", "many")
    assert json.loads(wrong.stdout)["exit_code"] == wrong.returncode == 2


def test_a_prompt_that_does_not_fit_the_context(command: Command, story: Pair) -> None:
    done = command.run("--model", story.target, "-p", "hello " * 200, *FAST, "--ctx", 64)
    assert (done.returncode, done.stdout) == (1, "")
    assert "--ctx" in done.stderr
    assert done.stderr.count("\n") == 1


def test_more_threads_than_processors(command: Command, story: Pair) -> None:
    done = command.run("--model", story.target, "-p", "x", "--threads", "1000")
    assert (done.returncode, done.stdout) == (2, "")
    assert "CPUs" in done.stderr
    assert done.stderr.count("\n") == 1
