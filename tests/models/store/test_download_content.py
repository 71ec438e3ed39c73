"""Downloads of what is not what it should be, or no longer."""

from __future__ import annotations

import pytest

from gemma_local.models.store.errors import (
    HubUnreachable,
    StoreError,
    WrongContent,
)
from gemma_local.models.store.wanted import Wanted
from tests.hub import (
    Answer,
    Cut,
    Flip,
    LoginPage,
    OtherContent,
    OtherRange,
    RefuseRange,
    Status,
    Trouble,
    Unsized,
    sha256,
)
from tests.models.store.conftest import REPOSITORY, Files, Getter, target_only

MIB = 1 << 20


# ------------------------------------------------------------------------------- wrong content


def test_a_flipped_bit_is_noticed_and_fetched_anew(files: Files, getter: Getter) -> None:
    getter.server.cdn_trouble.append(Flip(at=MIB))
    (path,) = getter.get(target_only(files))
    assert path.read_bytes() == files.target
    assert any("wrong checksum" in remark for remark in getter.remarks)


def test_content_that_stays_wrong_is_never_used(files: Files, getter: Getter) -> None:
    getter.server.cdn_trouble.extend([Flip(at=MIB)] * 9)
    with pytest.raises(WrongContent, match="twice with the wrong checksum"):
        getter.get(target_only(files))
    left = [path for path in getter.cache.folder.rglob("*") if path.is_file()]
    assert not [path for path in left if ".locks" not in path.parts]


@pytest.mark.parametrize("place", [0, MIB])
def test_a_damaged_part_of_an_earlier_download_does_not_stay(
    files: Files, getter: Getter, place: int
) -> None:
    partial = getter.cache.partial(getter.store.hub.look_up(REPOSITORY).files["target.gguf"])
    partial.parent.mkdir(parents=True)
    head = bytearray(files.target[: 2 * MIB])
    head[place] ^= 1
    partial.write_bytes(head)
    (path,) = getter.get(target_only(files))
    assert path.read_bytes() == files.target


@pytest.mark.parametrize("length", ["whole", "longer"])
def test_a_partial_file_that_ran_full_is_not_asked_for_again(
    files: Files, getter: Getter, length: str
) -> None:
    partial = getter.cache.partial(getter.store.hub.look_up(REPOSITORY).files["target.gguf"])
    partial.parent.mkdir(parents=True)
    partial.write_bytes(files.target + (b"x" if length == "longer" else b""))
    (path,) = getter.get(target_only(files))
    assert path.read_bytes() == files.target
    sent = getter.server.sent[sha256(files.target)]
    assert sent == (len(files.target) if length == "longer" else 0)


def test_a_server_that_refuses_ranges_is_asked_for_all(files: Files, getter: Getter) -> None:
    getter.server.cdn_trouble.extend([Cut(after=MIB), *[RefuseRange()] * 9])
    (path,) = getter.get(target_only(files))
    assert path.read_bytes() == files.target


@pytest.mark.parametrize(
    ("trouble", "sentence"),
    [
        (LoginPage(), "web page"),
        (OtherContent(b"x" * 5_000_000), "5.00 MB in place of"),
        (OtherRange(later=1000), "another part"),
        (Answer(b'{"error": 1}'), "12 bytes in place of"),
        (Unsized(extra=b"more"), "sends more"),
    ],
    ids=["login page", "another file", "another part", "an error", "too long"],
)
def test_what_is_no_part_of_the_file_never_gets_into_it(
    files: Files, getter: Getter, trouble: Trouble, sentence: str
) -> None:
    getter.server.cdn_trouble.extend([Cut(after=MIB), trouble])
    with pytest.raises(StoreError, match=sentence):
        getter.get(target_only(files))
    # And nothing of what came before is lost for it.
    (partial,) = getter.partials()
    assert partial.stat().st_size > MIB // 2
    assert files.target.startswith(partial.read_bytes())
    (path,) = getter.get(target_only(files))
    assert path.read_bytes() == files.target


def test_a_damaged_file_in_the_cache_is_replaced_by_a_good_one(
    files: Files, getter: Getter
) -> None:
    (path,) = getter.get(target_only(files))
    blob = path.resolve()
    content = bytearray(files.target)
    content[-1] ^= 1
    blob.write_bytes(content)
    assert getter.store.locate(target_only(files)[0]) is None
    assert "damaged" in getter.store.plan(target_only(files)).remarks[0]
    getter.server.cdn_trouble.extend([Status(503)] * 9)
    with pytest.raises(HubUnreachable):
        getter.get(target_only(files))
    # Until the good one is whole, the damaged one is better than nothing.
    assert blob.read_bytes() == content
    getter.server.cdn_trouble.clear()
    (again,) = getter.get(target_only(files))
    assert again == path and path.read_bytes() == files.target


# ----------------------------------------------------------------------------- changes upstream


def test_another_version_at_the_hub_is_explained_and_the_good_one_stays(
    files: Files, getter: Getter
) -> None:
    (old,) = getter.get(target_only(files))
    replaced = files.target[:-1] + b"!"
    getter.server.commit(REPOSITORY, {"target.gguf": replaced})
    assert getter.get(target_only(files)) == [old]
    (new,) = getter.get(target_only(files), update=True)
    assert new.read_bytes() == replaced and old.read_bytes() == files.target
    assert any("changed at the hub" in remark and "stays" in remark for remark in getter.remarks)
    # The catalogue's version is still the one that it gets.
    assert getter.get(target_only(files)) == [old]
    # Without a checksum: whatever the branch was at last.
    assert getter.get(files.wanted(sha=False)[:1]) == [new]


def test_an_update_of_what_is_up_to_date_does_nothing(files: Files, getter: Getter) -> None:
    paths = getter.get(files.wanted())
    getter.server.commit(REPOSITORY, {"README.md": b"# Another text"})
    assert getter.get(files.wanted(), update=True) == paths
    assert not getter.remarks and len(getter.server.requests_for("/cdn/")) == 2


def test_a_version_that_was_not_tried_out_is_explained(files: Files, getter: Getter) -> None:
    wanted = [Wanted(REPOSITORY, "target.gguf", sha256="0" * 64)]
    (path,) = getter.get(wanted)
    assert path.read_bytes() == files.target
    assert "not the version that was tried out" in getter.remarks[0]
    assert getter.get(wanted) == [path]
    assert "--update" in getter.remarks[-1]


def test_files_come_from_one_commit_also_if_the_branch_moves_on(
    files: Files, getter: Getter
) -> None:
    store = getter.store
    plan = store.plan(files.wanted())
    getter.server.commit(REPOSITORY, {"target.gguf": b"GGUF something else"})
    paths = store.carry_out(plan, lambda event: None)
    assert [path.read_bytes() for path in paths] == [files.target, files.drafter]
