"""The styles in which text is painted, made from the theme."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rich.style import Style

from gemma_local.app.tui.lines.program_colours import ProgramColours
from gemma_local.app.tui.lines.theme_colours import ThemeColours


@dataclass(frozen=True, slots=True)
class Palette:
    """What each kind of text looks like. Backgrounds are only set where one is wanted."""

    text: Style
    muted: Style
    """Second in rank: thoughts, times, hints."""
    faint: Style
    """Third: rules, frames, line numbers."""
    strong: Style
    emphasis: Style
    struck: Style
    heading: Style
    link: Style
    code: Style
    """Code within a sentence."""
    code_block: Style
    code_label: Style
    """The line above a block: its language, and how to copy it."""
    quote: Style
    bullet: Style
    table_head: Style
    person: Style
    """What the person said, and the mark before it."""
    accepted: Style
    """Laid over tokens that the drafter proposed and the target accepted."""
    cursor: Style
    """The mark before the message that the keyboard is at."""
    found: Style
    found_here: Style
    """Laid over what was searched for, and over the place that is shown."""
    success: Style
    warning: Style
    error: Style
    added: Style
    removed: Style
    added_part: Style
    removed_part: Style
    """Lines of a diff, and the parts of them that differ."""
    hunk: Style
    programs: ProgramColours | None = None
    """What the colours become that programs ask for; None where the terminal's own are used."""
    syntax: str = "monokai"
    """The name of a Pygments style, of one of ``lines.syntax``, or "ansi" for the terminal's
    sixteen colours."""

    @classmethod
    def of(cls, variables: Mapping[str, str], *, dark: bool, ansi: bool) -> Palette:
        """The styles for a theme's CSS ``variables`` (``App.theme_variables``).

        ``ansi``: only the terminal's own sixteen colours are used, whatever they are. Otherwise all
        text has a contrast of at least 4.5 to what it stands on (faint text 4.0), whatever the
        theme says.
        """
        return _of_terminal(variables) if ansi else _of_theme(variables, dark)


def _of_theme(variables: Mapping[str, str], dark: bool) -> Palette:
    theme = ThemeColours(variables, dark=dark)
    block = (
        theme.blend("surface", 1.0)
        if theme.is_apart("surface")
        else theme.blend("foreground", 0.06)
    )
    added, removed = theme.blend("success", 0.14), theme.blend("error", 0.14)
    added_part, removed_part = theme.blend("success", 0.34), theme.blend("error", 0.34)
    found = theme.blend("warning", 0.3)
    return Palette(
        text=Style(color=theme.text("foreground")),
        muted=Style(color=theme.text("foreground", strength=0.66)),
        faint=Style(color=theme.text("foreground", strength=0.45, contrast=4.0)),
        strong=Style(bold=True),
        emphasis=Style(italic=True),
        struck=Style(strike=True, color=theme.text("foreground", strength=0.66)),
        heading=Style(bold=True, color=theme.text("primary")),
        link=Style(underline=True, color=theme.text("primary")),
        code=Style(color=theme.text("accent", on=block), bgcolor=block),
        code_block=Style(color=theme.text("foreground", on=block), bgcolor=block),
        code_label=Style(color=theme.text("foreground", strength=0.66, on=block), bgcolor=block),
        quote=Style(color=theme.text("foreground", strength=0.75)),
        bullet=Style(color=theme.text("primary")),
        table_head=Style(bold=True, color=theme.text("primary")),
        person=Style(bold=True, color=theme.text("primary")),
        accepted=Style(bgcolor=theme.blend("success", 0.16)),
        cursor=Style(bold=True, color=theme.text("accent")),
        found=Style(color=theme.text("foreground", on=found), bgcolor=found),
        found_here=Style(
            color=theme.blend("background", 1.0), bgcolor=theme.text("warning"), bold=True
        ),
        success=Style(color=theme.text("success")),
        warning=Style(color=theme.text("warning")),
        error=Style(color=theme.text("error")),
        added=Style(color=theme.text("foreground", on=added), bgcolor=added),
        removed=Style(color=theme.text("foreground", on=removed), bgcolor=removed),
        added_part=Style(color=theme.text("foreground", on=added_part), bgcolor=added_part),
        removed_part=Style(color=theme.text("foreground", on=removed_part), bgcolor=removed_part),
        hunk=Style(color=theme.text("foreground", strength=0.66)),
        programs=ProgramColours.of(theme),
        syntax=variables.get("syntax", "gemma-dark" if dark else "gemma-light"),
    )


def _of_terminal(variables: Mapping[str, str]) -> Palette:
    def colour(name: str, fallback: str) -> str:
        value = variables.get(name, "").split(" ")[0]
        known = value.startswith("ansi_") and value != "ansi_default"
        return value.removeprefix("ansi_") if known else fallback

    primary, accent = colour("primary", "blue"), colour("secondary", "cyan")
    success, error = colour("success", "green"), colour("error", "red")
    warning = colour("warning", "yellow")
    return Palette(
        text=Style(),
        muted=Style(dim=True),
        faint=Style(dim=True),
        strong=Style(bold=True),
        emphasis=Style(italic=True),
        struck=Style(strike=True, dim=True),
        heading=Style(bold=True, color=primary),
        link=Style(underline=True, color=primary),
        code=Style(color=accent),
        code_block=Style(),
        code_label=Style(dim=True),
        quote=Style(italic=True),
        bullet=Style(color=primary),
        table_head=Style(bold=True),
        person=Style(bold=True, color=primary),
        accepted=Style(color=success),
        cursor=Style(bold=True, color=accent),
        found=Style(reverse=True),
        found_here=Style(reverse=True, bold=True, color=warning),
        success=Style(color=success),
        warning=Style(color=warning),
        error=Style(color=error),
        added=Style(color=success),
        removed=Style(color=error),
        added_part=Style(color=success, reverse=True),
        removed_part=Style(color=error, reverse=True),
        hunk=Style(dim=True),
        syntax="ansi",
    )
