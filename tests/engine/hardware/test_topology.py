"""The kernel's lists of CPUs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.engine.hardware.topology import cores, cpu_list


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("", ()), ("\n", ()), ("3\n", (3,)), ("0-3,8", (0, 1, 2, 3, 8)), ("0,16-17", (0, 16, 17))],
)
def test_lists(text: str, numbers: tuple[int, ...]) -> None:
    assert cpu_list(text) == numbers


@pytest.mark.parametrize("text", ["a", "-", "x-3", "1-99999999999", "9" * 40])
def test_what_is_no_list_is_refused_at_once(text: str) -> None:
    with pytest.raises(ValueError, match=r"no machine|invalid literal"):
        cpu_list(text)


@given(st.sets(st.integers(0, 65535), max_size=30))
def test_every_number_comes_back(numbers: set[int]) -> None:
    assert set(cpu_list(",".join(map(str, sorted(numbers))))) == numbers


def test_cores_of_some_cpus() -> None:
    root = "/sys/devices/system/cpu"
    files = {
        f"{root}/cpu{cpu}/topology/thread_siblings_list": f"{cpu % 4},{cpu % 4 + 4}\n"
        for cpu in range(8)
    }
    assert cores(files.get, range(8)) == 4
    assert cores(files.get, (1, 5, 2)) == 2
    assert cores(files.get, (1, 9)) is None
