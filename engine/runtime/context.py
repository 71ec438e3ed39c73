"""A llama.cpp context: the KV cache of some sequences, and decode calls on batches of rows."""

from __future__ import annotations

import ctypes
import sys
import time
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gemma_local.engine.runtime.library import C, X, log, pointer_to
from gemma_local.engine.runtime.model import Model
from gemma_local.models.errors import GemmaLocalError

Floats: TypeAlias = NDArray[np.float32]
Bytes: TypeAlias = NDArray[np.uint8]

KV_TYPES: Final = {
    "f16": C.GGML_TYPE_F16,
    "bf16": 30,  # GGML_TYPE_BF16, which the binding leaves out
    "q8_0": C.GGML_TYPE_Q8_0,
}


_SHIFTABLE_ROPES: Final = frozenset(
    (C.LLAMA_ROPE_TYPE_NONE, C.LLAMA_ROPE_TYPE_NORM, C.LLAMA_ROPE_TYPE_NEOX)
)
_NOWHERE: Final = 1 << 30
"""A position that no context is long enough for."""


class DecodeFailed(GemmaLocalError):
    """llama.cpp could not compute a batch."""


class Aborted(Exception):
    """A decode call was stopped from outside, by ``AbortFlag``."""


class AbortFlag:
    """Stops a running decode call on the CPU backend from another thread, at the next graph node.

    llama.cpp asks a C function of type ``bool (void *)`` after every node. A Python callback there
    would take the interpreter lock some thousand times per token; libc's ``strlen`` has the right
    shape and costs nothing: pointed at a two-byte buffer it returns 0 until the first byte is set.
    """

    def __init__(self) -> None:
        self._buffer = ctypes.create_string_buffer(2)
        libc = ctypes.CDLL("msvcrt" if sys.platform == "win32" else None)
        self._strlen = C.ggml_abort_callback(
            ctypes.cast(libc.strlen, ctypes.c_void_p).value  # type: ignore[arg-type]
        )

    def raise_flag(self) -> None:
        self._buffer[0] = b"\x01"

    def lower(self) -> None:
        self._buffer[0] = b"\x00"

    def attach(self, context_pointer: Any) -> None:
        address = ctypes.cast(self._buffer, ctypes.c_void_p)
        C.llama_set_abort_callback(context_pointer, self._strlen, address)


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """``context`` is tokens per sequence, ``ubatch`` the most tokens of one decode call, ``rows``
    the most rows of it that logits are returned for. Without ``is_fused`` attention is computed
    operation by operation, which is slower and comes closer to other implementations; a cache of
    type q8_0 needs it fused.
    """

    context: int
    sequences: int
    ubatch: int
    rows: int
    threads: int
    kv_type: str = "f16"
    is_fused: bool = True


