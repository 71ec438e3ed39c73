"""Limits of control groups: both versions, nested, fractional, absent, broken."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.engine.hardware.cgroup import cpu_quota, memory_limit, whole_cpus

ROOT = "/sys/fs/cgroup"
MIB = 1 << 20


def reader(content: dict[str, str]) -> Callable[[str], str | None]:
    return content.get


@pytest.mark.parametrize(
    ("text", "quota"),
    [
        ("max 100000\n", None),
        ("max\n", None),
        ("150000 100000\n", 1.5),
        ("50000 100000\n", 0.5),
        ("200000\n", 2.0),
        ("400000 50000\n", 8.0),
        ("", None),
    ],
)
def test_quota_of_version_2(text: str, quota: float | None) -> None:
    assert cpu_quota(reader({f"{ROOT}/cpu.max": text})) == quota


@pytest.mark.parametrize("text", ["many 100000", "1 x", "-5 100000", "100000 0", "100000 -1"])
def test_a_quota_that_makes_no_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"makes no sense|invalid literal"):
        cpu_quota(reader({f"{ROOT}/cpu.max": text}))


def test_the_tightest_group_on_the_way_up_counts() -> None:
    content = {
        "/proc/self/cgroup": "0::/machine.slice/build.service/inner\n",
        f"{ROOT}/machine.slice/cpu.max": "800000 100000\n",
        f"{ROOT}/machine.slice/build.service/cpu.max": "250000 100000\n",
        f"{ROOT}/machine.slice/build.service/inner/cpu.max": "max 100000\n",
        f"{ROOT}/machine.slice/memory.max": f"{900 * MIB}\n",
        f"{ROOT}/machine.slice/memory.current": f"{850 * MIB}\n",
        f"{ROOT}/machine.slice/build.service/memory.max": f"{400 * MIB}\n",
        f"{ROOT}/machine.slice/build.service/memory.current": f"{100 * MIB}\n",
        f"{ROOT}/machine.slice/other.service/cpu.max": "1000 100000\n",
    }
    assert cpu_quota(reader(content)) == 2.5
    limit = memory_limit(reader(content))
    # The outer group has the higher limit, and the others in it have left less of it.
    assert limit is not None and (limit.limit, limit.left) == (900 * MIB, 50 * MIB)


def test_in_a_container_the_hosts_path_is_not_there_and_the_mount_counts() -> None:
    content = {
        "/proc/self/cgroup": "4:memory:/docker/0123abcd\n3:cpu,cpuacct:/docker/0123abcd\n",
        f"{ROOT}/cpu/cpu.cfs_quota_us": "300000\n",
        f"{ROOT}/cpu/cpu.cfs_period_us": "100000\n",
        f"{ROOT}/memory/memory.limit_in_bytes": f"{512 * MIB}\n",
        f"{ROOT}/memory/memory.usage_in_bytes": f"{500 * MIB}\n",
        f"{ROOT}/memory/memory.stat": f"inactive_file 7\ntotal_inactive_file {400 * MIB}\n",
    }
    assert cpu_quota(reader(content)) == 3.0
    limit = memory_limit(reader(content))
    assert limit is not None and (limit.used, limit.left) == (100 * MIB, 412 * MIB)


def test_version_1_writes_no_limit_as_a_large_number_or_a_negative_one() -> None:
    content = {
        f"{ROOT}/cpu/cpu.cfs_quota_us": "-1\n",
        f"{ROOT}/cpu/cpu.cfs_period_us": "100000\n",
        f"{ROOT}/memory/memory.limit_in_bytes": "9223372036854771712\n",
    }
    assert cpu_quota(reader(content)) is None
    assert memory_limit(reader(content)) is None


def test_where_both_versions_are_mounted_both_count() -> None:
    content = {
        "/proc/self/cgroup": "1:cpu:/\n0::/a\n",
        f"{ROOT}/cpu/cpu.cfs_quota_us": "400000\n",
        f"{ROOT}/cpu/cpu.cfs_period_us": "100000\n",
        f"{ROOT}/unified/a/cpu.max": "200000 100000\n",
    }
    assert cpu_quota(reader(content)) == 2.0


def test_the_soft_limit_counts_too() -> None:
    content = {
        f"{ROOT}/memory.max": f"{800 * MIB}\n",
        f"{ROOT}/memory.high": f"{600 * MIB}\n",
        f"{ROOT}/memory.current": "0\n",
    }
    limit = memory_limit(reader(content))
    assert limit is not None and limit.limit == 600 * MIB


def test_more_used_than_allowed_leaves_nothing() -> None:
    content = {f"{ROOT}/memory.max": "100\n", f"{ROOT}/memory.current": "250\n"}
    limit = memory_limit(reader(content))
    assert limit is not None and limit.left == 0


def test_a_path_does_not_lead_out_of_the_mount() -> None:
    content = {
        "/proc/self/cgroup": "0::/../../other\n",
        f"{ROOT}/other/cpu.max": "max\n",
        f"{ROOT}/cpu.max": "100000 100000\n",
        f"{ROOT}/../cpu.max": "1 100000\n",
        f"{ROOT}/../../other/cpu.max": "1 100000\n",
    }
    assert cpu_quota(reader(content)) == 1.0


@given(quota=st.integers(1, 10**9), period=st.integers(1, 10**6), cpus=st.integers(1, 1024))
def test_whole_cpus_are_at_least_one_and_never_more_than_there_are(
    quota: int, period: int, cpus: int
) -> None:
    found = cpu_quota(reader({f"{ROOT}/cpu.max": f"{quota} {period}\n"}))
    assert found == quota / period
    whole = whole_cpus(cpus, found)
    assert 1 <= whole <= cpus
    assert whole == 1 or whole <= found


@given(
    limit=st.integers(1, 1 << 50),
    current=st.integers(0, 1 << 50),
    inactive=st.integers(0, 1 << 50),
    active=st.integers(0, 1 << 50),
)
def test_what_is_left_lies_between_nothing_and_the_limit(
    limit: int, current: int, inactive: int, active: int
) -> None:
    stat = f"anon 1\ninactive_file {inactive}\nactive_file {active}\n"
    found = memory_limit(
        reader(
            {
                f"{ROOT}/memory.max": f"{limit}\n",
                f"{ROOT}/memory.current": f"{current}\n",
                f"{ROOT}/memory.stat": stat,
            }
        )
    )
    assert found is not None
    assert 0 <= found.left <= limit
    assert found.left >= limit - current
