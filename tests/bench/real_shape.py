"""Pairs with the dimensions of the real models, for measuring speed and memory without them.

``python -m tests.bench.real_shape --vocab ggml-vocab-gemma-4.gguf --size E2B``

The matrices are random Q4_0 blocks, the tokenizer is the real one (any Gemma 4 GGUF will do for
``--vocab``), and the pair speaks a script for ever: plain decoding and drafting cost what they cost
with the real weights, and acceptance is known. Differences from a real file, on purpose:

- ``token_embd`` is Q4_0 (public files differ: Q4_0 or Q6_K), and there is an ``output.weight`` of
  the same size, because a script needs one; the real models use the embedding for both, so a file
  here is larger by that, while a pass reads the same number of bytes.
- Rows of tokens that the script does not use are all alike.

As in public files, ``per_layer_model_proj`` and the router stay float, vectors F32, and
``per_layer_token_embd`` is Q4_0 and read lazily by llama.cpp.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from pathlib import Path

import numpy as np
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType, GGUFWriter, LlamaFileType
from numpy.typing import NDArray
from platformdirs import user_cache_dir

from tests.ggufs.acceptance import Acceptance, Drafter, expected_acceptance
from tests.ggufs.architecture import (
    Role,
    Shape,
    Tensor,
    drafter_tensors,
    target_tensors,
    write_drafter_keys,
    write_target_keys,
)
from tests.ggufs.chain import drafter_chain, target_chain
from tests.ggufs.chat_template import chat_template
from tests.ggufs.quantise import Matrix, pack
from tests.ggufs.raw_gguf import (
    Part,
    RawVocabulary,
    raw_header,
    raw_length,
    read_vocabulary,
    write_raw,
)
from tests.ggufs.script import script
from tests.ggufs.scripted import Rows, bridges, head_rows, space, target_rows
from tests.ggufs.vocabulary import stored
from tests.ggufs.weights import Filling

Q4_0 = GGMLQuantizationType.Q4_0
CHUNK = 1 << 24  # bytes written at a time


def _pattern(layers: int, sliding: int) -> tuple[bool, ...]:
    """``sliding`` layers with a window, then a full one, again and again."""
    return tuple(layer % (sliding + 1) != sliding for layer in range(layers))


_HEADS = Shape("", head_dim_sliding=256, head_dim_full=512)
_SMALL = replace(
    _HEADS, kind="edge", heads=8, window=512, context_length=131072, per_layer=256,
    drafter_width=256, drafter_feed_forward=2048, drafter_heads=4,
)  # fmt: skip
_LARGE = replace(
    _HEADS, kind="keqv", value_is_key=True, heads=16, window=1024, context_length=262144,
    drafter_width=1024, drafter_feed_forward=8192, drafter_heads=16,
)  # fmt: skip
SIZES = {
    "E2B": replace(
        _SMALL, width=1536, feed_forward=6144, sliding=_pattern(35, 4), shared_kv=20,
        double_wide=True, kv_heads_sliding=1, kv_heads_full=1,
    ),
    "E4B": replace(
        _SMALL, width=2560, feed_forward=10240, sliding=_pattern(42, 5), shared_kv=18,
        kv_heads_sliding=2, kv_heads_full=2,
    ),
    "12B": replace(
        _LARGE, width=3840, feed_forward=15360, sliding=_pattern(48, 5),
        kv_heads_sliding=8, kv_heads_full=1,
    ),
    "26B-A4B": replace(
        _LARGE, kind="moe", width=2816, feed_forward=2112, sliding=_pattern(30, 5),
        kv_heads_sliding=8, kv_heads_full=2, experts=128, experts_used=8, expert_feed_forward=704,
    ),
    "31B": replace(
        _LARGE, width=5376, feed_forward=21504, sliding=_pattern(60, 5), heads=32,
        kv_heads_sliding=16, kv_heads_full=4, drafter_heads=32,
    ),
}  # fmt: skip

# Words that are one token each in the real vocabulary, each only once.
TEXT = (
    "The first line of this file says how a small model can help large ones write faster: it makes "
    "short guesses, and then they check every word in one step. When most words were right much "
    "time is saved; if not nothing gets lost but some work which seems simple enough"
)
# Two in ten, unevenly, so that no draft length falls into step with them.
ERRORS = Drafter(wrong_after=frozenset({3, 8, 12, 17, 21, 24, 30, 39, 45, 46}))


@dataclass(frozen=True)
class RealPair:
    """A pair on disk; what it says is ``script`` for ever."""

    target: Path
    drafter: Path
    size: str

    def expected(self, draft_length: int, max_tokens: int) -> Acceptance:
        """Counts of a greedy reply."""
        return expected_acceptance(SCRIPT, draft_length, max_tokens, ERRORS)


def _pieces() -> list[str]:
    """The words of TEXT with the space before them, punctuation apart."""
    pieces: list[str] = []
    for word in TEXT.split(" "):
        bare = word.rstrip(":,.;")
        pieces.append(f" {bare}" if pieces else bare)
        if bare != word:
            pieces.append(word[len(bare) :])
    return pieces


SCRIPT = script(_pieces(), loop_to=0)


def cut(shape: Shape, layers: int) -> Shape:
    """A shape with only its first ``layers`` layers, for machines that the whole does not fit.

    They must end as the whole does, in a full layer; of a size that shares its KV cache nothing
    can be cut off.
    """
    if shape.shared_kv:
        raise ValueError("the layers that share their KV cache cannot be cut off")
    return replace(shape, sliding=shape.sliding[:layers])


def real_header(
    size: str, vocabulary: RawVocabulary, *, is_drafter: bool = False
) -> tuple[bytes, int]:
    """The header of a published file, and how long the whole file would be.

    Of the QAT files, which are Q4_0 throughout; like these it uses the embedding as the output
    too. Of E2B and E4B one float matrix is larger here, by 20 and 40 MB.
    """
    shape = replace(SIZES[size], separate_head=False)
    tensors = (drafter_tensors if is_drafter else target_tensors)(shape, len(vocabulary.ids))
    parts = [Part(tensor, _kind(tensor), tuple) for tensor in tensors]
    header = raw_header(_writer(size, shape, is_drafter), vocabulary.keys, parts)
    return header, raw_length(header, parts)


def hollow_pair(size: str, vocabulary: RawVocabulary, folder: Path) -> RealPair:
    """Files with the headers of `real_header` and a hole in place of the weights.

    For what is measured without loading weights. Where the file system knows holes, they take no
    room on the disk.
    """
    pair = RealPair(folder / f"{size}-hollow.gguf", folder / f"mtp-{size}-hollow.gguf", size)
    for path, is_drafter in ((pair.target, False), (pair.drafter, True)):
        header, length = real_header(size, vocabulary, is_drafter=is_drafter)
        with path.open("wb") as file:
            file.write(header)
            file.truncate(length)
    return pair


def real_pair(
    size: str, vocabulary_file: Path, folder: Path, *, layers: int | None = None
) -> RealPair:
    """The pair of a size in ``folder``, built unless it is there; see `cut` for ``layers``.

    Pairs of this size that an earlier version of this module left behind are removed first.
    """
    shape = SIZES[size] if layers is None else cut(SIZES[size], layers)
    stem = f"gemma-4-{size}-real-shape-{_version(shape)}"
    pair = RealPair(folder / f"{stem}.gguf", folder / f"mtp-{stem}.gguf", size)
    if pair.target.exists() and pair.drafter.exists():
        return pair
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"*gemma-4-{size}-real-shape-*.gguf"):
        # Windows keeps a file that is in use.
        with suppress(PermissionError):
            old.unlink()
    vocabulary = read_vocabulary(vocabulary_file, leave_out=("tokenizer.chat_template",))
    said, proposed = target_chain(SCRIPT), drafter_chain(SCRIPT, ERRORS.wrong(SCRIPT))
    drafter_head = head_rows(proposed, space(proposed, shape.drafter_width))
    _write(pair.target, shape, vocabulary, target_rows(said, shape), {}, False)
    special = bridges(proposed, said, shape)
    _write(pair.drafter, shape, vocabulary, {"token_embd.weight": drafter_head}, special, True)
    return pair


def _write(
    path: Path,
    shape: Shape,
    vocabulary: RawVocabulary,
    rows: dict[str, Rows],
    special: dict[str, Matrix],
    is_drafter: bool,
) -> None:
    writer = _writer(path.stem, shape, is_drafter)
    tensors = (drafter_tensors if is_drafter else target_tensors)(shape, len(vocabulary.ids))
    filling = Filling(int(is_drafter), special)
    pool = _pool()
    parts = [_part(tensor, filling, rows, vocabulary.ids, pool) for tensor in tensors]
    needed = sum(part.size for part in parts) + sum(map(len, vocabulary.keys))
    free = shutil.disk_usage(path.parent).free
    if needed > free:
        raise OSError(f"{path.parent} has {free >> 20} MiB free, {path.name} needs {needed >> 20}")
    write_raw(path, writer, vocabulary.keys, parts)


def _writer(name: str, shape: Shape, is_drafter: bool) -> GGUFWriter:
    """A writer on no file that has all keys but the vocabulary's."""
    writer = GGUFWriter(None, "gemma4-assistant" if is_drafter else "gemma4")
    writer.add_name(name)
    writer.add_quantization_version(2)
    writer.add_file_type(LlamaFileType.MOSTLY_Q4_0)
    writer.add_chat_template(chat_template(edge=shape.kind == "edge"))
    (write_drafter_keys if is_drafter else write_target_keys)(writer, shape)
    return writer


