"""Processes that share the work of each step and add up what they found."""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from typing import Any, Final

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import Tensor

_PROCESSES: Final = 2
_PATIENCE: Final = timedelta(days=7)
"""How long they wait for each other: training may be stopped for a while, and go on later."""


class Crew:
    """This process among ``size`` of them."""

    def __init__(self, rank: int = 0, size: int = 1) -> None:
        self.rank, self.size = rank, size

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def parts(self, count: int) -> Iterator[int]:
        """The numbers of the parts of a step that are this process's."""
        yield from range(self.rank, count, self.size)

    def add_up(self, tensors: Sequence[Tensor | None]) -> None:
        """Replace each tensor by its sum over all processes; None counts as nothing."""
        if self.size == 1:
            return
        present = [tensor for tensor in tensors if tensor is not None]
        flat = torch.cat([tensor.reshape(-1) for tensor in present])
        dist.all_reduce(flat)
        at = 0
        for tensor in present:
            tensor.copy_(flat[at : at + tensor.numel()].view_as(tensor))
            at += tensor.numel()


def work_together(work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    """Call ``work(crew, *arguments)`` in as many processes as there are CPUs, at most two."""
    size = min(_PROCESSES, os.cpu_count() or 1)
    if size == 1:
        work(Crew(), *arguments)
        return
    with tempfile.TemporaryDirectory() as folder:
        place = f"file://{folder}/meet"
        mp.spawn(_member, (size, place, work, arguments), nprocs=size)


def _member(
    rank: int, size: int, place: str, work: Callable[..., None], arguments: tuple[Any, ...]
) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=place, rank=rank, world_size=size, timeout=_PATIENCE
    )
    work(Crew(rank, size), *arguments)
    dist.destroy_process_group()


def _end_with_parent() -> None:
    """Whoever stops training stops the first process: the others would go on, and write to the same
    checkpoint as the next ones."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
