"""How far a download or a check is, as one line on a terminal, and as a few in a log."""

from __future__ import annotations

import sys
from typing import Final

from gemma_local.app.durations import rough_time_left
from gemma_local.app.terminal import note, progress
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.store.progress import Event, Progress, Remark

_CELLS: Final = 16


class DownloadLine:
    """Shows the events of a download."""

    def __init__(self) -> None:
        self._tenths = 0

    def __call__(self, event: Event) -> None:
        """Show an event."""
        match event:
            case Remark(text=text):
                note(text)
            case Progress():
                self._show(event)

    def _show(self, event: Progress) -> None:
        share = event.done / event.bytes if event.bytes else 1.0
        if sys.stderr.isatty():
            progress.show(f"{_bar(share)} {download_text(event)}")
        elif int(share * 10) > self._tenths:
            # Where nobody watches: a line for every tenth.
            self._tenths = int(share * 10)
            note(download_text(event))


def download_text(event: Progress) -> str:
    """All of a download in one line."""
    share = event.done / event.bytes if event.bytes else 1.0
    parts = [f"{share:4.0%}", f"{human_bytes(event.done)} of {human_bytes(event.bytes)}"]
    open_files = [file for file in event.files if file.stage in ("checking", "fetching")]
    if event.bytes_per_second > 0 and share < 1.0:
        parts.append(f"{human_bytes(int(event.bytes_per_second))}/s")
    if event.seconds_left is not None and share < 1.0:
        parts.append(f"{rough_time_left(event.seconds_left)} left")
    if open_files:
        names = " and ".join(file.file.rpartition("/")[2] for file in open_files)
        parts.append(f"{open_files[0].stage} {names}")
    return ", ".join(parts)


class CountLine:
    """Shows how many bytes of a known number were read; on a terminal only."""

    def __init__(self, what: str, size: int) -> None:
        self._what = what
        self._size = size
        self._done = 0

    def __call__(self, count: int) -> None:
        """So many more."""
        self._done += count
        share = self._done / self._size if self._size else 1.0
        progress.show(f"{_bar(share)} {share:4.0%} {self._what}")


def _bar(share: float) -> str:
    full = min(_CELLS, round(share * _CELLS))
    return f"[{'#' * full}{'.' * (_CELLS - full)}]"
