"""The environment of the processes that compute."""

from __future__ import annotations

import os


def engine_environment() -> dict[str, str]:
    """The environment of the engine's process. What the person set themselves stays."""
    environment = dict(os.environ)
    # Threads that spin at barriers bring everything to a crawl when another process wants a CPU;
    # threads that never spin lose a fifth of the speed when none does. A short spin is between:
    # E2B's shape on two cores, idle and beside one busy process, drafting 3, tokens/s:
    # passive 14.6 and 9.2, short spin 17.4 and 7.4, active 18.8 and 6.5, once 2.3.
    # OpenMP reads this once, when it is loaded: it cannot be set later.
    if "OMP_WAIT_POLICY" not in environment:
        environment["OMP_WAIT_POLICY"] = "passive"
        environment.setdefault("GOMP_SPINCOUNT", "2000")
    # A failed assertion would otherwise start a debugger to print a backtrace.
    environment.setdefault("GGML_NO_BACKTRACE", "1")
    environment.setdefault("OPENBLAS_NUM_THREADS", "1")
    return environment