class Context:
    """One KV cache with its compute buffers.

    ``decode`` takes parallel lists, one entry a row. Afterwards ``logits[j]`` is the j-th row that
    was asked for, shape (n_vocab,), and ``nextn[i]`` the activations of row i, shape (n_embd,).
    Both are views of llama.cpp's own buffers: they hold until the next decode call, and writing
    to a row is allowed.
    """

    def __init__(self, model: Model, options: ContextOptions, other: Context | None = None) -> None:
        """``other`` makes this the drafter's context on a target's context, which must outlive it.

        Raises DecodeFailed when the buffers do not fit into memory.
        """
        params = C.llama_context_default_params()
        params.n_ctx = options.context * options.sequences
        params.n_seq_max = options.sequences
        params.n_batch = params.n_ubatch = options.ubatch
        # Without this llama.cpp reserves n_ubatch * n_vocab floats: half a GiB for Gemma 4.
        params.n_outputs_max = options.rows
        params.n_threads = params.n_threads_batch = options.threads
        # True is the C default, and 27 GiB of cache for 31B at 32k.
        params.swa_full = False
        # A stream per sequence: each one's sliding-window ring is filled from cell 0 in order,
        # which exactness relies on, and attention never scans another sequence's cells.
        params.kv_unified = False
        params.no_perf = True
        params.type_k = params.type_v = KV_TYPES[options.kv_type]
        if not options.is_fused:
            params.flash_attn_type = C.LLAMA_FLASH_ATTN_TYPE_DISABLED
        if other is not None:
            params.ctx_type = C.LLAMA_CONTEXT_TYPE_MTP
            params.ctx_other = other.pointer
        pointer = C.llama_init_from_model(model.pointer, params)
        if not pointer:
            raise DecodeFailed(
                f"llama.cpp cannot make a context of {options.context} tokens for "
                f"{model.path.name}: {log.last_problem() or 'probably not enough memory'}; "
                "try a smaller --ctx"
            )
        self.pointer: Any = pointer
        self.options = options
        self.model = model
        self.n_vocab = model.vocabulary.size
        self.n_embd = model.n_embd_out
        self.llama_seconds = 0.0
        self.is_drafter = other is not None
        self._memory = C.llama_get_memory(pointer)
        self._nextn = False
        self._n_rows = 0
        self._n_outputs = 0
        self._allocate_batch()

    def _allocate_batch(self) -> None:
        # Own arrays instead of llama_batch_init: the drafter needs token and embd in one batch,
        # and filling numpy slices is cheaper than filling ctypes arrays element by element.
        size = self.options.ubatch
        self._tokens = np.zeros(size, np.int32)
        self._positions = np.zeros(size, np.int32)
        self._sequence_counts = np.ones(size, np.int32)
        self._sequences = np.zeros(size, np.int32)
        self._wanted = np.zeros(size, np.int8)
        base, step = self._sequences.ctypes.data, self._sequences.itemsize
        self._sequence_pointers = base + np.arange(size, dtype=np.uint64) * np.uint64(step)
        batch = C.llama_batch()
        batch.token = pointer_to(self._tokens, C.llama_token)
        batch.pos = pointer_to(self._positions, C.llama_pos)
        batch.n_seq_id = pointer_to(self._sequence_counts, ctypes.c_int32)
        batch.seq_id = pointer_to(self._sequence_pointers, ctypes.POINTER(C.llama_seq_id))
        batch.logits = pointer_to(self._wanted, ctypes.c_int8)
        if self.is_drafter:
            self.activations = np.zeros((size, self.n_embd), np.float32)
            batch.embd = pointer_to(self.activations, ctypes.c_float)
        self._batch = batch

    def close(self) -> None:
        if self.pointer:
            C.llama_free(self.pointer)
            self.pointer = None

    def enable_nextn(self, *, masked: bool) -> None:
        """Return activations with each decode: of every row, or (masked) of rows with logits."""
        X.llama_set_embeddings_nextn(self.pointer, True, masked)
        self._nextn = True

    def decode(
        self, tokens: list[int], positions: list[int], sequences: list[int], wanted: list[int]
    ) -> None:
        """Compute a batch of at most ``options.ubatch`` rows; ``wanted[i]`` 1 asks for logits.

        Raises Aborted when an AbortFlag stopped it (roll the sequences back to where they were),
        DecodeFailed when llama.cpp refuses. Rows that were computed before either stay in the
        cache until they are removed.
        """
        n = len(tokens)
        self._tokens[:n] = tokens
        self._positions[:n] = positions
        self._sequences[:n] = sequences
        self._wanted[:n] = wanted
        self._batch.n_tokens = n
        started = time.perf_counter()
        status = C.llama_decode(self.pointer, self._batch)
        C.llama_synchronize(self.pointer)
        self.llama_seconds += time.perf_counter() - started
        if status == 2:
            raise Aborted
        if status == 1:
            raise DecodeFailed("the KV cache has no room for this batch; use a larger --ctx")
        if status != 0:
            raise DecodeFailed(
                f"llama.cpp failed to decode (status {status}): {log.last_problem() or 'no reason'}"
            )
        self._n_rows = n
        self._n_outputs = sum(wanted)

    @property
    def logits(self) -> Floats:
        """Logits of the wanted rows of the last decode, shape (wanted rows, n_vocab)."""
        pointer = C.llama_get_logits(self.pointer)
        return _view(pointer, self._n_outputs, self.n_vocab)

    @property
    def nextn(self) -> Floats:
        """Activations of the last decode: (rows, n_embd), or (wanted rows, n_embd) if masked."""
        pointer = X.llama_get_embeddings_nextn(self.pointer)
        return _view(pointer, self._n_rows, self.n_embd)

    def truncate(self, sequence: int, length: int) -> bool:
        """Keep the first ``length`` positions of a sequence's cache.

        False when this kind of memory cannot go back (a recurrent state): then nothing of it may
        be used.
        """
        done = bool(C.llama_memory_seq_rm(self._memory, sequence, length, -1))
        if length == 0:
            self._search_from_start(sequence)
        return done

    def _search_from_start(self, sequence: int) -> None:
        """Let the sequence's next tokens go into the first cells that are free.

        llama.cpp looks for free cells from where it last stopped, also when it has been emptied
        since. Shifting positions that no cell has moves nothing and sends the search back to cell
        0 (``llama_kv_cache::seq_add`` and ``find_slot``).
        """
        if self.can_arrange:
            C.llama_memory_seq_add(self._memory, sequence, _NOWHERE, _NOWHERE + 1, 1)

    @property
    def can_arrange(self) -> bool:
        """Whether the order of the sliding window's cells can be known and set.

        llama.cpp asserts that positions which are shifted have one dimension, so not with M-RoPE.
        """
        return self.model.n_swa > 0 and self.model.rope_type in _SHIFTABLE_ROPES

    def first_position(self, sequence: int) -> int:
        """The oldest position still in the sliding-window cache, -1 when it is empty."""
        return int(C.llama_memory_seq_pos_min(self._memory, sequence))

    def last_position(self, sequence: int) -> int:
        """The newest position in the cache, -1 when it is empty."""
        return int(C.llama_memory_seq_pos_max(self._memory, sequence))

    def state_size(self, sequence: int, *, window_only: bool = False) -> int:
        """Bytes of what ``state`` would return now."""
        flags = _flags(window_only)
        return int(C.llama_state_seq_get_size_ext(self.pointer, sequence, flags))

    def state(self, sequence: int, *, window_only: bool = False) -> Bytes:
        """A copy of a sequence's keys and values, of the sliding-window layers alone or of all.

        Of a sliding window only the last ``n_swa`` positions are in it. Raises DecodeFailed when
        llama.cpp refuses, MemoryError when there is no room for the copy.
        """
        state = np.empty(self.state_size(sequence, window_only=window_only), np.uint8)
        written = C.llama_state_seq_get_data_ext(
            self.pointer,
            pointer_to(state, ctypes.c_uint8),
            state.size,
            sequence,
            _flags(window_only),
        )
        if not state.size or written != state.size:
            raise DecodeFailed("llama.cpp could not copy the KV cache")
        return state

    def restore(self, sequence: int, state: Bytes, *, window_only: bool = False) -> bool:
        """Put a state in the place of what a sequence holds, in cells from 0 on.

        With ``window_only`` the other layers keep what they have. False when llama.cpp refuses the
        state: the sequence then is of no use until it is emptied.
        """
        self._search_from_start(sequence)
        read = C.llama_state_seq_set_data_ext(
            self.pointer,
            pointer_to(state, ctypes.c_uint8),
            state.size,
            sequence,
            _flags(window_only),
        )
        return bool(read == state.size)

    def set_threads(self, threads: int) -> None:
        C.llama_set_n_threads(self.pointer, threads, threads)


def _flags(window_only: bool) -> int:
    return int(C.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY if window_only else 0)


def _view(pointer: Any, rows: int, width: int) -> Floats:
    if not pointer or rows == 0:
        raise DecodeFailed("llama.cpp returned no output for a row that was asked for")
    return np.ctypeslib.as_array(pointer, shape=(rows, width))
