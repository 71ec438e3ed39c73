"""Planning from the catalog alone, held against the headers of files of the real dimensions."""

from __future__ import annotations

import pytest

from gemma_local.models.catalog import Size, load_catalog
from gemma_local.models.catalog_footprint import catalog_footprint, drafter_anatomy, target_anatomy
from gemma_local.models.drafter import DrafterFacts, inspect_drafter_header
from gemma_local.models.footprint import Footprint, Use, footprint
from gemma_local.models.target import TargetFacts, inspect_header
from tests.bench.real_shape import real_header
from tests.ggufs.raw_gguf import RawVocabulary
from tests.models.made_up_vocabulary import MERGES, TOKENS, made_up_vocabulary

SIZES = load_catalog().sizes
MIB = 1 << 20


@pytest.fixture(scope="module")
def vocabulary() -> RawVocabulary:
    return made_up_vocabulary()


@pytest.fixture(scope="module", params=SIZES, ids=lambda size: size.label)
def known(
    request: pytest.FixtureRequest, vocabulary: RawVocabulary
) -> tuple[Size, TargetFacts, DrafterFacts]:
    """A size and what the headers of its default pair say."""
    size: Size = request.param
    target = inspect_header(*real_header(size.label, vocabulary))
    drafter = inspect_drafter_header(*real_header(size.label, vocabulary, is_drafter=True))
    return size, target, drafter


def predictions(
    known: tuple[Size, TargetFacts, DrafterFacts], use: Use
) -> tuple[Footprint, Footprint]:
    """From the headers, and from the catalog with the length of these files."""
    size, target, drafter = known
    file = size.default.model_copy(update={"bytes": target.file_size})
    other = size.drafter_for(file)
    assert other is not None
    other = other.model_copy(update={"bytes": drafter.file_size})
    return footprint(target, drafter, use), catalog_footprint(size, file, use, other)


@pytest.mark.parametrize("gpu_layers", [0, 8, 99])
@pytest.mark.parametrize("context", [2048, 65536])
def test_it_agrees_with_the_headers(
    known: tuple[Size, TargetFacts, DrafterFacts], gpu_layers: int, context: int
) -> None:
    use = Use(context, gpu_layers=gpu_layers)
    exact, rough = predictions(known, use)
    assert rough.total == pytest.approx(exact.total, rel=0.01)
    assert rough.host == pytest.approx(exact.host, rel=0.03)
    assert rough.device == pytest.approx(exact.device, rel=0.03)
    assert rough.bytes_in("spare") == pytest.approx(exact.bytes_in("spare"), rel=0.03)


def test_all_but_the_weights_is_the_same(known: tuple[Size, TargetFacts, DrafterFacts]) -> None:
    size, target, drafter = known
    file, other = size.default, size.drafter_for(size.default)
    assert other is not None
    for from_header, from_catalog in (
        (target.anatomy, target_anatomy(size.shape, file)),
        (drafter.anatomy, drafter_anatomy(size, other)),
    ):
        assert from_catalog.widths == from_header.widths
        assert from_catalog.kv_layers == from_header.kv_layers
        assert from_catalog.window == from_header.window
        assert (from_catalog.vocabulary, from_catalog.merges) == (TOKENS, MERGES)


def test_the_size_is_recognised(known: tuple[Size, TargetFacts, DrafterFacts]) -> None:
    size, target, drafter = known
    assert load_catalog().recognise(target) == size
    assert drafter.target_embedding_length == size.drafter_shape.embedding_length_out


def test_the_published_length_is_that_of_a_file_of_one_format(
    known: tuple[Size, TargetFacts, DrafterFacts],
) -> None:
    # What `format` claims of the QAT files: they are as long as Q4_0 throughout makes them.
    size, target, drafter = known
    other = size.drafter_for(size.default)
    assert other is not None
    assert size.default.length == pytest.approx(target.file_size, rel=0.01)
    assert other.length == pytest.approx(drafter.file_size, rel=0.001)


@pytest.mark.parametrize(
    ("label", "per_token", "window_mib"),
    [
        ("E2B", 6144, 12),
        ("E4B", 16384, 40),
        ("12B", 16384, 480),
        ("26B-A4B", 20480, 300),
        ("31B", 81920, 1200),
    ],
)
def test_caches_are_as_large_as_llama_cpp_makes_them(
    label: str, per_token: int, window_mib: int
) -> None:
    size = load_catalog().size(label)
    forecast = catalog_footprint(size, size.default, Use(131072, ubatch=512))
    assert forecast.of("full cache") == per_token * 131072
    assert forecast.of("sliding cache") == window_mib * MIB
