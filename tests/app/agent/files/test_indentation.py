"""Lines come to the depth of the file, or are refused where that is anybody's guess."""

from __future__ import annotations

import pytest

from gemma_local.app.agent.files.indentation import shifted


@pytest.mark.parametrize(
    ("asked", "here", "wanted", "made"),
    [
        # Steps of two and of four in one: how deep the third is, nobody knows.
        (
            ["a:", "  b:", "      c"],
            ["a:", "    b:", "        c"],
            ["a:", "  b:", "      c", "        d"],
            None,
        ),
        # Written at a depth that the file does not have at all.
        (["    a:"], ["a:"], ["    a:", "        b"], ["a:", "    b"]),
        # Depths that tell nothing of each other, and those in which blanks are mixed.
        (["\ta", "  b"], ["    a", "  b"], ["\ta", "\t\tc", "  b"], ["    a", "        c", "  b"]),
        (["a", " \tb"], ["  a", "    b"], ["a", "  c", " \tb"], ["  a", "    c", "    b"]),
        # One depth for two of the file's.
        (["a", "b"], ["a", "  b"], ["a", "b", "c"], None),
    ],
)
def test_steps(
    asked: list[str], here: list[str], wanted: list[str], made: list[str] | None
) -> None:
    assert shifted(asked, here, wanted) == made


@pytest.mark.parametrize("count", [20, 1_200])
def test_what_the_model_left_alone_stays_as_the_file_has_it(count: int) -> None:
    """Also of so many lines that they are not compared one by one."""
    asked = [f"line {number}" for number in range(count)]
    # Blanks at the end are no difference.
    here = [f"    {line}  " for line in asked]
    wanted = [*asked[:7], "other", "  deeper", *asked[9:], "last"]
    made = shifted(asked, here, wanted)
    assert made is not None and made[7:9] == ["    other", "      deeper"]
    assert made[:7] == here[:7] and made[-1] == "    last"
    if count == 20:
        assert made == [*here[:7], "    other", "      deeper", *here[9:], "    last"]
    assert [line.strip() for line in made] == [line.strip() for line in wanted]
    # With nothing new at the end both ends are the file's.
    assert shifted(asked, here, [*asked[:7], "other", *asked[8:]]) == [
        *here[:7],
        "    other",
        *here[8:],
    ]
