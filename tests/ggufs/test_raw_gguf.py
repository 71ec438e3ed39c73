"""Files written piece by piece are the same to a reader as those gguf-py writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFReader, GGUFWriter

from tests.ggufs import build, script
from tests.ggufs.architecture import Role, Tensor
from tests.ggufs.raw_gguf import Part, read_vocabulary, write_raw


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("dense", script(["Hello", "."]), tmp_path_factory.mktemp("ggufs")).target


def test_a_vocabulary_is_copied_as_it_is(source: Path, tmp_path: Path) -> None:
    raw = read_vocabulary(source, leave_out=("tokenizer.chat_template",))
    path = tmp_path / "copy.gguf"
    writer = GGUFWriter(None, "gemma4")
    writer.add_name("copy")
    write_raw(path, writer, raw.keys, [])
    before, after = GGUFReader(source), GGUFReader(path)
    copied = {key for key in after.fields if key.startswith("tokenizer.")}
    had = {key for key in before.fields if key.startswith("tokenizer.")}
    assert copied == had - {"tokenizer.chat_template"}
    for key in copied:
        assert after.fields[key].contents() == before.fields[key].contents()
    tokens = after.fields["tokenizer.ggml.tokens"].contents()
    assert [raw.ids[token] for token in tokens] == list(range(len(tokens)))
    assert after.fields["general.name"].contents() == "copy"


def test_tensors_are_where_the_table_says(tmp_path: Path) -> None:
    path = tmp_path / "tensors.gguf"
    first = np.arange(10, dtype=np.float32).reshape(2, 5)
    second = np.arange(64, dtype=np.float16)
    parts = [
        Part(
            Tensor("first", (2, 5), Role.MATRIX),
            GGMLQuantizationType.F32,
            lambda: (row.tobytes() for row in first),
        ),
        Part(
            Tensor("second", (64,), Role.NORM),
            GGMLQuantizationType.F16,
            lambda: [second.tobytes()],
        ),
    ]
    write_raw(path, GGUFWriter(None, "gemma4"), (), parts)
    found = {tensor.name: tensor.data for tensor in GGUFReader(path).tensors}
    assert (found["first"] == first).all()
    assert (found["second"] == second).all()


def test_a_file_that_fails_does_not_appear(tmp_path: Path) -> None:
    short = Part(Tensor("short", (8,), Role.NORM), GGMLQuantizationType.F32, lambda: [b"1234"])
    with pytest.raises(ValueError, match="4 bytes, not 32"):
        write_raw(tmp_path / "short.gguf", GGUFWriter(None, "gemma4"), (), [short])
    assert list(tmp_path.iterdir()) == []


def test_other_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(b"not a model" * 10)
    with pytest.raises(ValueError, match="not a GGUF"):
        read_vocabulary(path)
