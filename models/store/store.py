"""Getting files: what is here already, what the hub has, and the download of what is missing."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.store.checksum import OnBytes, feed, new_digest
from gemma_local.models.store.disk import check_file_size, check_space
from gemma_local.models.store.download import Download
from gemma_local.models.store.errors import Stopped
from gemma_local.models.store.file_record import FileRecord
from gemma_local.models.store.hub import Hub, OnTrouble, pick
from gemma_local.models.store.hub_cache import CachedFile, HubCache
from gemma_local.models.store.hub_errors import offline
from gemma_local.models.store.progress import Meter, OnEvent
from gemma_local.models.store.wanted import RemoteFile, Snapshot, Wanted

AT_ONCE: Final = 3
"""Files that are fetched at the same time: a target, its drafter and its projector."""

_TICK: Final = 0.2
"""Seconds between two reports of progress."""


@dataclass(frozen=True, slots=True)
class PlannedFile:
    """One file: either it is here (``local``), or it is to be fetched (``remote``)."""

    wanted: Wanted
    local: Path | None = None
    remote: RemoteFile | None = None
    replaces_damaged: bool = False
    present: int = 0
    """Bytes of it that a download before this one has brought."""

    @property
    def missing(self) -> int:
        """Bytes that have to be fetched."""
        return 0 if self.remote is None else self.remote.bytes - self.present


@dataclass(frozen=True, slots=True)
class Plan:
    """What getting some files comes to."""

    files: tuple[PlannedFile, ...]
    remarks: tuple[str, ...] = ()
    """What a person should know beforehand, such as that the hub has another version."""

    @property
    def missing(self) -> int:
        """Bytes that have to be fetched."""
        return sum(file.missing for file in self.files)


class Store:
    """Files of models, from the hub into the cache.

    ``verified`` remembers which files have had their checksum compared.
    """

    def __init__(self, hub: Hub, cache: HubCache, verified: FileRecord) -> None:
        self.hub = hub
        self.cache = cache
        self._verified = verified

    def locate(self, wanted: Wanted, on_bytes: OnBytes | None = None) -> Path | None:
        """A wanted file that is here and whole; asks nothing of the network.

        The first time its checksum is computed (``on_bytes`` hears how far that is), later it is
        enough that size and time of change are the same.
        """
        cached = self.cache.find(wanted)
        if cached is not None and self._is_whole(cached, on_bytes):
            return cached.path
        return self._elsewhere(wanted)

    def plan(
        self,
        wanted: Sequence[Wanted],
        *,
        update: bool = False,
        known: Iterable[Snapshot] = (),
        on_bytes: OnBytes | None = None,
        on_trouble: OnTrouble | None = None,
    ) -> Plan:
        """Find out what is here and what has to be fetched. All files of a repository come from
        one commit, which is asked for once.

        Args:
            wanted: files, of one or several repositories.
            update: take what the hub has now, also where an older version is here.
            known: repositories that were looked up already; they are not asked about again.
            on_bytes: hears of files here that are hashed.
            on_trouble: hears why a request is made again.

        Raises:
            StoreError: something is neither here nor on the hub, or the hub cannot be asked.
        """
        planned: dict[Wanted, PlannedFile] = {}
        damaged: list[Wanted] = []
        remarks: list[str] = []
        for want in wanted:
            if (cached := self.cache.find(want)) is None:
                if (local := self._elsewhere(want)) is not None:
                    planned[want] = PlannedFile(want, local=local)
                continue
            if self._is_whole(cached, on_bytes):
                planned[want] = PlannedFile(want, local=cached.path)
                if not update and want.sha256 and cached.oid and cached.oid != want.sha256:
                    remarks.append(
                        f"{want.file} is here in another version ({cached.oid[:12]}…) than the one "
                        f"that was tried out ({want.sha256[:12]}…); --update asks the hub"
                    )
            else:
                damaged.append(want)
        asked = [want for want in wanted if update or want not in planned]
        snapshots = {(found.repository, found.revision): found for found in known}
        for want in asked:
            if self.hub.offline:
                raise offline(f"{want.repository}/{want.file}")
            key = (want.repository, want.revision)
            if key not in snapshots:
                snapshots[key] = self.hub.look_up(*key, on_trouble)
            remote = pick(snapshots[key], want)
            local = planned[want].local if want in planned else None
            if local is not None and self._verified.get(local) == remote.oid:
                continue
            if (remark := _difference(want, remote, local)) is not None:
                remarks.append(remark)
            planned[want] = self._to_fetch(want, remote, want in damaged)
        remarks += [f"{want.file} is here, but damaged: its checksum is wrong" for want in damaged]
        return Plan(tuple(planned[want] for want in wanted), tuple(remarks))

    def carry_out(
        self, plan: Plan, on_event: OnEvent, stop: threading.Event | None = None
    ) -> list[Path]:
        """Fetch what is missing, several files at once; the paths in the plan's order.

        ``on_event`` is called in this thread, a few times a second. Ctrl-C, or ``stop`` set by
        another thread, ends the downloads within a fraction of a second; what has come stays.
        ``stop`` is set at the end in any case.

        Raises:
            Stopped: by ``stop``.
            StoreError: the first that happened. The others are stopped then.
        """
        remotes = [(i, file) for i, file in enumerate(plan.files) if file.remote is not None]
        paths = [file.local or Path() for file in plan.files]
        if not remotes:
            return paths
        check_space(self.cache.folder, plan.missing)
        for _, file in remotes:
            assert file.remote is not None
            check_file_size(self.cache.folder, file.remote.file, file.remote.bytes)
        meter = Meter([(f.remote.file, f.remote.bytes) for _, f in remotes if f.remote])
        stop, gate = stop or threading.Event(), threading.Semaphore(AT_ONCE)
        downloads: list[Download] = []
        failures: list[Exception] = []

        def fetch(number: int, index: int, file: PlannedFile) -> None:
            assert file.remote is not None
            try:
                with gate:
                    download = Download(file.remote, self.hub, self.cache, meter, number, stop)
                    downloads.append(download)
                    paths[index] = download.run(file.wanted.revision, replace=file.replaces_damaged)
                self._verified.put(paths[index], file.remote.oid)
            except Exception as error:  # noqa: BLE001 - it is raised where somebody listens
                failures.append(error)
                stop.set()

        # Daemons: Ctrl-C must not wait for a connection on which nothing comes.
        threads = [
            threading.Thread(target=fetch, args=(number, *job), daemon=True)
            for number, job in enumerate(remotes)
        ]
        try:
            for thread in threads:
                thread.start()
            while any(thread.is_alive() for thread in threads):
                threads[0].join(_TICK) if threads[0].is_alive() else stop.wait(_TICK)
                _report(meter, on_event)
                if failures or stop.is_set():
                    break
        finally:
            stop.set()
            # Else they would keep the locks of their files until the connection counts as dead.
            for download in downloads:
                download.interrupt()
        for thread in threads:
            thread.join(_TICK)
        _report(meter, on_event)
        if failures:
            raise failures[0]
        if any(thread.is_alive() for thread in threads):
            # One that is still connecting.
            raise Stopped
        return paths

    def _elsewhere(self, want: Wanted) -> Path | None:
        """The very content that is wanted, where it was brought by an import or a copy."""
        return None if want.sha256 is None else self._verified.file_with(want.sha256)

    def _to_fetch(self, want: Wanted, remote: RemoteFile, damaged: bool) -> PlannedFile:
        present = 0
        blob, partial = self.cache.blob(remote), self.cache.partial(remote)
        if not damaged and blob.is_file() and blob.stat().st_size == remote.bytes:
            # Here under another commit: only a link is missing.
            present = remote.bytes
        elif partial.is_file():
            present = min(partial.stat().st_size, remote.bytes)
        return PlannedFile(want, remote=remote, replaces_damaged=damaged, present=present)

    def _is_whole(self, cached: CachedFile, on_bytes: OnBytes | None) -> bool:
        if self._verified.get(cached.path) is not None:
            return True
        if cached.oid is None:
            # A file without a checksum in its name: whoever put it here checked what it could.
            return True
        try:
            digest = new_digest(cached.oid, cached.path.stat().st_size)
            feed(digest, cached.path, on_bytes)
        except OSError:
            return False
        if digest.hexdigest() != cached.oid:
            return False
        self._verified.put(cached.path, cached.oid)
        return True


def _report(meter: Meter, on_event: OnEvent) -> None:
    for remark in meter.remarks():
        on_event(remark)
    on_event(meter.read())


def _difference(want: Wanted, remote: RemoteFile, local: Path | None) -> str | None:
    """What to say of a hub that has another version than is known or here."""
    if local is not None:
        return (
            f"{want.file} was changed at the hub (now {human_bytes(remote.bytes)}, "
            f"{remote.oid[:12]}…); the version that is here stays, too"
        )
    if want.sha256 is not None and want.sha256 != remote.oid:
        return (
            f"{want.file} is not the version that was tried out ({want.sha256[:12]}…): its maker "
            f"has replaced it ({remote.oid[:12]}…). It is checked against the hub's own checksum."
        )
    return None
