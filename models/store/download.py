"""One file from the hub into the cache: resumed, checked against its checksum, then published.

huggingface_hub's own downloader keeps nothing of a download that was cut off and compares sizes
only. This one writes the same ``blobs/CHECKSUM.incomplete`` under the same lock, goes on from
what is there (also after a kill), hashes while bytes come, and gives the file its name only when
the checksum is right: a blob that has its name is whole.
"""

from __future__ import annotations

import errno
import os
import re
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from huggingface_hub.errors import HfHubHTTPError

from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.store.checksum import Digest, feed, new_digest
from gemma_local.models.store.disk import FAT_LIMIT, too_large, write_problem
from gemma_local.models.store.errors import HubUnreachable, Stopped, StoreError, WrongContent
from gemma_local.models.store.hub import Hub
from gemma_local.models.store.hub_cache import HubCache
from gemma_local.models.store.hub_errors import (
    HUB_ERRORS,
    explained,
    is_transient,
    reason,
    wait_asked_by,
)
from gemma_local.models.store.progress import Meter
from gemma_local.models.store.wanted import RemoteFile

_RANGE = re.compile(r"bytes (\d+)-\d*/(\d+|\*)")
_CHUNK = 1 << 18


class Download:
    """One file on its way. ``index`` is its number in ``meter``."""

    def __init__(
        self,
        remote: RemoteFile,
        hub: Hub,
        cache: HubCache,
        meter: Meter,
        index: int,
        stop: threading.Event,
    ) -> None:
        self._remote = remote
        self._hub = hub
        self._cache = cache
        self._meter = meter
        self._index = index
        self._stop = stop
        self._partial = cache.partial(remote)
        self._digest: Digest = new_digest(remote.oid, remote.bytes)
        self._whole_only = False
        """Whether to ask for the whole file, as the server gives no part of it."""
        self._stream: Any = None
        """The connection on which bytes are coming."""

    def interrupt(self) -> None:
        """Wake a thread that waits for bytes on a connection where none come; after a stop."""
        stream = self._stream
        found = stream.get_extra_info("socket") if stream is not None else None
        if isinstance(found, socket.socket):
            with suppress(OSError):
                # Not an SSL socket's own method, which takes away what the other thread reads from.
                socket.socket.shutdown(found, socket.SHUT_RDWR)

    def run(self, revision: str | None, *, replace: bool = False) -> Path:
        """Fetch what is missing; the path in the snapshot. Blocks while another process fetches it.

        Args:
            revision: the branch that was asked for; it is noted in the cache.
            replace: the blob that is there is damaged, and makes way once the new one is whole.

        Raises:
            StoreError: and what has come stays, unless its checksum was wrong.
        """
        blob = self._cache.blob(self._remote)
        try:
            blob.parent.mkdir(parents=True, exist_ok=True)
            with self._cache.lock(self._remote):
                if replace or not self._is_whole(blob):
                    self._complete()
                    self._partial.replace(blob)
                self._meter.stage(self._index, "done", self._remote.bytes)
                return self._cache.publish(self._remote, revision)
        except OSError as error:
            if error.errno == errno.EFBIG and self._remote.bytes > FAT_LIMIT:
                raise too_large(blob.parent, self._remote.file, self._remote.bytes) from error
            raise write_problem(error, blob.parent) from error

    def _is_whole(self, blob: Path) -> bool:
        """Whether the content is here already, under another commit or by another program."""
        if not blob.is_file() or blob.stat().st_size != self._remote.bytes:
            return False
        self._meter.stage(self._index, "checking", 0)
        digest = new_digest(self._remote.oid, self._remote.bytes)
        feed(digest, blob, self._on_checked)
        return digest.hexdigest() == self._remote.oid

    def _complete(self) -> None:
        """Bring the partial file to its full length and the right checksum."""
        for last in (False, True):
            with self._partial.open("ab") as file:
                self._take_what_is_there(file)
                self._fetch_rest(file)
                file.flush()
                os.fsync(file.fileno())
            if self._digest.hexdigest() == self._remote.oid:
                return
            self._partial.unlink()
            name = self._remote.file
            if last:
                raise WrongContent(
                    f"{name} came twice with the wrong checksum: {self._digest.hexdigest()[:12]}… "
                    f"in place of {self._remote.oid[:12]}…. Something between here and the hub "
                    "changes what passes (a proxy, a mirror, bad memory); try another network. "
                    "Nothing of it was kept."
                )
            self._meter.remark(f"{name}: what came has the wrong checksum; fetching it anew")

    def _take_what_is_there(self, file: BinaryIO) -> None:
        self._digest = new_digest(self._remote.oid, self._remote.bytes)
        size = file.tell()
        if size > self._remote.bytes:
            self._start_over(file)
        elif size:
            self._meter.stage(self._index, "checking", 0)
            feed(self._digest, self._partial, self._on_checked)
        self._meter.stage(self._index, "fetching", file.tell())

    def _on_checked(self, count: int) -> None:
        self._check_stop()
        self._meter.checked(self._index, count)

    def _fetch_rest(self, file: BinaryIO) -> None:
        """Requests until the file has its length."""
        failures = 0
        while (before := file.tell()) < self._remote.bytes:
            cause = self._attempt(file)
            if file.tell() < self._remote.bytes:
                failures = 1 if file.tell() > before else failures + 1
                self._pause(failures, cause)

    def _attempt(self, file: BinaryIO) -> Exception | None:
        """One request, as far as it goes; what ended it early, if that may pass."""
        try:
            self._request(file)
        except HUB_ERRORS as error:
            if _status(error) == 416 and not self._whole_only:
                # It claims to have nothing behind what is there. Take it from the start once more.
                self._whole_only = True
            elif not is_transient(error):
                raise self._explained(error) from error
            return error
        finally:
            # From here on the connection may serve another file.
            self._stream = None
        return None

    def _pause(self, failures: int, cause: Exception | None) -> None:
        patience = self._hub.patience
        if failures >= patience.attempts:
            if cause is not None:
                raise self._explained(cause) from cause
            raise HubUnreachable(
                f"{self._remote.file} does not come to its end: the hub ends the connection again "
                "and again. Try again later: what has come stays."
            )
        why, asked = "the connection ended early", None
        if cause is not None:
            why, asked = reason(cause), wait_asked_by(cause)
        seconds = patience.wait_before(failures, asked)
        self._meter.remark(f"{self._remote.file}: {why}; trying again in {seconds:.0f} s")
        if self._stop.wait(seconds):
            raise Stopped

    def _request(self, file: BinaryIO) -> None:
        """One request, as far as it goes."""
        self._check_stop()
        start, total = file.tell(), self._remote.bytes
        with self._hub.open(self._remote, 0 if self._whole_only else start) as response:
            self._stream = response.extensions.get("network_stream")
            is_part = response.status_code == 206
            self._check_promise(response.headers, is_part, start)
            # Who sends everything, whatever was asked for, sends what is there already as well. It
            # is left unread: to throw away what is there on such an answer could lose gigabytes.
            unread = 0 if is_part else start
            if unread:
                self._meter.remark(f"{self._remote.file}: the server sends it from the start")
            for piece in response.iter_raw(_CHUNK):
                self._check_stop()
                chunk = piece[unread:]
                unread -= len(piece) - len(chunk)
                if file.tell() + len(chunk) > total:
                    raise WrongContent(
                        f"{self._remote.file} should have {human_bytes(total)}, and the server "
                        "sends more. Try again, or without a mirror (HF_ENDPOINT)."
                    )
                file.write(chunk)
                self._digest.update(chunk)
                self._meter.fetched(self._index, len(chunk))

    def _check_promise(self, headers: Mapping[str, str], is_part: bool, start: int) -> None:
        """Refuse an answer about another file, or about another part of it, before it is kept."""
        total = self._remote.bytes
        if is_part:
            match = _RANGE.fullmatch(headers.get("Content-Range", "").strip())
            if match is None or int(match[1]) != start:
                raise self._changed("another part of it than was asked for")
            promised = None if match[2] == "*" else int(match[2])
        else:
            length = headers.get("Content-Length", "")
            promised = int(length) if length.isdecimal() else None
        if promised is not None and promised != total:
            raise self._changed(f"{human_bytes(promised)} in place of {human_bytes(total)}")

    def _changed(self, what: str) -> WrongContent:
        return WrongContent(
            f"the server sends {what} for {self._remote.file}: it seems to have been changed, or "
            "cut, on the way. Give the same command again; if that does not help, leave the mirror "
            "out (HF_ENDPOINT)."
        )

    def _start_over(self, file: BinaryIO) -> None:
        file.truncate(0)
        file.seek(0)
        self._digest = new_digest(self._remote.oid, self._remote.bytes)
        self._meter.stage(self._index, "fetching", 0)

    def _check_stop(self) -> None:
        if self._stop.is_set():
            raise Stopped

    def _explained(self, error: Exception) -> StoreError:
        return explained(error, self._hub.endpoint, self._remote.repository, self._remote.file)


def _status(error: Exception) -> int:
    return error.response.status_code if isinstance(error, HfHubHTTPError) else 0
