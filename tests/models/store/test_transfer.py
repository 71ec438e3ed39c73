"""Models on a medium, and the way back."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from gemma_local.models.store import disk, transfer
from gemma_local.models.store.errors import BadTransfer, NoSpace, WrongContent
from gemma_local.models.store.file_record import FileRecord
from gemma_local.models.store.transfer import MANIFEST, export_models, import_models
from tests.models.store import local_files as make


@pytest.fixture
def stick(tmp_path: Path) -> Path:
    """An export of a split model and its drafter."""
    parts = make.split_target(tmp_path / "here")
    sources = [("big", path) for path in parts] + [("big", make.drafter(tmp_path / "here"))]
    export_models(sources, tmp_path / "stick")
    return tmp_path / "stick"


@pytest.fixture
def record(tmp_path: Path) -> FileRecord:
    return FileRecord(tmp_path / "verified.json")


def test_what_went_out_comes_in(stick: Path, tmp_path: Path, record: FileRecord) -> None:
    counted: list[int] = []
    paths = import_models(stick, tmp_path / "there", record, counted.append)
    assert sorted(path.name for path in paths) == sorted(
        p.name for p in (tmp_path / "here").iterdir()
    )
    for path in paths:
        assert path.read_bytes() == (tmp_path / "here" / path.name).read_bytes()
        assert record.get(path) is not None
    assert sum(counted) == sum(path.stat().st_size for path in paths)
    # Once more changes nothing and copies nothing.
    counted.clear()
    assert import_models(stick, tmp_path / "there", record, counted.append) == paths
    assert not counted


def test_an_export_grows(stick: Path, tmp_path: Path, record: FileRecord) -> None:
    export_models([("more", make.target(tmp_path / "more", "more.gguf"))], stick)
    assert len(import_models(stick, tmp_path / "there", record)) == 5


def test_a_changed_file_is_not_taken_in(stick: Path, tmp_path: Path, record: FileRecord) -> None:
    content = bytearray((stick / "draft.gguf").read_bytes())
    content[len(content) // 2] ^= 1
    (stick / "draft.gguf").write_bytes(content)
    with pytest.raises(WrongContent, match=r"draft\.gguf was changed or damaged"):
        import_models(stick, tmp_path / "there", record)
    assert not [p for p in (tmp_path / "there").iterdir() if p.name.startswith("draft")]


def test_a_missing_part_is_named_before_anything_is_copied(
    stick: Path, tmp_path: Path, record: FileRecord
) -> None:
    (stick / "big-00002-of-00003.gguf").unlink()
    with pytest.raises(BadTransfer, match="big-00002-of-00003"):
        import_models(stick, tmp_path / "there", record)
    assert not (tmp_path / "there").exists()


def test_another_file_of_that_name_stays(stick: Path, tmp_path: Path, record: FileRecord) -> None:
    mine = make.target(tmp_path / "there", "draft.gguf")
    content = mine.read_bytes()
    with pytest.raises(BadTransfer, match="is another file"):
        import_models(stick, tmp_path / "there", record)
    assert mine.read_bytes() == content and len(list(mine.parent.iterdir())) == 1


@pytest.mark.parametrize(
    ("manifest", "sentence"),
    [
        (None, "is no export"),
        ("{", "cannot be read"),
        ("[]", "cannot be read"),
        ('{"version": 1, "files": [{"file": "a"}]}', "cannot be read"),
        ('{"version": 2, "files": []}', "another version"),
        (
            json.dumps(
                {"version": 1,
                 "files": [{"file": "../x", "bytes": 1, "sha256": "0", "model": "m"}]}
            ),
            "outside",
        ),
    ],
)  # fmt: skip
def test_what_is_no_export(
    tmp_path: Path, record: FileRecord, manifest: str | None, sentence: str
) -> None:
    if manifest is not None:
        (tmp_path / MANIFEST).write_text(manifest)
    with pytest.raises(BadTransfer, match=sentence):
        import_models(tmp_path, tmp_path / "there", record)


def test_two_files_of_one_name_need_two_folders(tmp_path: Path) -> None:
    sources = [(name, make.target(tmp_path / name)) for name in ("a", "b")]
    with pytest.raises(BadTransfer, match=r"target\.gguf; export them into folders"):
        export_models(sources, tmp_path / "stick")
    assert not (tmp_path / "stick").exists()


def test_a_stick_that_cannot_hold_such_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make.target(tmp_path / "here")
    monkeypatch.setattr(disk, "FAT_LIMIT", 1000)
    monkeypatch.setattr(disk, "_file_system", lambda folder: "vfat")
    with pytest.raises(NoSpace, match=r"FAT32.*exFAT"):
        export_models([("target", path)], tmp_path / "stick")
    assert not (tmp_path / "stick").exists()


def test_the_file_system_of_a_folder_is_that_of_its_innermost_mount(tmp_path: Path) -> None:
    assert disk._file_system(Path("/proc/self") if Path("/proc/self").exists() else tmp_path)
    assert disk._file_system(tmp_path / "not" / "there" / "yet") == disk._file_system(tmp_path)


def test_a_stick_that_is_full_keeps_no_half_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make.target(tmp_path / "here")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("gemma_local.models.store.placing.os.fsync", full)
    with pytest.raises(NoSpace, match="is full"):
        export_models([("target", path)], tmp_path / "stick")
    assert list((tmp_path / "stick").iterdir()) == []
    with pytest.raises(BadTransfer):
        transfer.read_export(tmp_path / "stick")
