"""Output of commands as it is painted."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.color import Color
from rich.style import Style

from gemma_local.app.tui.lines.line import Line
from gemma_local.app.tui.lines.sgr import after_sgr
from gemma_local.app.tui.lines.terminal import MOST_CHARACTERS, render_output
from gemma_local.app.tui.lines.theme_colours import contrast, rgb
from gemma_local.app.tui.palette import Palette
from gemma_local.app.tui.themes import THEMES
from tests.app.tui.lines.looks import PALETTE, painted

OWN = Palette.of({}, dark=True, ansi=True)
"""Of a terminal with colours of its own."""
THEMED = [
    Palette.of(theme.to_color_system().generate(), dark=theme.dark, ansi=False) for theme in THEMES
]


def lines_of(text: str, most: int = 400, palette: Palette = PALETTE) -> list[Line]:
    return render_output(text, 40, palette, most=most)


def screen(text: str) -> list[str]:
    return painted(lines_of(text))


@pytest.mark.parametrize(
    ("output", "seen"),
    [
        ("one\ntwo\n", ["one", "two"]),
        ("one\r\n\r\ntwo", ["one", "", "two"]),
        ("", []),
        ("10%\r50%\r100%\n", ["100%"]),
        ("10%\r100%\r\r\n", ["100%"]),
        ("\x1b[2K\x1b[1G\x1b[?25lready\x1b[?25h", ["ready"]),
        ("\x1b]0;a title\x07text\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", ["textlink"]),
        ("\x1bPq#0\x1b\\a\x1b(Bb\x1b=c\x9b2Jd", ["abcd"]),
        ("b\x08bo\x08ol\x08ld and _\x08x", ["bold and x"]),
        ("\x08a\x1b[1m\x08b" + "xy" * 9 + "\x08" * 18 + "!", ["ab!"]),
        ("bell\x07", ["bell"]),
        ("a\tb\n\x1b[31mabc\x1b[0m\td", ["a       b", "abc     d"]),
        ("cut \x1b[", ["cut \u241b["]),
        ("nul \x00 \u202e", ["nul \u2400 \ufffd"]),
        ("\x1b[>4;1m\x1b[?1mx", ["x"]),
    ],
)
def test_what_is_read_of_it(output: str, seen: list[str]) -> None:
    assert screen(output) == seen


def test_colours_are_kept_over_lines_until_they_end() -> None:
    text = "\x1b[1;31mred\nstill\x1b[0m plain \x1b[38;5;208mx\x1b[48;2;1;2;3my\x1b[39m"
    lines = lines_of(text, palette=OWN)
    first, second = lines[0].segments[0].style, lines[1].segments[0].style
    assert first is not None and first.bold and first.color == Color.from_ansi(1)
    assert second == first
    assert lines[1].segments[1].style == OWN.text
    x, y = (s.style for s in lines[1].segments[2:])
    assert x is not None and x.color == Color.from_ansi(208)
    assert y is not None and y.bgcolor == Color.from_rgb(1, 2, 3)


def test_a_colour_that_ended_in_what_was_written_over_has_ended() -> None:
    lines = lines_of("\x1b[31mred\n 10%\x1b[0m\r20%")
    assert lines[1].segments[0].style == PALETTE.text


@pytest.mark.parametrize(
    ("parameters", "style"),
    [
        ("", Style()),
        ("1;4", Style(bold=True, underline=True)),
        ("97", Style(color=Color.from_ansi(15))),
        ("100", Style(bgcolor=Color.from_ansi(8))),
        ("38;5", Style()),
        ("38;5;999", Style()),
        ("38;2;1;2", Style()),
        ("5;8;99;99999999999", Style()),
        ("3;23", Style(italic=False)),
        ("38:5:9", Style(color=Color.from_ansi(9))),
    ],
)
def test_colour_codes(parameters: str, style: Style) -> None:
    assert after_sgr(Style(), parameters) == style


def test_much_output_is_cut_in_the_middle() -> None:
    text = "\n".join(f"{i}" for i in range(100))
    lines = painted(lines_of(text, most=8))
    assert lines == ["0", "1", "... 92 lines left out ...", *map(str, range(94, 100))]


def test_a_colour_reaches_over_what_is_left_out() -> None:
    text = "\n".join(["a"] * 10 + ["\x1b[32mb"] + ["c"] * 10)
    last = lines_of(text, most=4, palette=OWN)[-1].segments[0].style
    assert last is not None and last.color == Color.from_ansi(2)


def test_a_line_without_an_end_is_cut() -> None:
    text = "".join(painted(lines_of("x" * (MOST_CHARACTERS + 5))))
    assert text.endswith("5 characters left out")


@settings(max_examples=150, deadline=None)
@given(st.text(st.sampled_from("a1;[]m?(\x1b\x9b\x07\x08\r\n\t\x00\u4f60K") | st.characters()))
def test_nothing_of_it_reaches_the_terminal_as_a_command(text: str) -> None:
    for line in lines_of(text):
        assert line.cells <= 40
        assert not set(line.text) & set("\x1b\x9b\x07\x08\r\n\t\x00")


@pytest.mark.parametrize("palette", THEMED, ids=["dark", "light"])
def test_all_colours_of_programs_can_be_read_and_told_apart(palette: Palette) -> None:
    seen = set()
    for code in (*range(30, 38), *range(90, 98)):
        style = style_of(f"\x1b[{code}m", palette)
        assert contrast_of(style, palette) >= 3.9, code
        seen.add(style.color)
    assert len(seen) == 16
    for code in (*range(40, 48), *range(100, 108)):
        for front in ("", ";31", ";34", ";97", ";30"):
            style = style_of(f"\x1b[{code}{front}m", palette)
            assert contrast_of(style, palette) >= 4.4, (code, front)


@pytest.mark.parametrize("palette", THEMED, ids=["dark", "light"])
@given(numbers=st.lists(st.integers(0, 255), min_size=3, max_size=3), ground=st.booleans())
def test_any_colour_can_be_read(palette: Palette, numbers: list[int], ground: bool) -> None:
    for kind in ("5;{}", "2;{};{};{}"):
        asked = kind.format(*numbers)
        style = style_of(f"\x1b[{48 if ground else 38};{asked}m", palette)
        assert contrast_of(style, palette) >= 4.4 or asked.startswith("5;")
        assert contrast_of(style, palette) >= 3.9


@pytest.mark.parametrize("palette", THEMED, ids=["dark", "light"])
def test_what_is_put_back_to_the_terminals_own_is_text_like_any(palette: Palette) -> None:
    assert style_of("\x1b[31;41m\x1b[39;49m", palette) == palette.text
    bold = style_of("\x1b[1;7m", palette)
    assert (bold.bold, bold.reverse, bold.color) == (True, True, palette.text.color)


def style_of(sequence: str, palette: Palette) -> Style:
    style = lines_of(f"{sequence}x", palette=palette)[0].segments[0].style
    assert style is not None
    return style


def contrast_of(style: Style, palette: Palette) -> float:
    """Of the text to what is behind it."""
    assert style.color is not None and palette.programs is not None
    behind = rgb(style.bgcolor) if style.bgcolor is not None else palette.programs.ground
    return contrast(rgb(style.color), behind)
