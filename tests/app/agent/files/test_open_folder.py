"""What is done in a folder happens there, whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from gemma_local.app.agent.files.open_folder import OpenFolder

posix = pytest.mark.skipif(os.name == "nt", reason="modes, links and special files of POSIX")


def test_a_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    with OpenFolder(tmp_path) as folder:
        folder.write("file", b"new")
        assert folder.read("file") == b"new"
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@posix
@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o444])
def test_the_mode_stays(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "file"
    path.touch()
    path.chmod(mode)
    with OpenFolder(tmp_path) as folder:
        folder.write("file", b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@posix
def test_a_new_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        with OpenFolder(tmp_path) as folder:
            folder.write("file", b"new")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt" or os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()
    os.chown(path, 12345, 23456)
    with OpenFolder(tmp_path) as folder:
        folder.write("file", b"new")
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 23456)


@posix
def test_the_folder_stays_the_one_that_was_opened(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    with OpenFolder(inside) as folder:
        inside.rename(tmp_path / "moved")
        inside.symlink_to(outside)
        folder.write("file", b"new")
    assert not list(outside.iterdir())
    assert (tmp_path / "moved" / "file").read_bytes() == b"new"


@posix
@pytest.mark.parametrize("level", ["folder", "above"])
def test_a_link_on_the_way_is_not_followed(tmp_path: Path, level: str) -> None:
    tmp_path = tmp_path.resolve()
    (tmp_path / "outside" / "folder").mkdir(parents=True)
    if level == "above":
        (tmp_path / "above").symlink_to(tmp_path / "outside")
    else:
        (tmp_path / "above").mkdir()
        (tmp_path / "above" / "folder").symlink_to(tmp_path / "outside" / "folder")
    for create in (False, True):
        with (
            pytest.raises(OSError, match=r"."),
            OpenFolder(tmp_path / "above/folder", create=create),
        ):
            pass


@posix
def test_a_link_in_place_of_a_file_is_neither_read_nor_written(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"theirs")
    (tmp_path / "file").symlink_to("secret")
    with OpenFolder(tmp_path.resolve()) as folder:
        with pytest.raises(OSError, match=r"."):
            folder.read("file")
        with pytest.raises(OSError, match="not an ordinary file"):
            folder.write("file", b"ours")
    assert (tmp_path / "secret").read_bytes() == b"theirs"


@posix
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with OpenFolder(tmp_path.resolve()) as folder, pytest.raises(OSError, match="ordinary"):
        folder.read("pipe")


@pytest.mark.parametrize("name", ["", ".", "..", "a/b"])
def test_only_names_are_taken(tmp_path: Path, name: str) -> None:
    with (
        OpenFolder(tmp_path.resolve()) as folder,
        pytest.raises(OSError, match="not a file's name"),
    ):
        folder.write(name, b"")


def test_a_long_name(tmp_path: Path) -> None:
    name = "x" * 250 + ".py"
    with OpenFolder(tmp_path.resolve()) as folder:
        folder.write(name, b"long")
    assert (tmp_path / name).read_bytes() == b"long"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a disk that is full")
def test_what_fails_leaves_the_file_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"old")

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with OpenFolder(tmp_path.resolve()) as folder, pytest.raises(OSError, match="No space"):
        folder.write("file", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_bytes() == b"old"
