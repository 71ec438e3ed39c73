"""The hub over HTTP: what a repository holds, and the bytes of its files.

Requests go through huggingface_hub's own session and headers, so tokens, HF_ENDPOINT, proxies and
certificates work as in every other program that uses it.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Final, TypeVar

import httpx2
from huggingface_hub import HfApi, constants, get_session, hf_hub_url, hf_raise_for_status
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined]  # it is lazy

from gemma_local.models.store.errors import HubUnreachable, NotOnHub
from gemma_local.models.store.hub_errors import (
    HUB_ERRORS,
    WebPage,
    explained,
    is_transient,
    offline,
    reason,
    wait_asked_by,
)
from gemma_local.models.store.patience import Patience
from gemma_local.models.store.wanted import RemoteFile, Snapshot, Wanted

_Result = TypeVar("_Result")

# Where something else has imported it before this package could set the environment.
constants.HF_HUB_DISABLE_TELEMETRY = True

_NAME: Final = "gemma-local"
"""With the version, all that the hub gets to know about us."""

_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_OID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

OnTrouble = Callable[[str], None]
"""Hears, in a few words, why something is tried again and when."""


class Hub:
    """One hub. May be used from several threads.

    ``endpoint`` and ``offline`` are those of huggingface_hub's environment unless given.
    """

    def __init__(
        self,
        endpoint: str | None = None,
        *,
        token: str | None = None,
        offline: bool = False,
        patience: Patience | None = None,
    ) -> None:
        self.endpoint = (endpoint or constants.ENDPOINT).rstrip("/")
        self.offline = offline or constants.is_offline_mode()
        self.patience = patience or Patience()
        self._token = token

    def look_up(
        self, repository: str, revision: str | None = None, on_trouble: OnTrouble | None = None
    ) -> Snapshot:
        """What a repository holds at a revision (``main`` unless given), with the commit that it
        is at this moment. One request. Raises StoreError."""
        if self.offline:
            raise offline(repository)
        api = HfApi(
            endpoint=self.endpoint,
            token=self._token,
            library_name=_NAME,
            library_version=_version(),
        )
        info = self._patiently(
            lambda: api.model_info(
                repository,
                revision=revision,
                files_metadata=True,
                timeout=self.patience.stall,
            ),
            repository,
            on_trouble,
        )
        commit, files = info.sha or "", {}
        if not _COMMIT.fullmatch(commit):
            raise HubUnreachable(
                f"{self.endpoint} does not say which commit {repository} is at, so it is no hub. "
                "See whether HF_ENDPOINT is right."
            )
        for sibling in info.siblings or ():
            oid = sibling.lfs.sha256 if sibling.lfs is not None else sibling.blob_id
            size = sibling.lfs.size if sibling.lfs is not None else sibling.size
            # It becomes the name of a file, so whatever a mirror says it must be no path.
            if oid and _OID.fullmatch(oid) and size is not None:
                name = sibling.rfilename
                files[name] = RemoteFile(repository, name, commit, size, oid)
        return Snapshot(repository, revision, commit, files)

    @contextmanager
    def open(self, remote: RemoteFile, start: int = 0) -> Iterator[httpx2.Response]:
        """The response with the file's bytes from ``start`` on. One attempt.

        Its status is 206, or 200 if the server sends the whole file regardless of ``start``.

        Raises:
            WebPage: the answer is HTML.
            One of HUB_ERRORS.
        """
        with self._get(remote.repository, remote.file, remote.commit, start, None) as response:
            yield response

    def fetch_header(
        self, wanted: Wanted, count: int, on_trouble: OnTrouble | None = None
    ) -> bytes:
        """The first ``count`` bytes of a file, fewer if it is shorter; for looking at a model
        before it is downloaded. Raises StoreError."""
        if self.offline:
            raise offline(f"{wanted.repository}/{wanted.file}")

        def fetch() -> bytes:
            head = bytearray()
            revision = wanted.revision or constants.DEFAULT_REVISION
            with self._get(wanted.repository, wanted.file, revision, 0, count) as response:
                # A server that ignores ranges sends gigabytes: leave when there is enough.
                for chunk in response.iter_bytes(1 << 16):
                    head += chunk
                    if len(head) >= count:
                        break
            return bytes(head[:count])

        return self._patiently(fetch, wanted.repository, on_trouble, wanted.file)

    @contextmanager
    def _get(
        self, repository: str, file: str, revision: str, start: int, end: int | None
    ) -> Iterator[httpx2.Response]:
        headers = build_hf_headers(
            token=self._token, library_name=_NAME, library_version=_version()
        )
        # Packed on the way it would not have the size that was promised.
        headers["Accept-Encoding"] = "identity"
        if start or end is not None:
            headers["Range"] = f"bytes={start}-{'' if end is None else end - 1}"
        patience = self.patience
        with get_session().stream(
            "GET",
            hf_hub_url(repository, file, revision=revision, endpoint=self.endpoint),
            headers=headers,
            timeout=httpx2.Timeout(patience.stall, connect=patience.connect),
            follow_redirects=True,
        ) as response:
            hf_raise_for_status(response)
            if "html" in response.headers.get("Content-Type", "").lower():
                raise WebPage(self.endpoint)
            yield response

    def _patiently(
        self,
        request: Callable[[], _Result],
        repository: str,
        on_trouble: OnTrouble | None,
        file: str = "",
    ) -> _Result:
        attempt = 0
        while True:
            try:
                return request()
            except HUB_ERRORS as error:
                attempt += 1
                if not is_transient(error) or attempt >= self.patience.attempts:
                    raise explained(error, self.endpoint, repository, file) from error
                seconds = self.patience.wait_before(attempt, wait_asked_by(error))
                if on_trouble is not None:
                    on_trouble(f"{reason(error)}; trying again in {seconds:.0f} s")
                time.sleep(seconds)


@functools.cache
def _version() -> str:
    try:
        return version(_NAME)
    except PackageNotFoundError:
        return "unknown"


def pick(snapshot: Snapshot, wanted: Wanted) -> RemoteFile:
    """The wanted file in a snapshot. Raises NotOnHub, which names files that there are."""
    if (found := snapshot.files.get(wanted.file)) is not None:
        return found
    models = [name for name in snapshot.files if name.lower().endswith(".gguf")]
    there = f"It has {', '.join(sorted(models)[:8])}" if models else "It has no GGUF file at all"
    more = f" and {len(models) - 8} more" if len(models) > 8 else ""
    raise NotOnHub(
        f"there is no file {wanted.file!r} in {snapshot.repository} at {snapshot.commit[:8]}. "
        f"{there}{more}."
    )
