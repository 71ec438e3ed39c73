"""The catalog that ships, and what a person's own file does to it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gemma_local.models.catalog import (
    BadCatalog,
    PublishedFile,
    Size,
    TargetFile,
    UnknownSize,
    load_catalog,
)
from gemma_local.models.ggml_types import GGML_TYPES
from gemma_local.models.target import SIZE_LABELS
from tests.models.changes import target_at
from tests.models.tiny_models import tiny_target

SHIPPED = load_catalog()
BITS = {kind.name: 8 * kind.size / kind.block for kind in GGML_TYPES.values()}


def files_of(size: Size) -> tuple[PublishedFile, ...]:
    return (*size.targets, *size.drafters, *size.projectors)


def test_the_sizes_are_those_that_files_are_recognised_as() -> None:
    dimensions = {(s.shape.layers, s.shape.width): s.label for s in SHIPPED.sizes}
    assert dimensions == SIZE_LABELS
    assert SHIPPED.labels == ("E2B", "E4B", "12B", "26B-A4B", "31B")


def test_every_file_is_one_of_its_own() -> None:
    files = [file for size in SHIPPED.sizes for file in files_of(size)]
    places = [(file.repository, file.file) for file in files]
    assert len(set(places)) == len(places)
    sums = [file.sha256 for file in files if file.sha256]
    assert len(set(sums)) == len(sums) >= 25
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in sums)
    lengths = [file.bytes for file in files if file.bytes]
    assert len(set(lengths)) == len(lengths) >= 17


@pytest.mark.parametrize("size", SHIPPED.sizes, ids=lambda size: size.label)
def test_a_default_pair_belongs_together(size: Size) -> None:
    drafter, projector = size.drafter_for(size.default), size.projector_for(size.default)
    assert drafter is not None and projector is not None
    assert size.default.is_qat and drafter.is_qat
    assert size.default.repository == drafter.repository == projector.repository
    assert size.drafter_shape.embedding_length_out == size.shape.width


@pytest.mark.parametrize("size", SHIPPED.sizes, ids=lambda size: size.label)
def test_every_target_gets_a_drafter_for_weights_like_its_own(size: Size) -> None:
    for target in size.targets:
        drafter = size.drafter_for(target)
        assert drafter is not None
        assert drafter.is_qat is target.is_qat


@pytest.mark.parametrize("size", SHIPPED.sizes, ids=lambda size: size.label)
def test_lengths_are_what_such_a_format_can_take(size: Size) -> None:
    # Of E2B and E4B the published number counts the encoders, which are no part of these files.
    weights = {"E2B": 4.63e9, "E4B": 7.46e9}.get(size.label, size.parameters)
    for target in size.targets:
        bits = 8 * target.length / weights
        assert BITS[target.format] * 0.98 < bits < BITS[target.format] * 1.45, target.file
    for drafter in size.drafters:
        assert drafter.length < size.default.length / 14


@pytest.mark.parametrize("size", SHIPPED.sizes, ids=lambda size: size.label)
def test_settings(size: Size) -> None:
    assert (size.sampling.temperature, size.sampling.top_k, size.sampling.top_p) == (1.0, 64, 0.95)
    assert size.draft_length == 3
    assert size.shape.has_per_layer_embeddings is (size.label in ("E2B", "E4B"))
    assert (size.context_length, size.shape.window) == (
        (131072, 512) if size.shape.has_per_layer_embeddings else (262144, 1024)
    )
    assert size.active_parameters <= size.parameters
    assert not size.shape.is_sliding(size.shape.layers - 1)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("E2B", "E2B"),
        ("e4b", "E4B"),
        ("gemma-4-E4B-it", "E4B"),
        ("unsloth/gemma-4-26B-A4B-it-qat-GGUF", "26B-A4B"),
        ("26b", "26B-A4B"),
        ("26B-a4b", "26B-A4B"),
        ("gemma4:12b", "12B"),
        ("gemma-4-31B_q4_0-it.gguf", "31B"),
    ],
)
def test_names(name: str, label: str) -> None:
    assert SHIPPED.size(name).label == label


@pytest.mark.parametrize("name", ["", "4b", "gemma", "112b", "E2Bx", "llama-7b"])
def test_other_names_are_answered_with_those_there_are(name: str) -> None:
    with pytest.raises(UnknownSize, match="E2B, E4B, 12B, 26B-A4B, 31B") as refusal:
        SHIPPED.size(name)
    assert repr(name) in str(refusal.value)


def test_a_file_is_recognised_by_what_it_says_and_not_by_its_name(tmp_path: Path) -> None:
    tiny = target_at(tmp_path / "gemma-4-E4B-it.gguf", model=tiny_target())
    assert SHIPPED.recognise(tiny) is None
    large = replace(tiny, block_count=60, embedding_length=5376)
    assert SHIPPED.recognise(large) is SHIPPED.size("31B")
    assert SHIPPED.recognise(replace(large, is_gemma4=False)) is None


def own(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "own.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_of_ones_own_comes_first(tmp_path: Path) -> None:
    text = """
    [[size]]
    label = "E4B"
    draft_length = 5
    sampling = { temperature = 0.7 }
    [[size.target]]
    repository = "me/mine"
    file = "tuned.gguf"
    about_bytes = 5_000_000_000
    quantisation = "Q4_K_M"
    format = "Q4_K"
    is_qat = false
    """
    catalog = load_catalog(own(tmp_path, text))
    size, before = catalog.size("e4b"), SHIPPED.size("e4b")
    assert size.default == TargetFile(
        repository="me/mine", file="tuned.gguf", about_bytes=5_000_000_000, quantisation="Q4_K_M",
        format="Q4_K", is_qat=False,
    )  # fmt: skip
    assert size.targets[1:] == before.targets
    assert size.draft_length == 5
    assert (size.sampling.temperature, size.sampling.top_k) == (0.7, 64)
    assert (size.shape, size.drafters) == (before.shape, before.drafters)
    assert catalog.size("31B") == SHIPPED.size("31B")


def test_a_known_file_is_changed_in_what_is_said_of_it(tmp_path: Path) -> None:
    known = SHIPPED.size("12B").targets[1]
    text = f"""
    [[size]]
    label = "12B"
    [[size.target]]
    repository = "{known.repository}"
    file = "{known.file}"
    revision = "0123abc"
    bytes = 7_000_000_001
    """
    size = load_catalog(own(tmp_path, text)).size("12B")
    assert size.default == known.model_copy(update={"revision": "0123abc", "bytes": 7_000_000_001})
    assert size.targets[1:] == SHIPPED.size("12B").targets[:1]


def test_a_size_of_ones_own(tmp_path: Path) -> None:
    shipped = Path(__file__).parents[2] / "models" / "catalog.toml"
    first = shipped.read_text(encoding="utf-8").split("[[size]]\n")[1]
    text = "[[size]]\n" + first.replace('label = "E2B"', 'label = "E3B"')
    catalog = load_catalog(own(tmp_path, text))
    assert catalog.labels == (*SHIPPED.labels, "E3B")
    assert catalog.size("my-e3b").targets == SHIPPED.size("E2B").targets


FILE = '[[size]]\nlabel = "E2B"\n[[size.target]]\nrepository = "a/b"\nfile = "c.gguf"\n'
REST = 'quantisation = "x"\nformat = "Q4_0"\nis_qat = false\n'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[[size]\n", "line 1"),
        ('[[size]]\nlabel = "E2B"\nlabel = "E4B"\n', "line 3"),
        ("[[model]]\n", "'model'"),
        ("[size]\n", "two brackets"),
        ("[[size]]\nname = 'x'\n", "size number 1 lacks its label"),
        ('[[size]]\nlabel = "E2B"\n[[size]]\nlabel = "E2B"\n', "two sizes"),
        ('[[size]]\nlabel = "E9B"\n', "size 'E9B', name: field required"),
        ('[[size]]\nlabel = "E2B"\ndraft_length = "far"\n', "size 'E2B', draft_length: input"),
        ('[[size]]\nlabel = "E2B"\ncolour = 3\n', "size 'E2B', colour: extra"),
        ('[[size]]\nlabel = "E2B"\ntarget = 3\n', "[[size.target]]"),
        ('[[size]]\nlabel = "E2B"\n[size.shape]\nwidth = 7\n', "another width"),
        (FILE + REST, "target 'c.gguf': needs bytes or about_bytes"),
        (FILE + REST + "bytes = -1\n", "target 'c.gguf', bytes: input should be greater"),
        (FILE + REST + 'bytes = 1\nsha256 = "ab"\n', "target 'c.gguf', sha256: string should"),
        (FILE.replace("c.gguf", "../c.gguf") + REST + "bytes = 1\n", "file: string should match"),
        (FILE + REST.replace("Q4_0", "Q9") + "bytes = 1\n", "target 'c.gguf', format: input"),
    ],
)  # fmt: skip
def test_mistakes_are_named_with_their_place(tmp_path: Path, text: str, says: str) -> None:
    path = own(tmp_path, text)
    with pytest.raises(BadCatalog) as refusal:
        load_catalog(path)
    assert str(path) in str(refusal.value)
    assert says in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_file_that_is_not_there_or_no_text(tmp_path: Path) -> None:
    with pytest.raises(BadCatalog, match="cannot be read"):
        load_catalog(tmp_path / "none.toml")
    (tmp_path / "own.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(BadCatalog, match="not UTF-8"):
        load_catalog(tmp_path / "own.toml")
