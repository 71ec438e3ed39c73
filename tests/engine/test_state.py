"""A state's cells come into the order of their positions, in every layout that llama.cpp has."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from gemma_local.engine.runtime.context import Bytes
from gemma_local.engine.runtime.state import UnknownState, arrange

F16 = 1


def part(
    positions: list[int], *, transposed: bool = False, layers: int = 2, sequences: int = 1
) -> bytes:
    """One cache: in each layer a key of 3 bytes and a value of 2 elements of 2 bytes for each cell,
    which tell layer and position."""
    count = len(positions)
    data = struct.pack("<II", 1, count)
    data += b"".join(struct.pack("<iIi", position, sequences, 0) for position in positions)
    data += struct.pack("<II", transposed, layers)
    for layer in range(layers):
        keys = [bytes([layer, position, 7]) for position in positions]
        data += struct.pack("<iQ", F16, 3) + b"".join(keys)
    for layer in range(layers):
        values = [[bytes([10 + layer, p]), bytes([20 + layer, p])] for p in positions]
        if transposed:
            data += struct.pack("<iII", F16, 2, 2)
            data += b"".join(value[row] for row in range(2) for value in values)
        else:
            data += struct.pack("<iQ", F16, 4) + b"".join(a + b for a, b in values)
    return data


def state(*parts: bytes) -> Bytes:
    return np.frombuffer(struct.pack("<Ii", 0x67676D6C, 0) + b"".join(parts), np.uint8).copy()


@pytest.mark.parametrize("transposed", [False, True])
def test_cells_are_put_in_order_with_their_keys_and_values(transposed: bool) -> None:
    full = part([0, 1, 2, 3], transposed=transposed)
    # A ring that has wrapped: the newest came to lie where the oldest were.
    found = state(full, part([4, 5, 2, 3], transposed=transposed))
    assert arrange(found) == 2
    expected = state(full, part([2, 3, 4, 5], transposed=transposed))
    assert found.tobytes() == expected.tobytes()
    # And there they stay.
    assert arrange(found) == 2
    assert found.tobytes() == expected.tobytes()


def test_an_empty_cache_has_no_cells() -> None:
    assert arrange(state(struct.pack("<II", 1, 0), part([7, 8]))) == 7


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (state(part([0, 1, 3])), "not one run"),
        (state(part([0, 0, 1])), "not one run"),
        (state(part([0, 1], sequences=2)), "not one run"),
        (state(part([0, 1]))[:-1], "ends in the middle"),
        (state(part([1, 0], transposed=True))[:-1], "ends in the middle"),
        (state(b"\1"), "ends in the middle"),
    ],
)
def test_what_is_laid_out_otherwise_is_refused(wrong: Bytes, why: str) -> None:
    with pytest.raises(UnknownState, match=why):
        arrange(wrong)
