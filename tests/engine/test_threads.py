"""How many threads: what the machine allows, and what to do when a CPU is taken away."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.engine.threads import ThreadGovernor, physical_cores, usable_cpus


@pytest.mark.parametrize(
    ("content", "limit"), [("max 100000", None), ("150000 100000", 1), ("50000 100000", 1)]
)
def test_cgroup_v2_quota(tmp_path: Path, content: str, limit: int | None) -> None:
    (tmp_path / "cpu.max").write_text(content + "\n")
    unlimited = usable_cpus(tmp_path / "nowhere")
    assert usable_cpus(tmp_path) == (unlimited if limit is None else min(limit, unlimited))


def test_cgroup_v1_quota(tmp_path: Path) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text("100000\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert usable_cpus(tmp_path) == 1


def test_hardware_threads_of_one_core_count_once(tmp_path: Path) -> None:
    import os

    for cpu in os.sched_getaffinity(0):
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text("0-63\n")
    assert physical_cores(8, tmp_path) == 1
    assert physical_cores(8, tmp_path / "nowhere") == 8


class Passes:
    """Feeds a governor passes of a given speed on a clock of its own."""

    def __init__(self, threads: int) -> None:
        self.applied: list[int] = []
        self.governor = ThreadGovernor(threads, self.applied.append)
        self.now = 0.0

    def run(self, count: int, seconds: float, rows: int = 1) -> None:
        for _ in range(count):
            self.now += seconds
            self.governor.observe(rows, seconds, self.now)


def test_steps_down_when_passes_collapse_and_back_up_later() -> None:
    passes = Passes(2)
    passes.run(20, 0.1)
    passes.run(3, 1.0)
    assert passes.applied == []
    passes.run(1, 1.0)
    assert passes.applied == [1]
    passes.run(60, 0.15)
    assert passes.applied == [1, 2]


def test_a_hiccup_or_a_wider_pass_is_not_contention() -> None:
    passes = Passes(4)
    passes.run(20, 0.1)
    passes.run(2, 2.0)
    passes.run(10, 0.1)
    passes.run(30, 0.6, rows=8)
    assert passes.applied == []


def test_waits_longer_each_time_that_going_back_up_was_wrong() -> None:
    passes = Passes(2)
    passes.run(20, 0.1)
    for _ in range(3):
        passes.run(4, 1.0)
        passes.run(400, 0.15)
    ups = [i for i, threads in enumerate(passes.applied) if threads == 2]
    assert len(ups) == 3 and passes.governor.threads == 2


def test_one_thread_stays_one() -> None:
    passes = Passes(1)
    passes.run(20, 0.1)
    passes.run(20, 9.0)
    assert passes.applied == []


def test_of_several_counts_the_fastest_is_kept() -> None:
    passes = Passes(8)
    passes.run(20, 0.1)
    # With one thread nobody waits for the others.
    seconds = {8: 1.0, 7: 0.9, 4: 0.5, 1: 0.35}
    for _ in range(4 + 3 * 4 + 3):
        passes.run(1, seconds[passes.governor.threads])
    assert passes.applied == [7, 4, 1]
    assert passes.governor.threads == 1


def test_all_threads_go_on_where_fewer_were_no_faster() -> None:
    passes = Passes(4)
    passes.run(20, 0.1)
    for _ in range(4 + 3 * 4):
        passes.run(1, {4: 0.5, 3: 0.6, 2: 0.8, 1: 1.5}[passes.governor.threads])
    assert passes.applied[:4] == [3, 2, 1, 4]
    assert passes.governor.threads == 4
    # Not tried again at once.
    passes.run(6, 0.5)
    assert len(passes.applied) == 4


def test_passes_that_cannot_be_compared_do_not_keep_it_from_deciding() -> None:
    passes = Passes(2)
    passes.run(20, 0.1)
    passes.run(4, 1.0)
    passes.run(20, 1.0, rows=7)
    assert passes.governor.threads == 2
    passes.governor.observe(7, float("nan"), passes.now)
