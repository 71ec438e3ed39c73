"""Files with states: found again, never trusted unseen, never more than allowed."""

from __future__ import annotations

import os
import random
import shutil
import stat
import subprocess
import sys
import time
from array import array
from collections import namedtuple
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.engine import saved_states
from gemma_local.engine.saved_states import (
    Part,
    SavedStates,
    StatesUnusable,
    file_identity,
    remove,
    usage,
)

TOKENS = array("i", range(100, 150))
PARTS = [(Part(50, 18, 3000), bytes(range(250)) * 12), (Part(40, 8, 500), b"\x07" * 500)]


def states(folder: Path, limit: int = 1 << 20, key: str = "model") -> SavedStates:
    return SavedStates(folder, limit, key)


def save(kept: SavedStates, session: str = "s", parts=PARTS) -> int:  # type: ignore[no-untyped-def]
    return kept.save(session, TOKENS, 33, parts)


def only_file(folder: Path) -> Path:
    [path] = folder.iterdir()
    return path


def test_what_was_saved_is_found_by_another_process(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "states"
    size = save(states(folder))
    [state] = states(folder).entries()
    assert (state.session, state.tokens, state.exact) == ("s", TOKENS, 33)
    assert state.parts == tuple(part for part, _data in PARTS)
    assert states(folder).load(state) == [bytearray(data) for _part, data in PARTS]
    assert size == state.size == only_file(folder).stat().st_size
    assert usage(folder) == (1, size)


@pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")
def test_nobody_else_may_read_what_was_said(tmp_path: Path) -> None:
    save(states(tmp_path / "states"))
    assert stat.S_IMODE(only_file(tmp_path / "states").stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "states").stat().st_mode) == 0o700


@given(st.text())
def test_any_label_makes_a_plain_file_name(session: str) -> None:
    path = saved_states._path(Path("states"), session)
    assert path.parent == Path("states")
    assert saved_states._FILE.fullmatch(path.name)


@pytest.mark.parametrize("session", ["../../etc/passwd", "a/b", "CON", "\0", "\ud800", "x" * 5000])
def test_a_label_from_outside_stays_in_the_folder(tmp_path: Path, session: str) -> None:
    kept = states(tmp_path / "states")
    save(kept, session)
    assert [state.session for state in kept.entries()] == [session]
    assert [path.name for path in tmp_path.iterdir()] == ["states"]
    remove(tmp_path / "states", session)
    assert usage(tmp_path / "states") == (0, 0)


def test_a_session_has_one_file(tmp_path: Path) -> None:
    kept = states(tmp_path)
    save(kept)
    save(kept, parts=PARTS[:1])
    [state] = kept.entries()
    assert len(state.parts) == 1


def test_removing_what_is_not_there_is_no_error(tmp_path: Path) -> None:
    remove(tmp_path, "nobody")
    remove(tmp_path / "nowhere", "nobody")
    assert usage(tmp_path / "nowhere") == (0, 0)


# ------------------------------------------------------------------------------------------ damage


def whole_file(folder: Path) -> tuple[Path, bytes]:
    save(states(folder))
    path = only_file(folder)
    return path, path.read_bytes()


def is_trusted(folder: Path) -> bool:
    """Whether anything of the folder's files reaches the caller."""
    kept = states(folder)
    return any(kept.load(state) is not None for state in kept.entries())


def test_a_flipped_bit_anywhere_is_noticed(tmp_path: Path) -> None:
    path, whole = whole_file(tmp_path)
    places = {*range(120), *range(len(whole) - 40, len(whole))}
    places |= {random.Random(1).randrange(len(whole)) for _ in range(300)}
    for place in places:
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        assert not is_trusted(tmp_path), place
        # Another version's file may be of use to that version: it stays.
        assert path.exists() == (place == 7), place
    path.write_bytes(whole)
    assert is_trusted(tmp_path)


def test_a_file_that_ends_early_or_late_is_removed(tmp_path: Path) -> None:
    path, whole = whole_file(tmp_path)
    for length in (*range(0, len(whole), 37), len(whole) - 1):
        path.write_bytes(whole[:length])
        assert not is_trusted(tmp_path) and not path.exists(), length
    path.write_bytes(whole + b"\0")
    assert not is_trusted(tmp_path) and not path.exists()


@settings(max_examples=300)
@given(st.binary(max_size=400), st.booleans())
def test_any_bytes_are_harmless(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, begins_right: bool
) -> None:
    folder = tmp_path_factory.getbasetemp() / "garbage"
    folder.mkdir(exist_ok=True)
    path = saved_states._path(folder, "s")
    path.write_bytes(saved_states._MAGIC * begins_right + data)
    assert not is_trusted(folder)


def test_brackets_without_end_are_harmless(tmp_path: Path) -> None:
    header = b"[" * 100_000
    path = saved_states._path(tmp_path, "s")
    path.write_bytes(saved_states._HEAD.pack(saved_states._MAGIC, len(header)) + header)
    assert not is_trusted(tmp_path) and not path.exists()


