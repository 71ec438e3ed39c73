"""A loaded GGUF file: weights and vocabulary."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from gemma_local.engine.runtime.library import C, log, start
from gemma_local.engine.runtime.vocabulary import Vocabulary
from gemma_local.models.errors import BadModelFile


class Model:
    """Weights in memory. Free it with ``close`` after every context made from it is closed."""

    def __init__(
        self,
        path: Path,
        *,
        gpu_layers: int = -1,
        device: int | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Load ``path``; ``progress`` hears fractions from 0 to 1.

        ``device`` is the number of the only GPU to use, None: all, each with some layers.

        The memory map stays on: the per-layer embedding table of E2B and E4B is read lazily
        through it.

        Raises BadModelFile with llama.cpp's own last complaint when it refuses the file. Files
        that would make it abort must have been refused before (``models.admission``).
        """
        start(log_file=log.file)
        params = C.llama_model_default_params()
        params.n_gpu_layers = gpu_layers
        if device is not None:
            params.split_mode = C.LLAMA_SPLIT_MODE_NONE
            params.main_gpu = device

        def report(fraction: float, _user_data: object) -> bool:
            if progress is not None:
                progress(fraction)
            return True

        self._progress = C.llama_progress_callback(report)
        params.progress_callback = self._progress
        pointer = C.llama_model_load_from_file(os.fsencode(path), params)
        if not pointer:
            raise BadModelFile(
                f"llama.cpp cannot load {path}: {log.last_problem() or 'no reason given'}"
            )
        self.path = path
        self.pointer = pointer
        self.vocabulary = Vocabulary(C.llama_model_get_vocab(pointer))

    def close(self) -> None:
        if self.pointer:
            C.llama_model_free(self.pointer)
            self.pointer = None

    @property
    def n_embd_out(self) -> int:
        """Width of the activations a drafter exchanges with its target."""
        return int(C.llama_model_n_embd_out(self.pointer))

    @property
    def n_swa(self) -> int:
        """Sliding window in tokens, 0 without one."""
        return int(C.llama_model_n_swa(self.pointer))

    @property
    def rope_type(self) -> int:
        """llama.cpp's number for how positions are put into keys."""
        return int(C.llama_model_rope_type(self.pointer))
