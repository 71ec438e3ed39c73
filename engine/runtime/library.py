"""llama.cpp itself: the one import of ``llama_cpp``, its version, its log.

Gemma 4's drafters are driven through functions that llama-cpp-python calls experimental
(``llama_cpp_ext``), and through struct fields that change between releases. A struct that is laid
out differently does not raise, it corrupts memory; so the version is pinned and checked before
anything is called.
"""

from __future__ import annotations

import collections
import contextlib
import ctypes
import importlib.util
import os
import re
import sys
import threading
from typing import Any, Final, TextIO

from gemma_local.models.errors import GemmaLocalError

REQUIRED: Final = "0.3.36"
"""The llama-cpp-python release whose C structs and extension calls this engine was tried with."""
_INFO: Final = re.compile(r"llama_cpp_python-([^-]+)\.dist-info", re.IGNORECASE)
"""The folder in which pip writes down what it installed."""


class RuntimeUnusable(GemmaLocalError):
    """llama.cpp is missing, of another version, or built without a part that is needed."""


def _installed() -> str | None:
    """The release of llama-cpp-python that is installed, None if there is none."""
    for folder in sys.path:
        with contextlib.suppress(OSError):
            for name in os.listdir(folder or "."):  # noqa: PTH208 - pathlib takes longer
                if found := _INFO.fullmatch(name):
                    return found[1]
    # Installed in some other way; this takes longer to import than all of the C bindings.
    import importlib.metadata

    try:
        return importlib.metadata.version("llama-cpp-python")
    except importlib.metadata.PackageNotFoundError:
        return None


def check_version() -> None:
    """Raise RuntimeUnusable unless exactly the supported llama-cpp-python is installed."""
    remedy = f'pip install "llama-cpp-python=={REQUIRED}"'
    found = _installed()
    if found is None:
        raise RuntimeUnusable(f"llama-cpp-python is not installed; run: {remedy}")
    if found != REQUIRED:
        raise RuntimeUnusable(
            f"llama-cpp-python {found} is installed, but gemma-local needs {REQUIRED}, the release "
            f"its low-level calls were tried with; run: {remedy}"
        )


def _skip_the_high_level_interface() -> None:
    """Make ``llama_cpp`` a package whose own code is not run.

    That code imports jinja2 and a chat interface, which takes longer than all of the C bindings,
    and nothing here needs it.
    """
    spec = importlib.util.find_spec("llama_cpp")
    if spec is not None and "llama_cpp" not in sys.modules:
        sys.modules["llama_cpp"] = importlib.util.module_from_spec(spec)


check_version()
_skip_the_high_level_interface()
try:
    from llama_cpp import llama_cpp as C  # noqa: N812
    from llama_cpp import llama_cpp_ext as X  # noqa: N812
except (OSError, RuntimeError, ImportError) as error:
    raise RuntimeUnusable(
        f"llama.cpp could not be loaded ({error}); reinstall it with: "
        f'pip install --force-reinstall --no-cache-dir "llama-cpp-python=={REQUIRED}"'
    ) from error
except AttributeError as error:
    raise RuntimeUnusable(
        f"this build of llama.cpp lacks a function that MTP drafting needs ({error}); reinstall "
        f'it with: pip install --force-reinstall "llama-cpp-python=={REQUIRED}"'
    ) from error


class Log:
    """Where llama.cpp's messages go: a file, and the last lines kept for error sentences."""

    def __init__(self) -> None:
        self.file: TextIO | None = None
        self._tail: collections.deque[str] = collections.deque(maxlen=200)
        self._partial = ""
        self._lock = threading.Lock()
        # The reference keeps the trampoline alive; llama.cpp keeps only a raw pointer to it.
        self._callback = C.llama_log_callback(self._receive)

    def install(self, file: TextIO | None) -> None:
        """Send llama.cpp's log to ``file`` (None: keep the last lines only)."""
        self.file = file
        C.llama_log_set(self._callback, ctypes.c_void_p(0))

    def _receive(self, level: int, text: bytes, _user_data: object) -> None:
        with self._lock:
            self._partial += text.decode("utf-8", "replace")
            *lines, self._partial = self._partial.split("\n")
            for line in lines:
                self._tail.append(line)
                if self.file is not None:
                    self.file.write(line + "\n")
            if lines and self.file is not None:
                self.file.flush()

    def last_problem(self) -> str:
        """The most recent line that reads like an error, '' if there is none. Of several in a row
        the first: it has the cause, and the others say what did not come of it."""
        found = ""
        for line in reversed(self._tail):
            lowered = line.lower()
            if "error" in lowered or "failed" in lowered or "unable" in lowered:
                found = line.strip()
            elif found:
                break
        return found


__all__ = ["C", "RuntimeUnusable", "X", "can_offload", "log", "pointer_to", "start", "system_info"]

log: Final = Log()
_started = False


def start(log_file: TextIO | None = None) -> None:
    """Initialise llama.cpp once per process and route its log."""
    global _started
    log.install(log_file)
    if not _started:
        C.llama_backend_init()
        _started = True


def system_info() -> str:
    """What this build of llama.cpp can use of the processor, as it says itself."""
    return bytes(C.llama_print_system_info()).decode("utf-8", "replace").strip(" |\n")


def can_offload() -> bool:
    """Whether this build can put layers on a GPU."""
    return bool(C.llama_supports_gpu_offload())


def pointer_to(array: Any, kind: Any) -> Any:
    """A ctypes pointer of ``kind`` to a numpy array's memory. The caller keeps the array alive."""
    return ctypes.cast(array.ctypes.data, ctypes.POINTER(kind))