def test_foreign_files_are_left_alone(tmp_path: Path) -> None:
    for name in ("notes.txt", "x.state", "A" * 32 + ".state"):
        (tmp_path / name).write_text("mine")
    (tmp_path / f"{'a' * 32}.state").mkdir()
    assert states(tmp_path).entries() == []
    assert len(list(tmp_path.iterdir())) == 4
    assert usage(tmp_path) == (0, 0)


def test_a_state_of_another_model_is_neither_used_nor_removed(tmp_path: Path) -> None:
    save(states(tmp_path, key="one"))
    assert states(tmp_path, key="two").entries() == []
    assert len(states(tmp_path, key="one").entries()) == 1


def test_a_file_that_goes_away_meanwhile_is_gone(tmp_path: Path) -> None:
    kept = states(tmp_path)
    save(kept)
    [state] = kept.entries()
    remove(tmp_path, "s")
    assert kept.load(state) is None
    assert kept.entries() == []


def test_a_file_that_changes_meanwhile_is_not_mixed_up(tmp_path: Path) -> None:
    kept = states(tmp_path)
    save(kept)
    [state] = kept.entries()
    states(tmp_path).save("s", TOKENS[:40], 0, PARTS)
    assert kept.load(state) is None
    [state] = kept.entries()
    assert len(state.tokens) == 40


def test_a_model_file_is_known_by_its_content_and_its_time(tmp_path: Path) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(b"a" * 100)
    first = file_identity(path)
    assert file_identity(path) == first
    os.utime(path, ns=(1, 1))
    second = file_identity(path)
    path.write_bytes(b"b" * 100)
    os.utime(path, ns=(1, 1))
    assert len({first, second, file_identity(path)}) == 3


# ------------------------------------------------------------------------------------------- room


def in_the_past(folder: Path, session: str, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(saved_states._path(folder, session), (then, then))


def test_the_ones_not_used_for_longest_make_room(tmp_path: Path) -> None:
    one = save(states(tmp_path), "a")
    kept = states(tmp_path, limit=3 * one + 50)
    for session, age in (("a", 30), ("b", 20), ("c", 10)):
        save(kept, session)
        in_the_past(tmp_path, session, age)
    [state] = [state for state in kept.entries() if state.session == "a"]
    assert kept.load(state) is not None  # a was of use just now
    save(kept, "d")
    assert sorted(state.session for state in kept.entries()) == ["a", "c", "d"]
    assert usage(tmp_path)[1] <= kept.limit


def test_one_that_is_written_again_does_not_push_out_others(tmp_path: Path) -> None:
    one = save(states(tmp_path), "a")
    kept = states(tmp_path, limit=2 * one)
    for session in ("a", "b", "a", "b", "a"):
        assert save(kept, session) == one
        assert usage(tmp_path)[1] <= kept.limit
    assert sorted(state.session for state in kept.entries()) == ["a", "b"]


def test_one_that_is_larger_than_all_may_be_is_not_written(tmp_path: Path) -> None:
    small = save(states(tmp_path), "a")
    assert save(states(tmp_path, limit=small - 1), "b") == 0
    assert usage(tmp_path) == (1, small)


Disk = namedtuple("Disk", "total used free")


def test_a_full_disk_is_not_filled_further(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = save(states(tmp_path), "a")
    gib = 1 << 30
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Disk(100 * gib, 0, gib + one // 2))
    assert save(states(tmp_path), "b") > 0  # a made room
    assert [state.session for state in states(tmp_path).entries()] == ["b"]
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Disk(100 * gib, 0, gib // 2))
    assert save(states(tmp_path), "c") == 0
    assert [state.session for state in states(tmp_path).entries()] == ["b"]  # not for nothing
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Disk(2 * gib, 0, gib // 2))
    assert save(states(tmp_path), "c") > 0  # 5 % of a small disk is less


def test_what_a_dead_process_left_half_written_goes(tmp_path: Path) -> None:
    old, new = tmp_path / "x.1.part", tmp_path / "y.2.part"
    for path in (old, new):
        path.write_bytes(b"z" * 100)
    os.utime(old, (1, 1))
    size = save(states(tmp_path))
    assert not old.exists() and new.exists()
    assert usage(tmp_path) == (1, size + 100)


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to_is_a_sentence(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(StatesUnusable, match="cannot be kept in"):
        save(states(tmp_path))
    tmp_path.chmod(0o700)


def test_a_folder_that_is_a_file_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "states").write_text("")
    with pytest.raises(StatesUnusable, match="cannot be kept in"):
        save(states(tmp_path / "states"))
    assert states(tmp_path / "states").entries() == []


def test_a_write_that_fails_leaves_the_last_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = states(tmp_path)
    save(kept)
    with pytest.raises(TypeError):
        save(kept, parts=[(Part(50, 18, 3000), PARTS[0][1]), (Part(1, 1, 1), None)])
    assert is_trusted(tmp_path)
    assert len(list(tmp_path.iterdir())) == 1


def test_deleting_a_state_needs_neither_llama_nor_numpy() -> None:
    code = (
        "import sys, gemma_local.engine.saved_states\n"
        "assert not {'llama_cpp', 'numpy'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
