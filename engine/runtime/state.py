"""The bytes of a sequence's state, and the order of the cells in them.

llama.cpp writes a state cell by cell as they lie in its cache, and reads it back into one run of
cells. The sliding window is a ring: where it had wrapped, the newest positions would come to lie
before the oldest. Attention does not mind, but its sums run over the cells in order, and what comes
next would no longer follow on what it continues. So cells are put in the order of positions.

Layout (``llama_kv_cache::state_write`` and ``llama_context::state_seq_get_data`` of the vendored
llama.cpp), little-endian, one part per cache: full attention, then the sliding window::

    magic u32, sequence i32, then each part:
        streams u32, then for each stream: cells u32, and if there are any:
            for each cell: position i32, sequences u32 (1), sequence i32
            values transposed u32, layers u32
            keys,   for each layer: type i32, bytes of a row u64, rows
            values, for each layer: the same, or transposed: type i32, bytes of an element u32,
                                    rows u32, rows of one element for each cell
"""

from __future__ import annotations

import struct
from typing import Final

import numpy as np
from numpy.typing import NDArray

from gemma_local.engine.runtime.context import Bytes

_HEAD: Final = struct.Struct("<Ii")
_CELL: Final = np.dtype([("position", "<i4"), ("sequences", "<u4"), ("sequence", "<i4")])


class UnknownState(ValueError):
    """A state is not laid out as this module knows it."""


def arrange(state: Bytes) -> int:
    """Put the cells of a state in order of position, in place.

    Returns the first position of its last part, the sliding window where there is one. Raises
    UnknownState when the bytes are not what is written above; they may then be half sorted.
    """
    reader = _Reader(state)
    reader.skip(_HEAD.size)
    first = 0
    while reader.offset < state.size:
        for _ in range(reader.number("<u4")):
            cells = reader.number("<u4")
            if cells:
                first = _arrange_cells(reader, cells)
    return first


def _arrange_cells(reader: _Reader, count: int) -> int:
    cells = reader.take(count * _CELL.itemsize).view(_CELL)
    positions = cells["position"]
    order = np.argsort(positions, kind="stable")
    first = int(positions[order[0]])
    if (cells["sequences"] != 1).any() or (
        positions[order] != np.arange(first, first + count)
    ).any():
        raise UnknownState("the positions in a state are not one run")
    is_sorted = bool((order[:-1] < order[1:]).all())
    cells[:] = cells[order]
    transposed, layers = reader.number("<u4"), reader.number("<u4")
    for _ in range(layers):
        _arrange_rows(reader, order, is_sorted)
    for _ in range(layers):
        if transposed:
            _arrange_columns(reader, order, is_sorted)
        else:
            _arrange_rows(reader, order, is_sorted)
    return first


def _arrange_rows(reader: _Reader, order: NDArray[np.int64], is_sorted: bool) -> None:
    reader.skip(4)
    width = reader.number("<u8")
    rows = reader.take(order.size * width)
    if not is_sorted:
        rows = rows.reshape(order.size, width)
        rows[:] = rows[order]


def _arrange_columns(reader: _Reader, order: NDArray[np.int64], is_sorted: bool) -> None:
    reader.skip(4)
    element, rows = reader.number("<u4"), reader.number("<u4")
    columns = reader.take(rows * order.size * element)
    if not is_sorted:
        columns = columns.reshape(rows, order.size, element)
        columns[:] = columns[:, order]


class _Reader:
    """Takes what comes next from a buffer."""

    def __init__(self, data: Bytes) -> None:
        self._data = data
        self.offset = 0

    def take(self, size: int) -> Bytes:
        taken = self._data[self.offset : self.offset + size]
        if taken.size != size:
            raise UnknownState("a state ends in the middle")
        self.offset += size
        return taken

    def skip(self, size: int) -> None:
        self.take(size)

    def number(self, kind: str) -> int:
        return int(np.frombuffer(self.take(np.dtype(kind).itemsize), kind)[0])
