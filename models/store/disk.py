"""Room on disks, and what file systems cannot hold."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Final

from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.store.errors import NoSpace, StoreError

SPARE: Final = 64 << 20
"""Bytes that stay free, for all else that wants to write."""

FAT_LIMIT: Final = (4 << 30) - 1
"""Bytes of the largest file on FAT32."""

_FULL: Final = frozenset({errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})


def check_space(folder: Path, needed: int) -> None:
    """Refuse to write ``needed`` bytes into ``folder`` (which need not exist) if they don't fit.

    Raises:
        NoSpace: with what is needed, where, and what is free.
    """
    free = shutil.disk_usage(_existing(folder)).free
    if needed and needed + SPARE > free:
        raise NoSpace(
            f"{human_bytes(needed)} are needed in {folder}, and {human_bytes(free)} are free "
            f"there. Free at least {human_bytes(needed + SPARE - free)}, or use another disk "
            "(HF_HOME says where downloads go)."
        )


def check_file_size(folder: Path, file: str, size: int) -> None:
    """Refuse a file that is too large for the file system of ``folder``. Raises NoSpace."""
    if size > FAT_LIMIT and _file_system(folder) in ("vfat", "msdos", "fat", "fat32"):
        raise too_large(folder, file, size)


def too_large(folder: Path, file: str, size: int) -> NoSpace:
    """The error for a file beyond FAT32."""
    return NoSpace(
        f"{file} has {human_bytes(size)}, and {folder} is formatted as FAT32, whose files end at "
        f"{human_bytes(FAT_LIMIT)}. Format the medium as exFAT, or take a smaller quantisation."
    )


def write_problem(error: OSError, folder: Path) -> StoreError:
    """What to tell a person about a write into ``folder`` that failed."""
    if error.errno in _FULL:
        return NoSpace(
            f"{folder} is full ({error.strerror}). Make room and give the same command again: it "
            "goes on from what is there."
        )
    return StoreError(
        f"{folder} cannot be written ({error.strerror or error}). See whether the folder is yours "
        "and the disk is in order."
    )


def _existing(folder: Path) -> Path:
    folder = folder.absolute()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _file_system(folder: Path) -> str:
    import psutil  # Here: it is needed for files of gigabytes only.

    place = _existing(folder).resolve()
    best, kind = -1, ""
    for partition in psutil.disk_partitions(all=True):
        mount = Path(partition.mountpoint)
        if place.is_relative_to(mount) and len(mount.parts) > best:
            best, kind = len(mount.parts), partition.fstype.lower()
    return kind
