"""Which weights llama.cpp's CPU backend copies into another order when it loads them.

Kernels that take several rows of a matrix at a time want them interleaved (``CPU_REPACK`` in
llama.cpp's log). The copy is memory of the process; what it was made from is not read again, and
the system may drop it from its cache.
"""

from __future__ import annotations

import re

_BY_FEATURE: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (frozenset({"AVX2"}), frozenset({"Q4_0", "Q4_K", "IQ4_NL", "MXFP4"})),
    (frozenset({"AVX512"}), frozenset({"Q2_K"})),
    (
        frozenset({"NEON", "DOTPROD"}),
        frozenset({"Q4_0", "Q4_K", "Q5_K", "Q6_K", "IQ4_NL", "MXFP4", "Q8_0", "Q1_0"}),
    ),
    (
        frozenset({"NEON", "MATMUL_INT8"}),
        frozenset({"Q4_0", "Q4_K", "Q5_K", "Q6_K", "Q8_0", "Q1_0"}),
    ),
)
"""What a processor must have, and the formats that are then rearranged:
``ggml_repack_get_optimal_repack_type`` in ``ggml/src/ggml-cpu/repack.cpp``."""

USUAL: frozenset[str] = _BY_FEATURE[0][1]
"""On an x86 processor with AVX2."""


def rearranged_formats(system_info: str) -> frozenset[str]:
    """Formats that are rearranged on a machine.

    Args:
        system_info: what ``llama_print_system_info`` says, such as ``AVX2 = 1 | REPACK = 1``.

    Returns:
        Nothing if that build of llama.cpp does not rearrange at all.
    """
    has = frozenset(re.findall(r"(\w+) = 1\b", system_info))
    if "REPACK" not in has:
        return frozenset()
    found = (formats for needed, formats in _BY_FEATURE if needed <= has)
    return frozenset().union(*found)
