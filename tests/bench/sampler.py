"""What choosing a token costs: ``python -m tests.bench.sampler``.

Milliseconds per row at Gemma 4's 262144 entries, the best and the median of many.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from gemma_local.engine.messages import Sampling
from gemma_local.engine.sampler import Sampler

ROWS = 200
CASES = {
    "greedy": Sampling(temperature=0.0),
    "Gemma 4's defaults": Sampling(seed=1),
    "with a repeat penalty": Sampling(seed=1, repeat_penalty=1.1),
    "min-p only": Sampling(seed=1, top_k=0, top_p=1.0, min_p=0.05),
    "no filter": Sampling(seed=1, top_k=0, top_p=1.0),
}


def main() -> None:
    """Measure each case on rows like a softcapped model's: most logits low, a few high."""
    rng = np.random.default_rng(0)
    row = (30 * np.tanh(rng.normal(-8, 3, 262_144) / 30)).astype(np.float32)
    row[rng.integers(0, row.size, 300)] += rng.gamma(2, 4, 300).astype(np.float32)
    for name, sampling in CASES.items():
        sampler = Sampler(sampling, prompt=range(1000, 1064))
        times = []
        for index in range(ROWS):
            copy = row.copy()
            began = time.perf_counter()
            sampler.choose(copy, index)
            times.append((time.perf_counter() - began) * 1e3)
        print(f"{name:24} best {min(times):6.3f} ms   median {statistics.median(times):6.3f} ms")


if __name__ == "__main__":
    main()
