"""What a container or a service may use: limits of control groups, v1 and v2, nested or not.

A process is in one group of a tree, and each group above it may have a limit too; the tightest
counts. Sources: the kernel's admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst and
scheduler/sched-bwc.rst.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

ROOT: Final = "/sys/fs/cgroup"
_UNLIMITED: Final = 1 << 60
"""v1 writes "no limit" as the largest multiple of a page that 63 bits hold."""

ReadFile = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """A group's limit and what counts against it for good, in bytes."""

    limit: int
    used: int

    @property
    def left(self) -> int:
        return max(0, self.limit - self.used)


def cpu_quota(read: ReadFile, root: str = ROOT) -> float | None:
    """CPUs' worth of time that this process may use, such as 1.5; None without a limit.

    ``read`` gives a file's content or None. Raises ValueError for content that is not understood.
    """
    quotas = [*_quotas_v2(read, root), *_quotas_v1(read, root)]
    return min(quotas, default=None)


def whole_cpus(cpus: int, quota: float | None) -> int:
    """CPUs to compute on under a quota, at least 1: whole ones, because a thread that is stopped
    in the middle of a period stops all that wait for it."""
    return max(1, cpus if quota is None else min(cpus, int(quota)))


def memory_limit(read: ReadFile, root: str = ROOT) -> MemoryLimit | None:
    """The limit that leaves the least memory, None without one.

    Cached files are not counted as used: the kernel drops them before it kills anyone.
    Raises ValueError for content that is not understood.
    """
    limits = [*_limits_v2(read, root), *_limits_v1(read, root)]
    return min(limits, key=lambda limit: limit.left, default=None)


def _quotas_v2(read: ReadFile, root: str) -> Iterator[float]:
    for folder in _folders_v2(read, root):
        words = (read(f"{folder}/cpu.max") or "").split()
        if words and words[0] != "max":
            # The period may be left out only when writing, but 100 ms is its documented default.
            yield _quota(int(words[0]), int(words[1]) if len(words) > 1 else 100_000)


def _quotas_v1(read: ReadFile, root: str) -> Iterator[float]:
    for folder in _folders_v1(read, root, "cpu"):
        quota, period = read(f"{folder}/cpu.cfs_quota_us"), read(f"{folder}/cpu.cfs_period_us")
        if quota and period and int(quota) > 0:
            yield _quota(int(quota), int(period))


def _quota(microseconds: int, period: int) -> float:
    if microseconds <= 0 or period <= 0:
        raise ValueError(f"a CPU quota of {microseconds} in {period} microseconds makes no sense")
    return microseconds / period


def _limits_v2(read: ReadFile, root: str) -> Iterator[MemoryLimit]:
    for folder in _folders_v2(read, root):
        # Above memory.high a process is not killed but slowed down until it is of no use.
        limits = [
            int(text)
            for name in ("memory.max", "memory.high")
            if (text := (read(f"{folder}/{name}") or "max").strip()) != "max"
        ]
        if limits:
            current = int(read(f"{folder}/memory.current") or 0)
            yield MemoryLimit(min(limits), current - _cache(read, folder, current, ""))


def _limits_v1(read: ReadFile, root: str) -> Iterator[MemoryLimit]:
    for folder in _folders_v1(read, root, "memory"):
        limit = int(read(f"{folder}/memory.limit_in_bytes") or _UNLIMITED)
        if limit < _UNLIMITED:
            current = int(read(f"{folder}/memory.usage_in_bytes") or 0)
            yield MemoryLimit(limit, current - _cache(read, folder, current, "total_"))


def _cache(read: ReadFile, folder: str, current: int, prefix: str) -> int:
    """Bytes of cached files, at most ``current``. v1 counts those of inner groups with a prefix."""
    cached = 0
    for line in (read(f"{folder}/memory.stat") or "").splitlines():
        name, _, value = line.partition(" ")
        if name in (f"{prefix}inactive_file", f"{prefix}active_file"):
            cached += int(value)
    return min(cached, current)


def _folders_v2(read: ReadFile, root: str) -> Iterator[str]:
    path = _memberships(read).get("")
    # Where both versions are mounted, v2 has a folder of its own.
    for mount in (root, f"{root}/unified"):
        yield from _upwards(mount, path or "/")


def _folders_v1(read: ReadFile, root: str, controller: str) -> Iterator[str]:
    path = _memberships(read).get(controller, "/")
    yield from _upwards(f"{root}/{controller}", path)


def _memberships(read: ReadFile) -> dict[str, str]:
    """Path of this process's group by v1 controller, '' for v2."""
    paths: dict[str, str] = {}
    for line in (read("/proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    return paths


def _upwards(mount: str, path: str) -> Iterator[str]:
    """The folders of a group and of all above it. In a container those below the mount may be
    missing: the path is then the host's, and the mount is the container's own group."""
    parts = [part for part in path.split("/") if part not in ("", "..")]
    for depth in range(len(parts), -1, -1):
        yield "/".join([mount, *parts[:depth]])
