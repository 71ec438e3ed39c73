"""Symbols, themes and the styles made of them."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterator

import pytest
from rich.cells import cell_len
from rich.style import Style
from textual.app import App
from textual.theme import BUILTIN_THEMES, Theme

from gemma_local.app.tui.glyphs import ASCII, UNICODE, Glyphs, glyphs_for
from gemma_local.app.tui.lines.highlight import highlight, highlight_for_path, language_of
from gemma_local.app.tui.lines.syntax import SCHEMES
from gemma_local.app.tui.lines.theme_colours import ENOUGH, contrast, rgb
from gemma_local.app.tui.palette import Palette
from gemma_local.app.tui.themes import DARK, LIGHT, THEMES, theme_names
from tests.app.tui.lines.looks import PALETTE

ALL_THEMES = [*THEMES, *BUILTIN_THEMES.values()]


def palette_of(theme: Theme) -> Palette:
    variables = {**theme.to_color_system().generate(), **theme.variables}
    return Palette.of(variables, dark=theme.dark, ansi=theme.ansi)


def symbols(glyphs: Glyphs) -> Iterator[tuple[str, str]]:
    for field in dataclasses.fields(glyphs):
        value = getattr(glyphs, field.name)
        for symbol in value if isinstance(value, tuple) else (value,):
            yield field.name, symbol


def test_symbols_are_one_cell_in_every_terminal() -> None:
    for name, symbol in symbols(UNICODE):
        assert len(symbol) == cell_len(symbol) == 1, name
        is_line_or_block = 0x2500 <= ord(symbol) <= 0x259F
        may_be_wide = unicodedata.east_asian_width(symbol) in "AWF"
        assert not may_be_wide or is_line_or_block or name == "ellipsis", name


def test_ascii_is_ascii_and_as_wide() -> None:
    wider = {"todo", "done", "ellipsis"}
    for name, symbol in symbols(ASCII):
        assert symbol.isascii() and symbol.isprintable(), name
        assert len(symbol) == 1 or name in wider, name
    assert len(ASCII.todo) == len(ASCII.done)


@pytest.mark.parametrize(
    ("setting", "encoding", "term", "glyphs"),
    [
        ("auto", "utf-8", "xterm-256color", UNICODE),
        ("auto", "UTF8", "", UNICODE),
        ("auto", "ascii", "xterm", ASCII),
        ("auto", None, "xterm", ASCII),
        ("auto", "utf-8", "linux", ASCII),
        ("auto", "utf-8", "dumb", ASCII),
        ("unicode", "ascii", "linux", UNICODE),
        ("ascii", "utf-8", "xterm", ASCII),
    ],
)
def test_who_gets_which(setting: str, encoding: str | None, term: str, glyphs: Glyphs) -> None:
    assert glyphs_for(setting, encoding, {"TERM": term}) is glyphs


@pytest.mark.parametrize("theme", [t for t in ALL_THEMES if not t.ansi], ids=lambda t: t.name)
def test_text_is_readable_in_every_theme(theme: Theme) -> None:
    palette = palette_of(theme)
    variables = theme.to_color_system().generate()
    ground = rgb(Style.parse(f"on {variables['background'][:7]}").bgcolor or pytest.fail("?"))
    decoration = {"faint": 4.0, "accepted": 0.0}
    for field in dataclasses.fields(palette):
        style = getattr(palette, field.name)
        if not isinstance(style, Style) or style.color is None:
            continue
        on = rgb(style.bgcolor) if style.bgcolor is not None else ground
        assert contrast(rgb(style.color), on) >= decoration.get(field.name, ENOUGH), field.name


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_our_own_themes_are_readable_as_they_are(theme: Theme) -> None:
    variables = theme.to_color_system().generate()
    ground = rgb(Style.parse(variables["background"]).color or pytest.fail("?"))
    for name in ("foreground", "primary", "secondary", "accent", "success", "warning", "error"):
        colour = Style.parse(variables[name]).color
        assert colour is not None and contrast(rgb(colour), ground) >= ENOUGH, name


@pytest.mark.parametrize("theme", [t for t in ALL_THEMES if t.ansi], ids=lambda t: t.name)
def test_the_terminals_own_colours_are_left_to_it(theme: Theme) -> None:
    palette = palette_of(theme)
    assert palette.syntax == "ansi"
    for field in dataclasses.fields(palette):
        style = getattr(palette, field.name)
        if isinstance(style, Style):
            for colour in (style.color, style.bgcolor):
                assert colour is None or (colour.number is not None and colour.number < 16)


async def test_an_app_takes_our_themes_and_gives_the_palette() -> None:
    app: App[None] = App()
    for theme in THEMES:
        app.register_theme(theme)
    async with app.run_test():
        for name in theme_names(app.available_themes):
            app.theme = name
            theme = app.current_theme
            palette = Palette.of(app.get_css_variables(), dark=theme.dark, ansi=theme.ansi)
            assert palette.heading.bold
        app.theme = "gemma-light"
        assert Palette.of(app.theme_variables, dark=False, ansi=False).syntax == "gemma-light"


def test_our_themes_come_first_then_those_of_the_terminal() -> None:
    names = theme_names(["nord", "ansi-dark", "gemma-dark", "dracula"])
    assert names == ["gemma-dark", "gemma-light", "ansi-dark", "dracula", "nord"]


CODE = 'def f(x):\n    """Doc\n    more."""\n    return 1  # why\n'


@pytest.mark.parametrize("scheme", [*SCHEMES, "monokai", "no-such-scheme"])
def test_code_is_coloured_readably_and_stays_what_it_is(scheme: str) -> None:
    palette = dataclasses.replace(PALETTE, syntax=scheme)
    lines = highlight(CODE, "python", palette)
    assert ["".join(text for text, _ in line) for line in lines] == CODE.split("\n")
    colours = {style.color for line in lines for _, style in line}
    assert len(colours) > 2
    ground = rgb(palette.code_block.bgcolor or pytest.fail("?"))
    for colour in colours:
        assert colour is None or contrast(rgb(colour), ground) >= ENOUGH


@pytest.mark.parametrize("code", ["", "\n", "\n\na", "a\n\n", " ", "x", "\ta\n "])
@pytest.mark.parametrize("language", ["python", "c", "json", "console", "diff", "html", "nope", ""])
def test_any_lexer_keeps_the_text(code: str, language: str) -> None:
    lines = highlight(code, language, PALETTE)
    assert "\n".join("".join(text for text, _ in line) for line in lines) == code


@pytest.mark.parametrize(
    ("info", "language"),
    [
        ("python", "python"),
        ("Python title=a.py", "python"),
        ("{.rust .numberLines}", "rust"),
        ("c++", "c++"),
        ("", ""),
        ("???", ""),
    ],
)
def test_the_language_of_a_fence(info: str, language: str) -> None:
    assert language_of(info) == language


def test_a_file_has_the_language_of_its_name() -> None:
    def colours(path: str) -> int:
        return len({style for line in highlight_for_path(CODE, path, PALETTE) for _, style in line})

    assert colours("src/a.py") > 3
    assert colours("C:\\src\\a.py") > 3
    assert colours("README") == colours("a.unheard-of") == 1
