"""Edits find the one place that was meant, or none."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from gemma_local.app.agent.files.indentation import depth_of
from gemma_local.app.agent.files.matching import Ambiguous, Matched, Unmatched, match

PYTHON = """\
import os


class Shop:
    def __init__(self, name):
        self.name = name

    def total(self, prices, rate):
        amount = sum(prices)
        if rate:
            amount += amount * rate
        return round(amount, 2)

    def label(self):
        return self.name.upper()
"""


def applied(text: str, found: Matched) -> str:
    for (start, end), new in reversed(list(zip(found.spans, found.texts, strict=True))):
        text = text[:start] + new + text[end:]
    return text


def edited(text: str, old: str, new: str, level: str, *, every: bool = False) -> str:
    """The text after an edit that must be found at ``level``."""
    found = match(text, old, new, every=every)
    assert isinstance(found, Matched), found
    assert found.level == level
    return applied(text, found)


class TestLevels:
    def test_exact_within_a_line(self) -> None:
        assert edited("a = 1\nb = 2\n", "1", "3", "exact") == "a = 3\nb = 2\n"

    def test_exact_over_lines(self) -> None:
        text = edited(PYTHON, "import os\n\n\nclass", "class", "exact")
        assert text.startswith("class Shop:")

    def test_every_exact_place(self) -> None:
        assert edited("a a\na", "a", "aa", "exact", every=True) == "aa aa\naa"

    def test_blanks_at_the_ends_of_lines(self) -> None:
        text = "one  \ntwo\t\nthree\n"
        assert edited(text, "one\ntwo", "one\n2", "line ends") == "one  \n2\nthree\n"

    def test_a_line_goes_with_its_end(self) -> None:
        text = "one  \ntwo \nthree\n"
        assert edited(text, "two\n", "", "line ends") == "one  \nthree\n"

    @pytest.mark.parametrize("form", ["{}|{}", "{}\t{}", "{:>6}→{}", "{}: {}"])
    def test_numbers_that_were_copied_along(self, form: str) -> None:
        lines = PYTHON.split("\n")
        old = "\n".join(form.format(i + 1, lines[i]) for i in (8, 9, 10))
        new = "\n".join((form.format(9, lines[8]), "        amount *= 2", lines[9], lines[10]))
        text = edited(PYTHON, old, new, "line numbers")
        lines.insert(9, "        amount *= 2")
        assert text == "\n".join(lines)

    def test_numbers_with_a_gap_are_no_line_numbers(self) -> None:
        text = "1|a\n3|b\n"
        assert edited(text, "1|a\n3|b", "x", "exact") == "x\n"
        assert isinstance(match("a\nb\n", "1|a\n3|b", "x"), Unmatched)

    def test_depth_is_that_of_the_file(self) -> None:
        old = "if rate:\n    amount += amount * rate"
        new = "if rate:\n    amount += amount * rate\nelif not prices:\n    return 0"
        expected = PYTHON.replace(
            "* rate\n", "* rate\n        elif not prices:\n            return 0\n"
        )
        assert edited(PYTHON, old, new, "indentation") == expected

    def test_tabs_of_the_file_for_spaces_of_the_model(self) -> None:
        text = "def f():\n\tif x:\n\t\treturn 1\n"
        old = "    if x:\n        return 1"
        new = "    if x:\n        for y in x:\n            return y"
        expected = "def f():\n\tif x:\n\t\tfor y in x:\n\t\t\treturn y\n"
        assert edited(text, old, new, "indentation") == expected

    def test_two_blanks_a_step_become_four(self) -> None:
        text = "class A:\n    def f(self):\n        return 1\n"
        old = "  def f(self):\n    return 1"
        new = "  def f(self):\n    if self:\n      return 2"
        expected = "class A:\n    def f(self):\n        if self:\n            return 2\n"
        assert edited(text, old, new, "indentation") == expected

    def test_blank_lines_around_old_are_not_looked_for(self) -> None:
        text = "def f():\n    a()\n    b()\n"
        assert (
            edited(text, "\na()\n\n", "\nc()\n\n", "indentation") == "def f():\n    c()\n    b()\n"
        )

    def test_a_depth_that_says_nothing_is_refused(self) -> None:
        # Both lines at no depth: which of them the new line belongs to is anybody's guess.
        old = "if rate:\namount += amount * rate"
        assert match(PYTHON, old, old + "\nlog(amount)") == Unmatched()

    def test_other_blanks_within_lines(self) -> None:
        text = "x = call(a,  b,\n         c)\ny = 1\n"
        assert edited(text, "x=call( a, b, c )", "x = call()", "blanks") == "x = call()\ny = 1\n"

    def test_words_are_not_torn_apart_or_joined(self) -> None:
        assert match("returnx\n", "return x", "y") == Unmatched()
        assert match("pre  fix = 1\n", "fix=1", "y") != Unmatched()
        assert match("prefix  = 1\n", "fix = 1", "y") == Unmatched()

    def test_nearly_the_same_lines(self) -> None:
        old = PYTHON[PYTHON.index("    def total") : PYTHON.index("    def label")]
        wrong = old.replace("sum(prices)", "sum(price)")
        new = wrong.replace("round(amount, 2)", "round(amount, 3)")
        # What was quoted wrongly and not meant to change stays as it is.
        assert edited(PYTHON, wrong, new, "similar") == PYTHON.replace("amount, 2", "amount, 3")

    def test_too_little_is_not_found_by_likeness(self) -> None:
        assert match("value = get(1)\n", "value = get(2)", "value = 3") == Unmatched()

    @pytest.mark.parametrize("old", ["\n\n", "   \n", "nothing like it at all, anywhere", "¿"])
    def test_nothing_is_found_where_nothing_is(self, old: str) -> None:
        assert match("a\nb\nc\n", old, "x") == Unmatched()


class TestSeveralPlaces:
    def test_overlapping_places_are_two(self) -> None:
        assert match("aaa", "aa", "b") == Ambiguous((1, 1), "exact")

    def test_lines_are_named(self) -> None:
        assert match("x\ny\nx\nx\n", "x", "z") == Ambiguous((1, 3, 4), "exact")

    def test_all_is_for_exact_places_only(self) -> None:
        text = "    f(1)\n  f(1)\n"
        assert isinstance(match(text, "\tf(1)", "g()", every=True), Ambiguous)


# Lines that differ in more than blanks, and have a depth of their own.
WORDS = st.text(alphabet="abcdefgh_=()+", min_size=1, max_size=12).filter(str.strip)
LINES = st.lists(
    st.builds(lambda depth, word: "    " * depth + word, st.integers(0, 3), WORDS),
    min_size=1,
    max_size=12,
)


@st.composite
def quoted(draw: st.DrawFn) -> tuple[list[str], int, int]:
    lines = draw(LINES)
    first = draw(st.integers(0, len(lines) - 1))
    return lines, first, draw(st.integers(first + 1, len(lines)))


@st.composite
def slip(draw: st.DrawFn, lines: list[str], first: int) -> list[str]:
    """The lines as a model may quote them."""
    kind = draw(st.sampled_from(["none", "ends", "numbers", "deeper", "tabs"]))
    match kind:
        case "ends":
            return [line + draw(st.sampled_from(["", " ", "\t "])) for line in lines]
        case "numbers":
            return [f"{first + i + 1}|{line}" for i, line in enumerate(lines)]
        case "deeper":
            return ["  " + line for line in lines]
        case "tabs":
            return [line.replace("    ", "\t") for line in lines]
    return lines


@given(st.data())
def test_nothing_but_the_span_changes(data: st.DataObject) -> None:
    lines, first, last = data.draw(quoted())
    old = "\n".join(data.draw(slip(lines[first:last], first)))
    new = data.draw(st.sampled_from(["NEW", "", "NEW\n    NEWER"]))
    text = "\n".join(lines) + data.draw(st.sampled_from(["", "\n"]))
    found = match(text, old, new)
    if not isinstance(found, Matched):
        return
    (start, end), made = found.spans[0], found.texts[0]
    replaced = text[start:end]
    # What goes is what was quoted, blanks and numbers aside, and what comes is what was given.
    bare = "\n".join(re.sub(r"^\d+\|", "", line) for line in old.split("\n"))
    assert "".join(replaced.split()) in ("".join(bare.split()), "".join(old.split()))
    assert "".join(made.split()) == "".join(new.split())
    assert applied(text, found) == text[:start] + made + text[end:]


@given(st.data())
def test_a_single_place_is_found_whatever_the_slip(data: st.DataObject) -> None:
    lines, first, last = data.draw(quoted())
    squeezed = "".join("".join(lines).split())
    part = lines[first:last]
    wanted = re.escape("".join("".join(part).split()))
    assume(len(re.findall(f"(?={wanted})", squeezed)) == 1)
    old = "\n".join(data.draw(slip(part, first)))
    text = "\n".join(lines) + "\n"
    # As deep as the model thinks that the place is.
    found = match(text, old, depth_of(re.sub(r"^\d+\|", "", old)) + "NEW")
    assert isinstance(found, Matched)
    rest = [line.strip() for line in (*lines[:first], "NEW", *lines[last:])]
    assert [line.strip() for line in applied(text, found).split("\n")][:-1] == rest


@given(st.data())
def test_two_places_are_never_taken(data: st.DataObject) -> None:
    block = data.draw(LINES)
    text = "\n".join([*block, "@@ between", *block]) + "\n"
    old = "\n".join(data.draw(slip(block, 0)))
    assert not isinstance(match(text, old, "NEW"), Matched)


@given(st.data())
def test_an_exact_place_wins_over_one_that_is_alike(data: st.DataObject) -> None:
    block = data.draw(LINES)
    other = ["  " + line for line in block]
    text = "\n".join([*other, "@@ between", *block, "END"]) + "\n"
    found = match(text, "\n".join([*block, "END"]), "NEW")
    assert isinstance(found, Matched)
    assert applied(text, found) == "\n".join([*other, "@@ between", "NEW"]) + "\n"


@given(st.text(max_size=60), st.text(min_size=1, max_size=30), st.text(max_size=30), st.booleans())
def test_any_text_at_all(text: str, old: str, new: str, every: bool) -> None:
    found = match(text, old, new, every=every)
    if isinstance(found, Matched):
        done = 0
        for start, end in found.spans:
            assert done <= start <= end <= len(text)
            done = end


HOSTILE = {
    "one sign": ("a" * 1_000_000, "a" * 1_000 + "b"),
    "one sign a word": ("a " * 400_000, "a " * 500 + "b"),
    "one sign a line": ("a\n" * 200_000, "a\n" * 300 + "b\n" + "a\n" * 300),
    "equal lines": ("x = call(y)\n" * 100_000, "x  =  call(z)\n" * 40),
    "words in any order": (
        "".join(f"value_{i % 97} = other_{i % 89}\n" for i in range(100_000)),
        "".join(f"value_{i % 97} == other_{i % 83}\n" for i in range(60)),
    ),
    "long lines": ("abc " * 250_000, "abc  " * 2_000 + "d"),
    "numbers": ("".join(f"{i}|x\n" for i in range(50_000)), "1|x\n2|y\n3|x"),
    "signs that are special": ("(" * 500_000, "(" * 200 + ")" + "(" * 200),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_texts_take_no_longer(name: str) -> None:
    text, old = HOSTILE[name]
    assert not isinstance(match(text, old, "x"), Matched)
