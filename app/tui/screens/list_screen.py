"""A screen to choose one of many: typing filters, the arrows move, enter chooses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, Literal

from textual import on
from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen, ScreenResultType
from textual.widgets import Footer, Input, OptionList, Static

from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.screens.columns import Column, Row
from gemma_local.app.tui.screens.rows import Rows

WIDE: Final = 116
"""Cells from which a preview stands beside the list."""

Tone = Literal["muted", "warning", "error"]


class ListScreen(ModalScreen[ScreenResultType]):
    """What all of them share. The filter always has the keyboard, so commands are keys that type
    nothing.

    Subclasses give ``HEADING``, ``COLUMNS`` and ``PLACEHOLDER``, call `show_rows`, and override
    what they need of `choose`, `highlight` and `filter`.
    """

    HEADING: ClassVar[str] = ""
    PLACEHOLDER: ClassVar[str] = "type to filter"
    COLUMNS: ClassVar[tuple[Column, ...]] = ()
    # Textual declares it as no ClassVar, although it is one.
    HORIZONTAL_BREAKPOINTS = [(WIDE, "-wide")]  # noqa: RUF012

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move('cursor_up')", "Up", show=False),
        Binding("down", "move('cursor_down')", "Down", show=False),
        Binding("pageup", "move('page_up')", "Page up", show=False),
        Binding("pagedown", "move('page_down')", "Page down", show=False),
        Binding("ctrl+home", "move('first')", "First", show=False),
        Binding("ctrl+end", "move('last')", "Last", show=False),
        Binding("enter", "choose", "Choose", priority=True),
        Binding("escape", "leave", "Back"),
    ]

    DEFAULT_CSS = """
    ListScreen {
        align: left top;
        background: $background;
        & > #frame {
            width: 100%;
            max-width: 104;
            height: 1fr;
            padding: 1 2 0 2;
            & > #heading { height: 1; color: $primary; text-style: bold; padding: 0 1; }
            & > Input {
                height: 1;
                border: none;
                padding: 0 1;
                margin: 1 0;
                background: $surface;
            }
            & > #middle { height: 1fr; }
            #list { width: 3fr; }
            #aside { display: none; width: 2fr; padding: 0 1; }
            #preview { height: auto; }
            & > #saying { height: auto; max-height: 4; padding: 0 1; color: $text-muted; }
            & > #saying.-warning { color: $text-warning; }
            & > #saying.-error { color: $text-error; }
        }
        &.-wide > #frame {
            max-width: 170;
            #aside { display: block; padding: 0 1 0 3; max-width: 84; }
        }
        &.-aside > #frame {
            #aside { display: block; }
            #list { display: none; }
        }
        & > Footer { background: $background; padding: 0 2; }
    }
    """

    def __init__(self, *, glyphs: Glyphs = UNICODE) -> None:
        super().__init__()
        self.glyphs = glyphs
        self._rows: tuple[Row, ...] = ()

    def compose(self) -> ComposeResult:
        """Heading, filter, list with its preview, a line for what is said, and the keys."""
        with Vertical(id="frame"):
            yield Static(self.heading, id="heading", markup=False)
            yield Input(placeholder=self.PLACEHOLDER, id="filter", compact=True)
            yield from self.compose_more()
            with Horizontal(id="middle"):
                yield Rows(self.COLUMNS, self.glyphs, id="list")
                with VerticalScroll(id="aside", can_focus=False):
                    yield Static(id="preview", markup=False)
            yield Static(id="saying", markup=False)
        yield Footer(show_command_palette=False, compact=True)

    def compose_more(self) -> ComposeResult:
        """What stands under the filter."""
        yield from ()

    @property
    def heading(self) -> str:
        """The first line."""
        return self.HEADING

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """In the order in which the class gives them, for the line with the keys."""
        own = Binding.make_bindings(self.BINDINGS)
        order = {binding.key: number for number, binding in enumerate(own)}
        found = super().active_bindings.items()
        return dict(sorted(found, key=lambda item: order.get(item[0], len(order))))

    # ------------------------------------------------------------------- for subclasses

    @property
    def rows(self) -> Rows:
        """The list."""
        return self.query_one(Rows)

    @property
    def typed(self) -> str:
        """What is in the filter."""
        return self.query_one("#filter", Input).value.strip()

    @property
    def has_aside(self) -> bool:
        """Whether a preview is to be seen."""
        return self.has_class("-wide") or self.has_class("-aside")

    @property
    def aside_width(self) -> int:
        """Cells of a line there."""
        return self.query_one("#aside").scrollable_content_region.width

    def show_rows(self, rows: Sequence[Row], key: str | None = None) -> None:
        """Show those of ``rows`` that the filter lets through. The highlight stays where it is,
        or goes to ``key``."""
        self._rows = tuple(rows)
        self._filter(key)

    def say(self, text: str, tone: Tone = "muted") -> None:
        """Show a line at the bottom, "" for none."""
        line = self.query_one("#saying", Static)
        line.set_classes(f"-{tone}")
        line.update(text)

    def preview(self, content: Content | str) -> None:
        """Show this beside the list."""
        self.query_one("#preview", Static).update(content)

    def choose(self, key: str) -> None:
        """The row with this key was chosen."""

    def highlight(self, key: str | None) -> None:
        """Another row is highlighted, or the preview came to be seen."""

    def filter(self, text: str) -> None:
        """Something was typed."""
        self._filter(None)

    # --------------------------------------------------------------------------- events

    def on_mount(self) -> None:
        """The keyboard belongs to the filter. ``AUTO_FOCUS`` would leave it to nobody where the
        list opens while the terminal is in the background."""
        self.query_one("#filter", Input).focus()

    def on_resize(self) -> None:
        """Follow the width; the class that goes with it is set after this."""
        self.call_next(self._width_changed)

    def _width_changed(self) -> None:
        if self.has_class("-wide"):
            self.remove_class("-aside")
        self.refresh_bindings()
        if self.has_aside:
            # Once it is laid out: its text follows its width.
            self.call_after_refresh(self._show_aside)

    @on(Input.Changed, "#filter")
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self.say("")
        self.filter(event.value.strip())

    @on(OptionList.OptionHighlighted)
    def _highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        self.highlight(event.option_id)

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if event.option_id is not None:
            self.choose(event.option_id)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Where the preview is shown anyway there is no key for it."""
        return not (action == "aside" and self.has_class("-wide"))

    def action_move(self, where: str) -> None:
        """Move the highlight."""
        self.rows.move(where)

    def action_choose(self) -> None:
        """Enter."""
        if (key := self.rows.key) is not None:
            self.choose(key)

    def action_aside(self) -> None:
        """Show or hide the preview where there is room for one of the two only."""
        self.toggle_class("-aside")
        self.call_after_refresh(self._show_aside)

    def action_leave(self) -> None:
        """Back from the preview to the list, or away."""
        if self.has_class("-aside"):
            self.remove_class("-aside")
        else:
            self.dismiss(None)

    def _show_aside(self) -> None:
        self.highlight(self.rows.key)

    def _filter(self, key: str | None) -> None:
        words = self.typed.casefold().split() if self.filters_rows else []
        rows = [row for row in self._rows if row.has(words)]
        self.rows.show(rows, key or self.rows.key)
        if not rows:
            self.highlight(None)
            if self._rows:
                self.say("nothing in this list has that")

    @property
    def filters_rows(self) -> bool:
        """Whether rows are to be hidden that don't have what was typed."""
        return True
