"""Files that are no models, damaged ones, and what hostile ones cost."""

from __future__ import annotations

import os
import struct
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemma_local.models.errors import BadModelFile
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.gguf import peek_architecture, read_gguf
from tests.models.gguf_bytes import F32, Q4_0, Gguf, Tensor, Typed
from tests.models.headers import refusal, save, small

FOREIGN = {
    "html": (b"\n  <!DOCTYPE html><html><body>Log in</body></html>", "web page"),
    "html in capitals": (b"<HTML><head>", "web page"),
    "xml error": (b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>", "web page"),
    "lfs pointer": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3349516256\n",
        "Git LFS pointer: a short note that stands for the model of 3.35 GB",
    ),
    "lfs pointer without a size": (b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
    "zip": (b"PK\x03\x04\x14\0\0\0model.gguf", "zip archive"),
    "torch zip": (b"PK\x03\x04" + bytes(26) + b"archive/data.pkl", "PyTorch checkpoint"),
    "pickle": (b"\x80\x02}q\x00.", "PyTorch checkpoint"),
    "safetensors": (struct.pack("<Q", 16) + b'{"a":{"dtype":1}', "safetensors file"),
    "gzip": (b"\x1f\x8b\x08\0", "compressed with gzip"),
    "zstd": (b"\x28\xb5\x2f\xfd\0", "compressed with zstd"),
    "xz": (b"\xfd7zXZ\0\0", "compressed with xz"),
    "ollama manifest": (
        b'{"schemaVersion":2,"layers":[{"mediaType":"application/vnd.ollama.image.model"}]}',
        "Ollama manifest",
    ),
    "json": (b'{"error":"gated"}', "JSON text"),
    "old ggml": (b"tjgg\x01\0\0\0", "GGML format of 2023"),
    "litert": (b"LITERTLM\x01", "LiteRT model"),
    "tflite": (b"\x1c\0\0\0TFL3", "LiteRT model"),
    "zeros": (bytes(64), "never finished"),
    "anything": (b"hello there", "does not begin with the letters GGUF"),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_files_are_named(tmp_path: Path, name: str) -> None:
    raw, phrase = FOREIGN[name]
    assert phrase in refusal(save(tmp_path, raw))


@pytest.mark.parametrize(
    ("count", "text"),
    [(1, "1 byte"), (999, "999 bytes"), (1500, "1.50 kB"), (10**6, "1.00 MB")],
)
def test_sizes_read_as_people_write_them(count: int, text: str) -> None:
    assert human_bytes(count) == text


def test_missing_folder_and_empty(tmp_path: Path) -> None:
    assert "does not exist" in refusal(tmp_path / "no.gguf")
    assert "is a folder" in refusal(tmp_path)
    assert "is empty" in refusal(save(tmp_path, b""))
    assert "does not exist" in refusal(save(tmp_path, b"x") / "inside.gguf")


def test_a_path_that_cannot_be(tmp_path: Path) -> None:
    with pytest.raises(BadModelFile):
        read_gguf(tmp_path / "a\0b.gguf")
    with pytest.raises(BadModelFile):
        read_gguf(tmp_path / ("x" * 5000))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    assert "device or a pipe" in refusal(pipe)


def test_not_readable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path, small().to_bytes())

    # Changing the mode would not stop a superuser, who runs the tests in containers.
    def forbidden(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", forbidden)
    assert "may not be read" in refusal(path)


def test_a_broken_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = save(tmp_path, small().to_bytes())

    def broken(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "open", broken)
    assert "Input/output error" in refusal(path)


# Damaged models


@pytest.mark.parametrize(
    ("version", "endian", "phrase"),
    [
        (1, "<", "GGUF version 1"),
        (4, "<", "GGUF version 4, newer"),
        (0, "<", "format version is 0"),
        (3, ">", "big-endian"),
        (2, ">", "big-endian"),
    ],
)
def test_versions(tmp_path: Path, version: int, endian: str, phrase: str) -> None:
    assert phrase in refusal(save(tmp_path, small().to_bytes(version=version, endian=endian)))


def test_truncated_data_counts_the_missing_bytes(tmp_path: Path) -> None:
    # The padding behind the last tensor may be missing, its data may not.
    whole = small().to_bytes()
    end = len(whole) - 20
    read_gguf(save(tmp_path, whole[:end]))
    text = refusal(save(tmp_path, whole[: end - 15]))
    assert f"cut short: 15 of its {end} bytes are missing (15 bytes of {end} bytes)" in text
    assert "Resume the download or download it again" in text


@pytest.mark.parametrize("end", [2, 5, 20, 30, 60, 90])
def test_truncated_header(tmp_path: Path, end: int) -> None:
    text = refusal(save(tmp_path, small().to_bytes()[:end]))
    assert "cut short" in text or "claims" in text


def test_zero_tensors(tmp_path: Path) -> None:
    path = save(tmp_path, Gguf({"general.architecture": "x"}).to_bytes())
    assert "only a vocabulary" in refusal(path)
    assert read_gguf(path, vocabulary_only=True).tensors == {}


def _raw(keys: int, body: bytes, tensors: int = 0) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, keys) + body + bytes(600)


def _key(name: bytes, type_id: int, body: bytes) -> bytes:
    return struct.pack("<Q", len(name)) + name + struct.pack("<I", type_id) + body


def _changed(change: Callable[[Gguf], None]) -> bytes:
    file = small()
    change(file)
    return file.to_bytes()


DAMAGED: dict[str, tuple[bytes, str]] = {
    "too many keys": (small().to_bytes(keys=2**40), "claims 1099511627776 keys"),
    "too many tensors": (small().to_bytes(tensor_count=2**40), "1099511627776 tensors"),
    "unnamed key": (_raw(1, _key(b"", 4, bytes(4))), "a key without a name"),
    "same key twice": (_raw(2, _key(b"k", 4, bytes(4)) * 2), "lists 'k' twice"),
    "unknown value type": (_raw(1, _key(b"k", 13, bytes(8))), "unknown type 13"),
    "unknown element type": (
        _raw(1, _key(b"k", 9, struct.pack("<IQ", 99, 1))),
        "array of the unknown type 99",
    ),
    "array of arrays": (
        _raw(1, _key(b"k", 9, struct.pack("<IQ", 9, 1))),
        "array of the unknown type 9",
    ),
    "too many texts": (
        _raw(1, _key(b"k", 9, struct.pack("<IQ", 8, 2**50))),
        "list of 1125899906842624 texts",
    ),
    "too many numbers": (_raw(1, _key(b"k", 9, struct.pack("<IQ", 4, 2**62))), "cut short"),
    "endless text": (_raw(1, _key(b"k", 8, struct.pack("<Q", 2**63))), "cut short"),
    "endless text in an array": (
        _raw(1, _key(b"k", 9, struct.pack("<IQQ", 8, 2, 2**64 - 1))),
        "cut short",
    ),
    "endless key": (_raw(1, struct.pack("<Q", 2**64 - 1)), "cut short"),
    "alignment of 0": (small(**{"general.alignment": 0}).to_bytes(), "power of two"),
    "alignment of 3": (small(**{"general.alignment": 3}).to_bytes(), "power of two"),
    "alignment in words": (small(**{"general.alignment": "32"}).to_bytes(), "power of two"),
    "same tensor twice": (
        small().to_bytes().replace(struct.pack("<Q", 1) + b"b", struct.pack("<Q", 1) + b"a"),
        "tensor 'a' twice",
    ),
    "long tensor name": (
        _changed(lambda f: f.tensors.update({"n" * 64: Tensor((1,))})),
        "name of the tensor",
    ),
    "five dimensions": (
        _changed(lambda f: f.tensors.update(c=Tensor((1, 1, 1, 1, 1)))),
        "5 dimensions",
    ),
    "no elements": (
        _changed(lambda f: f.tensors.update(c=Tensor((4, 0)))),
        "impossible shape [4, 0]",
    ),
    "too many elements": (
        _changed(lambda f: f.tensors.update(c=Tensor((2**62, 4), data=b""))),
        "impossible shape",
    ),
    "half a block": (
        _changed(lambda f: f.tensors.update(c=Tensor((48,), Q4_0))),
        "impossible shape [48]",
    ),
    "removed number format": (
        _changed(lambda f: f.tensors.update(c=Tensor((1,), 4, data=bytes(4)))),
        "number format 4",
    ),
    "overlapping data": (
        _changed(lambda f: f.tensors.update(c=Tensor((1,), offset=0))),
        "'c' is not where it should be",
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_headers(tmp_path: Path, name: str) -> None:
    raw, phrase = DAMAGED[name]
    assert phrase in refusal(save(tmp_path, raw))


@pytest.mark.skipif(sys.platform == "win32", reason="a sparse file takes real space there")
@pytest.mark.parametrize(
    ("body", "phrase"),
    [
        (_key(b"k", 8, struct.pack("<Q", 2**30)), "longer than any model's"),
        (_key(b"k", 9, struct.pack("<IQ", 8, 2**27)), "more than fit"),
        (_key(b"k", 9, struct.pack("<IQ", 10, 2**27)), "longer than any model's"),
    ],
)
def test_a_hostile_header_of_a_huge_file_costs_little(
    tmp_path: Path, body: bytes, phrase: str
) -> None:
    path = save(tmp_path, b"GGUF" + struct.pack("<IQQ", 3, 1, 1) + body)
    os.truncate(path, 2**32)
    tracemalloc.start()
    try:
        assert phrase in refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


# Any damage at all

SAMPLE = Gguf(
    {
        "general.architecture": "x",
        "general.alignment": 32,
        "flag": True,
        "float": 1.5,
        "text": "some text",
        "numbers": Typed("i32", [1, 2, 3]),
        "words": ["a", "bc", "def"],
        "split.count": Typed("u16", 1),
    },
    {"a.weight": Tensor((8, 3)), "b.weight": Tensor((32, 2), Q4_0), "c": Tensor((1,), F32)},
).to_bytes()


def reads_or_refuses(path: Path) -> None:
    tracemalloc.start()
    try:
        for read in (read_gguf, peek_architecture):
            with suppress(BadModelFile):
                read(path)
        assert tracemalloc.get_traced_memory()[1] < 4 << 20
    finally:
        tracemalloc.stop()


@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], deadline=None
)
@given(end=st.integers(0, len(SAMPLE) - 1))
def test_any_truncation(tmp_path: Path, end: int) -> None:
    reads_or_refuses(save(tmp_path, SAMPLE[:end]))


@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    changes=st.lists(
        st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), min_size=1, max_size=8
    )
)
def test_any_changed_bytes(tmp_path: Path, changes: list[tuple[int, int]]) -> None:
    raw = bytearray(SAMPLE)
    for position, value in changes:
        raw[position] = value
    reads_or_refuses(save(tmp_path, bytes(raw)))


@settings(
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture], deadline=None
)
@given(tail=st.binary(max_size=200))
def test_any_bytes_behind_the_magic(tmp_path: Path, tail: bytes) -> None:
    reads_or_refuses(save(tmp_path, b"GGUF\x03\0\0\0" + tail))
