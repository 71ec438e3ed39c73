"""Which models are there, what they are called, and what happens to their files."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from huggingface_hub import scan_cache_dir

from gemma_local.models import drafter as drafter_module
from gemma_local.models.errors import BadModelFile
from gemma_local.models.store import disk, library, model_file
from gemma_local.models.store.checksum import sha256_of
from gemma_local.models.store.errors import NoSpace, NoSuchModel, StoreError
from gemma_local.models.store.file_record import FileRecord
from gemma_local.models.store.hub_cache import HubCache
from gemma_local.models.store.library import Library
from gemma_local.models.store.verify import verify
from tests.models.store import local_files as make


@pytest.fixture
def models(tmp_path: Path) -> Library:
    return Library(tmp_path / "models", HubCache(tmp_path / "hub"))


def names(models: Library) -> list[str]:
    return [entry.name for entry in models.models()]


# ------------------------------------------------------------------------------- what is there


def test_files_are_told_by_their_content(models: Library, tmp_path: Path) -> None:
    # Every name says the wrong thing.
    models.add(make.target(tmp_path, "mtp-drafter.gguf"))
    models.add(make.drafter(tmp_path, "gemma-chat.gguf"))
    models.add(make.projector(tmp_path, "target.gguf"))
    kinds = {entry.name: entry.header.kind for entry in models.models()}
    assert kinds == {"mtp-drafter": "model", "gemma-chat": "drafter", "target": "projector"}
    entry = models.find("mtp-drafter")
    assert entry.is_gemma4 and entry.header.quantisation == "F32"
    assert entry.header.bytes == entry.path.stat().st_size


def test_what_cannot_be_used_is_not_added(models: Library, tmp_path: Path) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(b"<html>login</html>")
    with pytest.raises(BadModelFile, match="web page"):
        models.add(bad)
    with pytest.raises(BadModelFile, match="does not exist"):
        models.add(tmp_path / "nothing.gguf")
    assert names(models) == []


def test_a_file_that_went_bad_is_listed_with_its_sentence(models: Library, tmp_path: Path) -> None:
    cut, gone = make.target(tmp_path, "cut.gguf"), make.target(tmp_path, "gone.gguf")
    models.add(cut)
    models.add(gone)
    cut.write_bytes(cut.read_bytes()[:-100])
    gone.unlink()
    problems = {entry.name: entry.header.problem for entry in models.models()}
    assert "100" in problems["cut"] and "cut short" in problems["cut"]
    assert "does not exist" in problems["gone"]
    models.remove(models.find("gone"))
    assert names(models) == ["cut"] and cut.exists()


def test_the_cache_of_the_hub_is_listed(models: Library, tmp_path: Path) -> None:
    source = make.target(tmp_path)
    make.cached(models.cache, "maker/one", "a", "one.gguf", source)
    make.cached(models.cache, "maker/one", "a", "MTP/draft.gguf", make.drafter(tmp_path))
    # The same content under a later commit is the same file.
    newer = make.cached(models.cache, "maker/one", "b", "one.gguf", source)
    os.utime(newer.parent, (2e9, 2e9))
    entry = models.find("one")
    assert entry.where == "maker/one@bbbbbbbb" and entry.origin == "hub"
    assert names(models) == ["draft", "one"]
    # A link whose blob somebody deleted is no file.
    newer.resolve().unlink()
    assert names(models) == ["draft"]


def test_a_split_model_is_one_model(models: Library, tmp_path: Path) -> None:
    first, second, third = make.split_target(tmp_path)
    entry = models.add(first)
    assert entry.name == "big" and entry.paths == (first, second, third)
    assert entry.header.bytes == sum(path.stat().st_size for path in (first, second, third))
    third.unlink()
    assert f"{third.name} is missing" in models.find("big").header.problem
    with pytest.raises(BadModelFile, match="Give the first one"):
        models.add(second)


def test_a_part_without_its_first_one_is_said_to_be_of_no_use(models: Library) -> None:
    make.split_target(models.files)
    assert names(models) == ["big"]
    (models.files / "big-00001-of-00003.gguf").unlink()
    assert {entry.header.kind for entry in models.models()} == {"unusable"}
    assert all("Give the first one" in entry.header.problem for entry in models.models())


def test_names_stay_apart_and_stay_the_same(models: Library, tmp_path: Path) -> None:
    make.cached(models.cache, "maker/one-GGUF", "a", "model.gguf", make.target(tmp_path))
    make.cached(models.cache, "maker/two-GGUF", "a", "model.gguf", make.drafter(tmp_path))
    assert names(models) == ["model@one-GGUF", "model@two-GGUF"]
    models.add(make.target(tmp_path / "x" / "same", "other.gguf"))
    models.add(make.target(tmp_path / "y" / "same", "other.gguf"))
    others = [name for name in names(models) if name.startswith("other")]
    assert len(set(others)) == 2 and all(name.startswith("other@same-") for name in others)
    assert [
        name for name in names(Library(models.folder, models.cache)) if name in others
    ] == others


def test_a_model_is_found_by_name_beginning_or_path(models: Library, tmp_path: Path) -> None:
    one = models.add(make.target(tmp_path, "gemma-E2B.gguf"))
    two = models.add(make.target(tmp_path, "gemma-E2B-qat.gguf"))
    assert models.find("GEMMA-e2b") == one
    assert models.find("gemma-E2B-q") == two
    assert models.find(str(two.path)) == two
    with pytest.raises(NoSuchModel, match=r"'gemma' may be 2 models"):
        models.find("gemma")
    record = FileRecord(models.folder / "headers.json")
    for count, sized in enumerate((two, one)):
        record.put(sized.path, asdict(replace(sized.header, size_label="E2B")))
        models = Library(models.folder, models.cache)
        if count == 0:
            assert models.find("e2b").path == two.path
    with pytest.raises(NoSuchModel, match=r"'E2B' may be 2 models"):
        models.find("E2B")
    with pytest.raises(NoSuchModel, match="did you mean gemma-E2B"):
        models.find("gemma-e2c")
    with pytest.raises(NoSuchModel, match="models list"):
        models.find("zzz")


def test_headers_are_read_once(
    models: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make.target(tmp_path)
    models.add(path)
    models.add(make.drafter(tmp_path / "elsewhere"))
    entries = models.models()
    found = [models.drafter_for(entry, entries) for entry in entries]

    def refuse(*_: object) -> None:
        raise AssertionError("a header was read again")

    monkeypatch.setattr(model_file, "inspect_target", refuse)
    monkeypatch.setattr(model_file, "inspect_drafter", refuse)
    monkeypatch.setattr(library, "inspect_target", refuse)
    again = Library(models.folder, models.cache)
    assert again.models() == entries
    assert [again.drafter_for(entry, entries) for entry in entries] == found
    # Not after a change.
    os.utime(path, ns=(1, 1))
    with pytest.raises(AssertionError, match="read again"):
        again.models()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"version": 99, "files": {}}', '{"files": 3}'])
def test_a_damaged_record_costs_time_only(models: Library, tmp_path: Path, text: str) -> None:
    models.add(make.target(tmp_path))
    before = models.models()
    for name in ("headers.json", "verified.json", "pairs.json"):
        (models.folder / name).write_text(text)
    again = Library(models.folder, models.cache)
    assert again.models() == before
    assert again.drafter_for(before[0], before) is None


def test_a_damaged_list_of_models_is_said_and_left_alone(models: Library, tmp_path: Path) -> None:
    models.add(make.target(tmp_path))
    added = models.folder / "added.json"
    added.write_text('{"files": [')
    with pytest.raises(StoreError, match="Repair or delete it"):
        models.models()
    assert added.read_text() == '{"files": ['


# --------------------------------------------------------------------------------------- pairs


def test_a_drafter_is_found_beside_or_anywhere_in_the_library(
    models: Library, tmp_path: Path
) -> None:
    models.add(make.target(tmp_path / "a"))
    (entry,) = models.models()
    assert models.drafter_for(entry, [entry]) is None
    far = models.add(make.drafter(tmp_path / "b"))
    entries = models.models()
    assert models.drafter_for(entry, entries) == far.path
    near = make.drafter(tmp_path / "a", "near.gguf")
    assert models.drafter_for(entry, entries) == near
    near.unlink()
    far.path.unlink()
    entries = models.models()
    assert models.drafter_for(entry, entries) is None


def test_a_drafter_of_another_size_is_not_taken(models: Library, tmp_path: Path) -> None:
    from tests.models.tiny_models import tiny_drafter, write

    odd = tiny_drafter()
    odd.metadata["gemma4-assistant.attention.sliding_window"] = 32
    models.add(make.target(tmp_path / "a"))
    other = models.add(write(tmp_path / "other.gguf", odd))
    assert other.header.kind == "drafter"
    assert drafter_module.inspect_drafter(other.path).sliding_window == 32
    entries = models.models()
    assert [models.drafter_for(entry, entries) for entry in entries] == [None, None]


# ------------------------------------------------------------------------------ add and remove


def test_a_copy_needs_its_original_no_more(models: Library, tmp_path: Path) -> None:
    parts = make.split_target(tmp_path / "stick")
    contents = [path.read_bytes() for path in parts]
    counted: list[int] = []
    entry = models.add(parts[0], copy=True, on_bytes=counted.append)
    assert sum(counted) == sum(map(len, contents))
    shutil.rmtree(tmp_path / "stick")
    assert [path.read_bytes() for path in entry.paths] == contents
    assert entry.origin == "store" and models.find("big").header.kind == "model"
    assert models.remove(models.find("big")) == sum(map(len, contents))
    assert names(models) == [] and not list(models.files.iterdir())


def test_a_copy_replaces_nothing_and_needs_room(
    models: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models.add(make.target(tmp_path / "a"), copy=True)
    other = make.drafter(tmp_path / "b", "target.gguf")
    with pytest.raises(StoreError, match=r"target\.gguf exists"):
        models.add(other, copy=True)
    monkeypatch.setattr(disk, "SPARE", 1 << 60)
    with pytest.raises(NoSpace):
        models.add(make.target(tmp_path / "c", "new.gguf"), copy=True)
    assert [path.name for path in models.files.iterdir()] == ["target.gguf"]


def test_a_reference_is_only_forgotten(models: Library, tmp_path: Path) -> None:
    path = make.target(tmp_path)
    entry = models.add(path)
    assert models.add(path) == entry and len(models.models()) == 1
    assert models.remove(entry) == 0
    assert names(models) == [] and path.exists()


def test_a_file_of_the_hub_goes_with_all_that_only_it_needs(
    models: Library, tmp_path: Path
) -> None:
    shared, own = make.target(tmp_path), make.drafter(tmp_path)
    for commit in "ab":
        make.cached(models.cache, "maker/one", commit, "one.gguf", shared)
    make.cached(models.cache, "maker/one", "b", "draft.gguf", own)
    kept = make.cached(models.cache, "maker/two", "c", "two.gguf", shared)
    size = shared.stat().st_size
    assert models.remove(models.find("one")) == size
    assert names(models) == ["draft", "two"] and kept.read_bytes() == shared.read_bytes()
    # What is left is a cache in good order.
    info = scan_cache_dir(models.cache.folder)
    assert not info.warnings and info.size_on_disk == size + own.stat().st_size
    assert models.remove(models.find("draft")) == own.stat().st_size
    models.remove(models.find("two"))
    assert names(models) == [] and not list(models.cache.folder.glob("models--*"))


def test_where_there_are_no_links_the_files_lie_in_the_snapshot(
    models: Library, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no links here")

    monkeypatch.setattr(Path, "symlink_to", refuse)
    source = make.target(tmp_path)
    path = make.cached(models.cache, "maker/one", "a", "one.gguf", source)
    assert not path.is_symlink() and path.read_bytes() == source.read_bytes()
    assert models.remove(models.find("one")) == source.stat().st_size
    assert not list(models.cache.folder.glob("models--*"))


# -------------------------------------------------------------------------------------- verify


def test_files_are_compared_with_what_is_known_of_them(models: Library, tmp_path: Path) -> None:
    hub = make.cached(models.cache, "maker/one", "a", "hub.gguf", make.target(tmp_path))
    models.add(make.target(tmp_path / "x", "added.gguf"))
    (first,) = verify(models.find("added"), models.verified, ())
    assert (first.verdict, first.expected) == ("recorded", "")
    for name, against in (("hub", "the hub"), ("added", "the last time")):
        (result,) = verify(models.find(name), models.verified, ())
        assert (result.verdict, result.against) == ("good", against)
        # It counts as compared again, whatever became of the time of its last change.
        os.utime(models.find(name).path, ns=(1, 1))
        assert models.verified.get(models.find(name).path) is None
        list(verify(models.find(name), models.verified, ()))
        assert models.verified.get(models.find(name).path) == result.expected
    for path in (hub.resolve(), models.find("added").path):
        content = bytearray(path.read_bytes())
        content[-1] ^= 1
        path.write_bytes(content)
    for name in ("hub", "added"):
        # Again and again: what was found once does not become the truth.
        for _ in range(2):
            (result,) = verify(models.find(name), models.verified, ())
            assert result.verdict == "changed" and result.checksum != result.expected


def test_the_catalogue_may_know_a_file_of_unknown_origin(models: Library, tmp_path: Path) -> None:
    entry = models.add(make.target(tmp_path, "known.gguf"))
    known = {sha256_of(entry.path), "0" * 64}
    (result,) = verify(entry, models.verified, known)
    assert (result.verdict, result.against) == ("good", "the catalogue")


def test_every_part_of_a_split_model_is_compared(models: Library, tmp_path: Path) -> None:
    parts = make.split_target(tmp_path)
    entry = models.add(parts[0], copy=True)
    counted: list[int] = []
    results = list(verify(entry, models.verified, (), counted.append))
    assert [result.verdict for result in results] == ["good"] * 3
    assert sum(counted) == entry.header.bytes


def test_what_is_written_is_json_of_one_version(models: Library, tmp_path: Path) -> None:
    models.add(make.target(tmp_path))
    models.models()
    for name in ("added.json", "headers.json"):
        assert json.loads((models.folder / name).read_text())["version"] == 1
    assert not list(models.folder.glob("*.partial"))