def _kind(tensor: Tensor) -> GGMLQuantizationType:
    """The type a tensor is stored in."""
    if tensor.role in (Role.EMBEDDING, Role.HEAD, Role.MATRIX, Role.BRIDGE):
        return Q4_0
    router = tensor.name.endswith("ffn_gate_inp.weight")
    if tensor.role is Role.FLOAT_MATRIX and not router:
        return GGMLQuantizationType.BF16
    return GGMLQuantizationType.F32


def _part(
    tensor: Tensor,
    filling: Filling,
    rows: dict[str, Rows],
    ids: dict[str, int],
    pool: NDArray[np.uint8],
) -> Part:
    """A tensor's type and where its bytes come from."""
    if tensor.name in rows:
        return Part(tensor, Q4_0, partial(_row_chunks, rows[tensor.name], ids, tensor))
    if tensor.role in (Role.MATRIX, Role.BRIDGE) and tensor.name not in filling.special:
        return Part(tensor, Q4_0, partial(_random_chunks, tensor, pool))
    kind = _kind(tensor)
    return Part(tensor, kind, lambda: [pack(filling.of(tensor), kind).tobytes()])


def _pool() -> NDArray[np.uint8]:
    """[blocks, 18] random Q4_0 blocks: a half float scale, here still 0, and 32 random nibbles."""
    blocks = np.random.default_rng(4).integers(0, 256, (CHUNK // 18, 18), np.uint8)
    blocks[:, :2] = 0
    return blocks


def _random_chunks(tensor: Tensor, pool: NDArray[np.uint8]) -> Iterator[bytes]:
    """Blocks of the pool, from a place of the tensor's own, with a scale that suits its rows."""
    # A nibble minus 8 has a standard deviation of 4.6; a product with a row should keep its size.
    scale = np.float16(1 / (4.6 * np.sqrt(tensor.shape[-1])))
    blocks = pool.copy()
    blocks[:, :2] = np.frombuffer(scale.tobytes(), np.uint8)
    left = int(np.prod(tensor.shape, dtype=np.int64)) // GGML_QUANT_SIZES[Q4_0][0]
    start = int.from_bytes(sha256(tensor.name.encode()).digest()[:4], "little") % len(pool)
    while left:
        chunk = blocks[start : start + left]
        yield chunk.tobytes()
        left -= len(chunk)
        start = 0


def _row_chunks(rows: Rows, ids: dict[str, int], tensor: Tensor) -> Iterable[bytes]:
    """Rows of tokens: the usual one, but for those that have their own."""
    usual = pack(rows.usual[None], Q4_0)
    own = {ids[stored(name)]: pack(row[None], Q4_0)[0] for name, row in rows.named.items()}
    step = CHUNK // usual.shape[1]
    for start in range(0, tensor.shape[0], step):
        chunk = np.repeat(usual, min(step, tensor.shape[0] - start), axis=0)
        for token, row in own.items():
            if start <= token < start + len(chunk):
                chunk[token - start] = row
        yield chunk.tobytes()


def _version(shape: Shape) -> str:
    """Changes with what would be written."""
    sources = [Path(__file__), *sorted((Path(__file__).parents[1] / "ggufs").glob("[!t]*.py"))]
    digest = sha256(repr(shape).encode())
    for source in sources:
        digest.update(source.read_bytes())
    return digest.hexdigest()[:8]


def default_folder() -> Path:
    """Outside any checkout: the files are large and worth keeping."""
    return Path(user_cache_dir("gemma-local")) / "real-shape"


def main() -> None:
    """Build a pair and say where it is."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.real_shape", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--vocab", type=Path, required=True, help="a GGUF with Gemma 4's tokenizer")
    parser.add_argument("--size", choices=SIZES, default="E2B")
    parser.add_argument("--layers", type=int, help="only the first layers (12B, 26B-A4B, 31B)")
    parser.add_argument("--folder", type=Path, default=default_folder())
    options = parser.parse_args()
    began = time.monotonic()
    pair = real_pair(options.size, options.vocab, options.folder, layers=options.layers)
    for path in (pair.target, pair.drafter):
        print(f"{path}  {path.stat().st_size / 1e6:.1f} MB")
    counts = pair.expected(3, 200)
    print(f"{time.monotonic() - began:.1f} s; acceptance at a draft length of 3: {counts.rate:.2f}")


if __name__ == "__main__":
    main()
