"""A folder that is held open: what is done in it happens there, whatever becomes of its path.

Between looking where a path leads and writing there, any folder on the way could be replaced by a
link. So the way is walked once, folder by folder, without following links, and everything else is
done relative to the folder where it ended. Windows has no such calls: there the path is looked at
again each time.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final

_BY_HANDLE: Final = {os.open, os.stat, os.mkdir, os.unlink, os.rename} <= os.supports_dir_fd
# O_PATH asks for no permission to list the folder, only to go through it.
_WALK: Final = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_PLAIN: Final = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


class OpenFolder:
    """A context manager. All methods raise OSError."""

    def __init__(self, path: Path, *, create: bool = False) -> None:
        """``path`` is absolute, and no part of it may be a link. ``create`` makes what is missing
        of it."""
        self.path = path
        self._handle: int | None = None
        if _BY_HANDLE:
            self._handle = self._walk(create)
        else:
            self._check(create)

    def __enter__(self) -> OpenFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def stat(self, name: str) -> os.stat_result | None:
        """What is there under ``name``, links not followed; None if nothing."""
        try:
            return os.stat(self._at(name), dir_fd=self._handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def read(self, name: str, most: int = -1) -> bytes:
        """The first ``most`` bytes of an ordinary file, or all. Never waits for a writer."""
        flags = os.O_RDONLY | _PLAIN | getattr(os, "O_NONBLOCK", 0)
        with os.fdopen(os.open(self._at(name), flags, dir_fd=self._handle), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise OSError(errno.EINVAL, "not an ordinary file")
            return file.read(most)

    def write(self, name: str, data: bytes, mode: int | None = None) -> None:
        """Put a file in the place of ``name``, whole or not at all, also if the power fails.

        It keeps owner and mode of the file that it replaces; ``mode`` is for one that is new or
        gets another.
        """
        before = self.stat(name)
        if before is not None and not stat.S_ISREG(before.st_mode):
            raise OSError(errno.EINVAL, "not an ordinary file")
        if mode is None and before is not None:
            mode = stat.S_IMODE(before.st_mode)
        temporary = f".{name[:40]}.{secrets.token_hex(6)}.tmp"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PLAIN
        # Of a new file the mode is the person's umask's business.
        first = 0o666 if mode is None else 0o600
        handle = os.open(self._at(temporary), flags, first, dir_fd=self._handle)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if before is not None and hasattr(os, "fchown"):
                    with suppress(PermissionError):
                        os.fchown(file.fileno(), before.st_uid, before.st_gid)
                if mode is not None and hasattr(os, "fchmod"):
                    os.fchmod(file.fileno(), mode)
                file.flush()
                os.fsync(file.fileno())
            self._replace(temporary, name)
        except BaseException:
            with suppress(OSError):
                os.unlink(self._at(temporary), dir_fd=self._handle)
            raise
        self._settle()

    def remove(self, name: str) -> None:
        """Delete a file."""
        os.unlink(self._at(name), dir_fd=self._handle)
        self._settle()

    def remove_folder(self, name: str) -> None:
        """Delete a folder that is empty."""
        os.rmdir(self._at(name), dir_fd=self._handle)

    def _replace(self, temporary: str, name: str) -> None:
        if self._handle is None:
            Path(self._at(temporary)).replace(self._at(name))
        else:
            os.rename(temporary, name, src_dir_fd=self._handle, dst_dir_fd=self._handle)

    def _settle(self) -> None:
        """Have the folder's own entry on the disk."""
        if self._handle is None:
            return
        with suppress(OSError):
            handle = os.open(".", os.O_RDONLY, dir_fd=self._handle)
            try:
                os.fsync(handle)
            finally:
                os.close(handle)

    def _at(self, name: str) -> str:
        """How ``name`` is given to the system. Raises OSError if the path has become a link."""
        if name in ("", ".", "..") or os.sep in name or (os.altsep and os.altsep in name):
            raise OSError(errno.EINVAL, "not a file's name", name)
        if self._handle is not None:
            return name
        if self.path.resolve() != self.path:
            raise OSError(errno.ELOOP, "became a link", str(self.path))
        return str(self.path / name)

    def _walk(self, create: bool) -> int:
        handle = os.open(self.path.anchor, _WALK)
        for part in self.path.parts[1:]:
            try:
                try:
                    inner = os.open(part, _WALK, dir_fd=handle)
                except FileNotFoundError:
                    if not create:
                        raise
                    with suppress(FileExistsError):
                        os.mkdir(part, dir_fd=handle)
                    inner = os.open(part, _WALK, dir_fd=handle)
            finally:
                os.close(handle)
            handle = inner
        return handle

    def _check(self, create: bool) -> None:
        if create:
            self.path.mkdir(parents=True, exist_ok=True)
        if self.path.resolve(strict=True) != self.path:
            raise OSError(errno.ELOOP, "became a link", str(self.path))
