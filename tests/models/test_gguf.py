"""The header reader: keys, tensors, long arrays and split models."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import pytest

from gemma_local.models.errors import BadModelFile
from gemma_local.models.ggml_types import GGML_TYPES
from gemma_local.models.gguf import peek_architecture, read_gguf, read_shards
from gemma_local.models.lazy_array import LazyArray
from tests.models.gguf_bytes import F16, Gguf, Tensor, Typed
from tests.models.headers import refusal, save, small


def test_reads_the_header(tmp_path: Path) -> None:
    path = save(tmp_path, small(**{"x.n": 3}).to_bytes())
    file = read_gguf(path)
    assert (file.path, file.version, file.alignment) == (path, 3, 32)
    assert file.metadata == {"general.architecture": "x", "x.n": 3}
    assert file.file_size == path.stat().st_size
    a, b = file.tensors["a"], file.tensors["b"]
    assert (a.shape, a.type_name, a.offset, a.nbytes, a.elements) == ((4, 2), "F32", 0, 32, 8)
    assert (b.shape, b.offset, b.nbytes) == ((3,), 32, 12)
    assert file.file_size == file.data_offset + 64


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("u8", 200), ("i8", -3), ("u16", 60000), ("i16", -300), ("u32", 2**31), ("i32", -5),
        ("f32", 0.5), ("bool", True), ("u64", 2**63), ("i64", -(2**40)), ("f64", 0.1),
    ],
)  # fmt: skip
def test_reads_numbers_alone_and_in_arrays(tmp_path: Path, kind: str, value: object) -> None:
    file = small(one=Typed(kind, value), many=Typed(kind, [value] * 3), none=Typed(kind, []))
    read = read_gguf(save(tmp_path, file.to_bytes())).metadata
    assert read["one"] == value
    assert type(read["one"]) is type(value)
    assert read["many"] == (value,) * 3
    assert read["none"] == ()


def test_reads_texts(tmp_path: Path) -> None:
    file = small(text="Größe ▁", texts=["a", "", "ü"], broken=Typed("str", [b"\xff"]))
    read = read_gguf(save(tmp_path, file.to_bytes())).metadata
    assert read["text"] == "Größe ▁"
    assert read["texts"] == ("a", "", "ü")
    assert read["broken"] == ("\ufffd",)


def test_reads_version_2_and_other_alignments(tmp_path: Path) -> None:
    raw = small(**{"general.alignment": 64}).to_bytes(version=2, alignment=64)
    file = read_gguf(save(tmp_path, raw))
    assert (file.version, file.alignment, file.data_offset % 64) == (2, 64, 0)


def test_long_arrays_stay_lazy(tmp_path: Path) -> None:
    words = [f"w{i}" for i in range(4097)]
    numbers = [i * 0.5 for i in range(5000)]
    read = read_gguf(save(tmp_path, small(words=words, numbers=numbers).to_bytes())).metadata
    lazy, floats = read["words"], read["numbers"]
    assert isinstance(lazy, LazyArray)
    assert isinstance(floats, LazyArray)
    assert (len(lazy), lazy.element_type) == (4097, "string")
    assert lazy.decode() == tuple(words)
    assert (len(floats), floats.element_type) == (5000, "float32")
    assert floats.decode() == tuple(numbers)
    with pytest.raises(TypeError, match="float32"):
        floats.has_duplicates()


def test_lazy_arrays_compare_by_their_bytes(tmp_path: Path) -> None:
    def words(*changed: str) -> LazyArray:
        items = [f"w{i}" for i in range(5000)]
        items[: len(changed)] = changed
        read = read_gguf(save(tmp_path, small(words=items).to_bytes())).metadata["words"]
        assert isinstance(read, LazyArray)
        return read

    assert words().digest() == words().digest()
    # The same characters, cut elsewhere.
    assert words("ab", "c").digest() != words("a", "bc").digest()
    assert not words().has_duplicates()
    assert words("w7").has_duplicates()


def test_a_large_vocabulary_makes_no_object_per_entry(tmp_path: Path) -> None:
    count = 262144
    tokens = b"".join(struct.pack("<Q", 7) + b"%07d" % i for i in range(count))
    head = Gguf({"general.architecture": "x"}).to_bytes(keys=3).rstrip(b"\0")
    key = struct.pack("<Q", 21) + b"tokenizer.ggml.tokens" + struct.pack("<IIQ", 9, 8, count)
    scores = struct.pack("<Q", 21) + b"tokenizer.ggml.scores" + struct.pack("<IIQ", 9, 6, count)
    path = save(tmp_path, head + key + tokens + scores + bytes(4 * count))
    before = sys.getallocatedblocks()
    file = read_gguf(path, vocabulary_only=True)
    assert sys.getallocatedblocks() - before < count // 100
    for array in (file.metadata["tokenizer.ggml.tokens"], file.metadata["tokenizer.ggml.scores"]):
        assert isinstance(array, LazyArray)
        assert len(array) == count


def test_peek_reads_no_further_than_the_architecture(tmp_path: Path) -> None:
    raw = small(rest="x" * 100).to_bytes()
    assert peek_architecture(save(tmp_path, raw[:80])) == "x"
    assert peek_architecture(save(tmp_path, Gguf({"a": 1}, {"t": Tensor((1,))}).to_bytes())) is None
    numeric = Gguf({"general.architecture": 7})
    assert peek_architecture(save(tmp_path, numeric.to_bytes())) is None
    with pytest.raises(BadModelFile, match="is empty"):
        peek_architecture(save(tmp_path, b""))


def test_type_table_has_sane_sizes() -> None:
    names = [kind.name for kind in GGML_TYPES.values()]
    assert len(set(names)) == len(names)
    for kind in GGML_TYPES.values():
        assert 1 <= kind.size * 8 / kind.block <= 64


# Split models


def shards(folder: Path, count: int = 3, stem: str = "m") -> list[Path]:
    paths = []
    for i in range(count):
        split = {"split.no": Typed("u16", i), "split.count": Typed("u16", count)}
        file = Gguf({"general.architecture": "x", **split}, {f"t{i}": Tensor((8,), F16)})
        name = f"{stem}-{i + 1:05d}-of-{count:05d}.gguf"
        paths.append(save(folder, file.to_bytes(), name))
    return paths


def test_split_models_are_read_together(tmp_path: Path) -> None:
    paths = shards(tmp_path)
    first = read_gguf(paths[0])
    assert first.split_count == 3
    assert first.shard_paths() == tuple(paths)
    assert [list(shard.tensors) for shard in read_shards(first)] == [["t0"], ["t1"], ["t2"]]


def test_split_models_with_a_part_missing(tmp_path: Path) -> None:
    first, second, third = shards(tmp_path)
    third.unlink()
    assert f"{third.name} is missing" in refusal(first)
    second.unlink()
    assert f"{second.name} and 1 more is missing" in refusal(first)


def test_a_later_part_is_not_the_model(tmp_path: Path) -> None:
    first, second, _ = shards(tmp_path)
    assert f"Give the first one, {first.name}" in refusal(second)


def test_a_renamed_part(tmp_path: Path) -> None:
    first, *_ = shards(tmp_path)
    assert "one of 3 parts" in refusal(first.rename(tmp_path / "renamed.gguf"))


def test_only_the_first_part_is_checked_for_its_length(tmp_path: Path) -> None:
    first, second, _ = shards(tmp_path)
    second.write_bytes(second.read_bytes()[:-30])
    file = read_gguf(first)
    with pytest.raises(BadModelFile, match=rf"{second.name} is cut short"):
        read_shards(file)


def test_a_first_part_without_tensors(tmp_path: Path) -> None:
    first, *_ = shards(tmp_path)
    split = {"split.no": Typed("u16", 0), "split.count": Typed("u16", 3)}
    first.write_bytes(Gguf({"general.architecture": "x", **split}).to_bytes())
    assert read_gguf(first).tensors == {}
