"""Downloads from a hub that behaves."""

from __future__ import annotations

from pathlib import Path

import pytest
from huggingface_hub import hf_hub_download, scan_cache_dir

from gemma_local.models.pair import find_drafter
from gemma_local.models.store.errors import Offline
from gemma_local.models.store.file_record import FileRecord
from gemma_local.models.store.transfer import export_models, import_models
from gemma_local.models.store.wanted import Wanted
from gemma_local.models.target import inspect_target
from tests.hub import IgnoreRange, Status, sha256
from tests.models.store.conftest import REPOSITORY, Files, Getter, target_only


def test_a_pair_arrives_whole_where_every_program_finds_it(files: Files, getter: Getter) -> None:
    paths = getter.get(files.wanted())
    assert [path.read_bytes() for path in paths] == [files.target, files.drafter]
    drafter = find_drafter(inspect_target(paths[0]))
    assert drafter is not None and drafter.path == paths[1]
    # huggingface_hub takes the cache for its own: by the branch, by the commit, and as a whole.
    commit = getter.server.repositories[REPOSITORY].main
    for revision in (None, commit):
        found = hf_hub_download(
            REPOSITORY,
            "target.gguf",
            revision=revision,
            cache_dir=getter.cache.folder,
            local_files_only=True,
        )
        assert Path(found) == paths[0]
    (repository,) = scan_cache_dir(getter.cache.folder).repos
    assert {f.file_name for r in repository.revisions for f in r.files} == {
        "target.gguf",
        "mtp-drafter.gguf",
    }
    assert repository.refs["main"].commit_hash == commit
    assert not getter.partials()
    # Packed on the way, a file would not have the length that was promised.
    assert {r.headers["accept-encoding"] for r in getter.server.requests_for("/cdn/")} == {
        "identity"
    }
    # One look at the repository, then nothing but the files of that very commit.
    assert len(getter.server.requests_for("/api/")) == 1
    assert {r.path.split("/")[4] for r in getter.server.requests_for("/resolve/")} == {commit}


def test_progress_counts_every_byte_and_files_come_side_by_side(
    files: Files, getter: Getter
) -> None:
    getter.server.pace = 0.02
    getter.get(files.wanted())
    total = len(files.target) + len(files.drafter)
    last = getter.progress[-1]
    assert (last.done, last.bytes) == (total, total)
    assert all(file.stage == "done" for file in last.files)
    dones = [event.done for event in getter.progress]
    assert dones == sorted(dones)
    both = [[f.stage for f in event.files] for event in getter.progress]
    assert ["fetching", "fetching"] in both
    assert any(e.bytes_per_second > 0 and e.seconds_left for e in getter.progress)


def test_what_is_here_is_not_fetched_and_hashed_once(files: Files, getter: Getter) -> None:
    paths = getter.get(files.wanted())
    before = len(getter.server.requests)
    seen: list[int] = []
    assert getter.get(files.wanted()) == paths
    assert len(getter.server.requests) == before
    assert getter.store.locate(files.wanted()[0], seen.append) == paths[0] and not seen
    # Another program's download has not been hashed by us yet.
    (getter.folder / "verified.json").unlink()
    assert getter.store.locate(files.wanted()[0], seen.append) == paths[0]
    assert sum(seen) == len(files.target)


def test_a_download_of_huggingface_hub_is_used(files: Files, getter: Getter) -> None:
    hf_hub_download(
        REPOSITORY,
        "target.gguf",
        cache_dir=getter.cache.folder,
        endpoint=getter.server.endpoint,
    )
    sent = dict(getter.server.sent)
    (path,) = getter.get(target_only(files))
    assert path.read_bytes() == files.target and dict(getter.server.sent) == sent


def test_what_was_imported_is_not_fetched(files: Files, getter: Getter, tmp_path: Path) -> None:
    sources = tmp_path / "here"
    sources.mkdir()
    (sources / "any name.gguf").write_bytes(files.target)
    export_models([("m", sources / "any name.gguf")], tmp_path / "stick")
    record = FileRecord(getter.folder / "verified.json")
    (imported,) = import_models(tmp_path / "stick", tmp_path / "there", record)
    getter.offline = True
    assert getter.get(target_only(files)) == [imported]
    assert getter.store.locate(target_only(files)[0]) == imported
    # Not after it was changed, and not for whatever has that name at the hub.
    imported.write_bytes(files.target + b"x")
    for wanted in (target_only(files), files.wanted(sha=False)[:1]):
        with pytest.raises(Offline):
            getter.get(wanted)
    assert not getter.server.requests


def test_content_that_is_here_under_another_commit_is_only_linked(
    files: Files, getter: Getter
) -> None:
    old = getter.server.repositories[REPOSITORY].main
    getter.get([Wanted(REPOSITORY, "target.gguf", old)])
    new = getter.server.commit(REPOSITORY, {"README.md": b"# Another text\n"})
    (path,) = getter.get([Wanted(REPOSITORY, "target.gguf", new)])
    assert path.parent.name == new and path.read_bytes() == files.target
    assert getter.server.sent[sha256(files.target)] == len(files.target)


def test_a_small_file_outside_lfs_is_checked_by_its_git_checksum(getter: Getter) -> None:
    getter.server.resolve_trouble.append(Status(503))
    (path,) = getter.get([Wanted(REPOSITORY, "README.md")])
    assert path.read_bytes() == b"# A tiny pair\n"


def test_the_header_comes_alone(files: Files, getter: Getter) -> None:
    getter.server.pace = 0.05
    for trouble in (None, IgnoreRange()):
        if trouble is not None:
            getter.server.cdn_trouble.append(trouble)
        head = getter.store.hub.fetch_header(files.wanted()[0], 4096)
        assert head == files.target[:4096]
    # A server that sends everything is not listened to until the end.
    assert getter.server.sent[sha256(files.target)] < 1 << 20
    assert not getter.cache.folder.exists()
    (asked, _) = getter.server.requests_for("/cdn/")
    assert asked.headers["range"] == "bytes=0-4095"


def test_a_token_goes_to_the_hub_and_nowhere_else(
    files: Files, getter: Getter, monkeypatch: pytest.MonkeyPatch
) -> None:
    getter.server.repositories[REPOSITORY].private = True
    monkeypatch.setenv("HF_TOKEN", getter.server.token)
    getter.get(files.wanted())
    for request in getter.server.requests:
        assert ("authorization" in request.headers) == ("/cdn/" not in request.path)
