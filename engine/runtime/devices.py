"""ggml's list of devices: what this build of llama.cpp can compute on, and its memory.

The functions and the layout of the properties are those of ``ggml/include/ggml-backend.h``.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any, Final

from gemma_local.engine.hardware.devices import Device, DeviceList
from gemma_local.engine.runtime.library import C, RuntimeUnusable, system_info

_TYPES: Final = ("CPU", "GPU", "IGPU", "ACCEL", "META")
"""Names of ``enum ggml_backend_dev_type``, in its order."""


class _Props(ctypes.Structure):
    """``struct ggml_backend_dev_props``."""

    _fields_ = (
        ("name", ctypes.c_char_p),
        ("description", ctypes.c_char_p),
        ("memory_free", ctypes.c_size_t),
        ("memory_total", ctypes.c_size_t),
        ("type", ctypes.c_int),
        ("device_id", ctypes.c_char_p),
        ("can_async", ctypes.c_bool),
        ("can_host_buffer", ctypes.c_bool),
        ("can_buffer_from_host_ptr", ctypes.c_bool),
        ("can_events", ctypes.c_bool),
        ("can_mmap", ctypes.c_bool),
    )


def device_list() -> DeviceList:
    """All that llama.cpp says of its devices and itself. `library.start` must have been called.

    Raises RuntimeUnusable as `devices` does.
    """
    return DeviceList(devices(), backends(), system_info())


def devices() -> tuple[Device, ...]:
    """All devices, the CPU among them, in ggml's order. ``library.start`` must have been called.

    Asking a GPU for its memory creates a context on it, which stays until the process ends.
    Raises RuntimeUnusable if this build lacks the functions.
    """
    count = _function("ggml_backend_dev_count", ctypes.c_size_t)
    get = _function("ggml_backend_dev_get", ctypes.c_void_p, ctypes.c_size_t)
    registry = _function("ggml_backend_dev_backend_reg", ctypes.c_void_p, ctypes.c_void_p)
    name = _function("ggml_backend_reg_name", ctypes.c_char_p, ctypes.c_void_p)
    fill = _function("ggml_backend_dev_get_props", None, ctypes.c_void_p, ctypes.POINTER(_Props))
    found = []
    for index in range(count()):
        device = get(index)
        props = _Props()
        fill(device, ctypes.byref(props))
        found.append(
            Device(
                backend=_text(name(registry(device))),
                name=_text(props.name),
                description=_text(props.description),
                type=_TYPES[props.type] if 0 <= props.type < len(_TYPES) else str(props.type),
                total=props.memory_total,
                free=props.memory_free,
                pci=_text(props.device_id) or None,
            )
        )
    return tuple(found)


def backends() -> tuple[str, ...]:
    """Names of the backends in this build, with a device or without: "CPU", "CUDA", "MTL", ..."""
    count = _function("ggml_backend_reg_count", ctypes.c_size_t)
    get = _function("ggml_backend_reg_get", ctypes.c_void_p, ctypes.c_size_t)
    name = _function("ggml_backend_reg_name", ctypes.c_char_p, ctypes.c_void_p)
    return tuple(_text(name(get(index))) for index in range(count()))


def _function(name: str, result: Any, *arguments: Any) -> Any:
    """A function of ggml. Raises RuntimeUnusable if no library has it."""
    library = next((found for found in _libraries() if hasattr(found, name)), None)
    if library is None:
        raise RuntimeUnusable(f"this build of llama.cpp cannot list its devices: it lacks {name}")
    function = getattr(library, name)
    function.restype = result
    function.argtypes = arguments
    return function


def _libraries() -> Iterator[Any]:
    """Where ggml's functions may be: a library shows the names of those that it is linked with,
    but not on Windows."""
    yield C._lib
    for name in ("ggml", "ggml-base"):
        with contextlib.suppress(OSError, RuntimeError):
            yield vars(C)["load_shared_library"](name, C._base_path)


def _text(value: bytes | None) -> str:
    return (value or b"").decode("utf-8", "replace")
