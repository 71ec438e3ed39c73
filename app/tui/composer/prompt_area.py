"""The text that is being written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final
from urllib.parse import unquote, urlsplit

from rich.text import Text
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.document._document import EditResult, Location, Selection
from textual.document._edit import Edit
from textual.geometry import Offset, Size
from textual.message import Message
from textual.widgets import TextArea

from gemma_local.app.tui.commands.keys import bindings
from gemma_local.app.tui.composer.clean_text import broken_mouse_report, cleaned
from gemma_local.app.tui.composer.pastes import Pastes, is_long
from gemma_local.app.tui.composer.token import is_lone_mark
from gemma_local.app.workspace.mention import mention_of, shown_path
from gemma_local.app.written import Written

MOST_LINES: Final = 10
LONE_MARK: Final = "! runs a command of the shell: write it behind the !, as in !git status"
_MOST_SHOWN: Final = 20_000
"""Characters of a paste that can be shown in full: each key takes time for what is there."""
_LONGEST_PATH: Final = 1024


class PromptArea(TextArea):
    """A text of one line that grows to ten, or a third of the screen.

    Marks of long pastes are one unit: the cursor does not go into them, and they are deleted whole.
    """

    DEFAULT_CSS = """
    PromptArea {
        height: auto;
        min-height: 1;
        padding: 0;
        border: none;
        background: transparent;
        scrollbar-size-vertical: 1;
    }
    PromptArea .prompt-area--paste {
        color: $accent;
    }
    """
    COMPONENT_CLASSES: ClassVar[set[str]] = {"prompt-area--paste"}

    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings("Writing"),
        Binding("ctrl+j,alt+enter,shift+enter", "newline", "New line", show=False),
        Binding("f3,alt+v", "show_paste", "Show the paste", show=False),
        Binding("alt+b", "cursor_word_left", show=False),
        Binding("alt+f", "cursor_word_right", show=False),
        Binding("alt+d", "delete_word_right", show=False),
    ]

    @dataclass
    class Sent(Message):
        """Enter was pressed, and the text is gone from here."""

        written: Written

    @dataclass
    class AtEdge(Message):
        """Up was pressed in the first line, or down in the last one."""

        up: bool

    @dataclass
    class HistoryWanted(Message):
        """What was written before is to be searched."""

    @dataclass
    class EditorWanted(Message):
        """The person wants to go on in their own editor."""

    def __init__(self, folder: Path, *, placeholder: str = "") -> None:
        """Pasted paths are written as seen from ``folder``."""
        # What the base class loads is validated with it.
        self.pastes = Pastes()
        super().__init__(
            compact=True,
            highlight_cursor_line=False,
            placeholder=placeholder,
            show_line_numbers=False,
            soft_wrap=True,
        )
        self._folder = folder
        self._is_after_ctrl_x = False
        self.intercept: Callable[[str], bool] = lambda key: False
        """Sees each key before it does anything; true if it took it."""

    # ---------------------------------------------------------------------------------- content

    @property
    def written(self) -> Written:
        """The whole text."""
        return self.pastes.expand(self.text)

    @property
    def before_cursor(self) -> str:
        """The cursor's line up to the cursor."""
        row, column = self.cursor_location
        return self.document.get_line(row)[:column]

    def write(self, written: Written) -> None:
        """Put a text in the place of all; what was undone before cannot be any more."""
        self.load_text(self.pastes.collapse(written))
        self.move_cursor(self.document.end)

    def put_before(self, text: str) -> None:
        """Put a text before all that is written, apart from it; the cursor stays where it is
        written."""
        self.insert(f"{self.pastes.collapse(Written(text))}\n\n", (0, 0))

    def forget(self) -> None:
        """Empty it after its text was sent."""
        self.load_text("")
        self.pastes.forget()

    def type_text(self, text: str) -> None:
        """Put ``text`` in the place of what is selected, as if it was typed."""
        if result := self._replace_via_keyboard(cleaned(text), *self.selection):
            self.move_cursor(result.end_location)

    def paste(self, text: str) -> None:
        """Put a clipboard's text in the place of what is selected: as a mark if it is long, as a
        mention if it is the path of a file."""
        text = cleaned(text)
        if mention := self._mentioned(text):
            self.type_text(mention)
        elif text:
            self.type_text(self.pastes.add(text) if is_long(text) else text)

    # -------------------------------------------------------------------- marks that are a unit

    def edit(self, edit: Edit) -> EditResult:
        """Perform an edit; what touches a mark's inside takes all of it."""
        top, bottom = edit.top, edit.bottom
        if top == bottom:
            top = bottom = self._outside(top, to_end=True)
        else:
            top, bottom = self._outside(top, to_end=False), self._outside(bottom, to_end=True)
        if (top, bottom) != (edit.top, edit.bottom):
            edit = Edit(edit.text, top, bottom, edit.maintain_selection_offset)
        return super().edit(edit)

    def validate_selection(self, selection: Selection) -> Selection:
        """Keep both ends out of marks: on the side to which they were moving."""
        before = self.selection.end
        start, end = (self._nearest_outside(place, before) for place in selection)
        return Selection(start, end)

    def get_line(self, line_index: int) -> Text:
        """A line as it is painted."""
        line = super().get_line(line_index)
        for start, end in self.pastes.spans(line.plain):
            line.stylize(self.get_component_rich_style("prompt-area--paste"), start, end)
        return line

    def scroll_cursor_visible(self, center: bool = False, animate: bool = False) -> Offset:
        """Scroll to the cursor, if there is a line where it is."""
        # While an edit is undone that takes the scroll bar away, the cursor still is where the
        # text has ended before.
        if self.cursor_location[0] >= self.document.line_count:
            return Offset(0, 0)
        return super().scroll_cursor_visible(center, animate)

    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        """None: this is no code, and looking takes time with each key."""
        return None

    def _mark_at(self, place: Location, *, touching: bool = False) -> tuple[int, int] | None:
        """The mark that ``place`` is within, or with ``touching`` beside."""
        row, column = place
        if row < self.document.line_count:
            for start, end in self.pastes.spans(self.document.get_line(row)):
                if start < column < end or (touching and start <= column <= end):
                    return start, end
        return None

    def _outside(self, place: Location, *, to_end: bool) -> Location:
        span = self._mark_at(place)
        return place if span is None else (place[0], span[1 if to_end else 0])

    def _nearest_outside(self, place: Location, before: Location) -> Location:
        if (span := self._mark_at(place)) is None:
            return place
        start, end = span
        row, column = place
        if before[0] == row and not start < before[1] < end:
            return row, end if before[1] <= start else start
        return row, start if column - start < end - column else end

    # ------------------------------------------------------------------------------------- size

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as there are, up to the most that it may take."""
        most = max(1, min(MOST_LINES, viewport.height // 3))
        return max(1, min(super().get_content_height(container, viewport, width), most))

    # ------------------------------------------------------------------------------------- keys

    async def _on_key(self, event: events.Key) -> None:
        if self._takes(event) or await self._acts_on(event.key):
            event.stop()
            event.prevent_default()

    async def _acts_on(self, key: str) -> bool:
        """Do at once what a key is bound to here.

        By itself it would go up to the app first, and be carried out when the keys that came
        right behind it have long been typed in. Those with an id the settings may have changed.
        """
        for binding in self._bindings.key_to_bindings.get(key, ()):
            if not binding.id and await self.app.run_action(binding.action, self):
                return True
        return False

    def _takes(self, event: events.Key) -> bool:
        was_after_ctrl_x, self._is_after_ctrl_x = self._is_after_ctrl_x, False
        if self.intercept(event.key):
            return True
        match event.key:
            case "enter":
                self._send_or_break()
            case "ctrl+x" if self.selection.is_empty:
                self._is_after_ctrl_x = True
            case "ctrl+e" if was_after_ctrl_x:
                self.action_editor()
            case "M" | "m" if length := broken_mouse_report(self.before_cursor + event.key):
                row, column = self.cursor_location
                self.delete((row, column - length + 1), (row, column))
            case _:
                return False
        return True

    def _send_or_break(self) -> None:
        """A backslash at the end of the line makes it go on in a new one."""
        row, column = self.cursor_location
        if self.cursor_at_end_of_line and self.before_cursor.endswith("\\"):
            self._replace_via_keyboard("\n", (row, column - 1), (row, column))
        elif is_lone_mark(self.text):
            # Nothing that the model could answer, and what comes behind it may be on its way.
            self.notify(LONE_MARK, severity="warning", markup=False)
        elif (written := self.written).text.strip():
            self.post_message(self.Sent(written))
            # At once: the next key may be here already.
            self.forget()

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self.paste(event.text)

    # ---------------------------------------------------------------------------------- actions

    def action_newline(self) -> None:
        """Begin a new line."""
        self._replace_via_keyboard("\n", *self.selection)

    def action_paste(self) -> None:
        """Paste what was copied here."""
        self.paste(self.app.clipboard)

    def action_history(self) -> None:
        """Search what was written before."""
        self.post_message(self.HistoryWanted())

    def action_editor(self) -> None:
        """Write in the person's own editor."""
        self.post_message(self.EditorWanted())

    def action_show_paste(self) -> None:
        """Put a long paste beside the cursor in full, in the place of its mark."""
        row, column = self.cursor_location
        if (span := self._mark_at((row, column), touching=True)) is None:
            raise SkipAction()
        start, end = span
        text = self.pastes.text_of(self.document.get_line(row)[start:end])
        if len(text) > _MOST_SHOWN:
            self.notify(
                f"It has {len(text) / 1000:,.0f} kB, which is too much to show here: open the"
                " editor to see it.",
                markup=False,
            )
            return
        self.replace(text, (row, start), (row, end), maintain_selection_offset=False)

    def action_delete_right(self) -> None:
        """Delete a character; without any text the key may do something else."""
        if not self.document.end[0] and not self.document.end[1]:
            raise SkipAction()
        super().action_delete_right()

    def action_cursor_up(self, select: bool = False) -> None:
        """Go up, or from the first line to what was written before."""
        if not select and self.navigator.is_first_wrapped_line(self.cursor_location):
            self.post_message(self.AtEdge(up=True))
        else:
            super().action_cursor_up(select)

    def action_cursor_down(self, select: bool = False) -> None:
        """Go down, or from the last line to what was written after."""
        if not select and self.navigator.is_last_wrapped_line(self.cursor_location):
            self.post_message(self.AtEdge(up=False))
        else:
            super().action_cursor_down(select)

    # ---------------------------------------------------------------------------- pasted a path

    def _mentioned(self, text: str) -> str:
        """How the file is mentioned whose path ``text`` is, as dragging it here pastes it; "" if
        it is no path of a file, or stands where none is meant."""
        is_mentioned = self.before_cursor.endswith(("@", '@"'))
        if "\n" in text.strip() or self.text.startswith("!") or is_mentioned:
            return ""
        path = _pasted_path(text.strip(), self._folder)
        if path is None:
            return ""
        blank = " " if self.before_cursor and not self.before_cursor[-1].isspace() else ""
        return f"{blank}{mention_of(shown_path(path, self._folder))} "


def _pasted_path(text: str, folder: Path) -> Path | None:
    """The file that ``text`` names; quoted, with escaped blanks, or as a URL."""
    if not 1 < len(text) <= _LONGEST_PATH:
        return None
    if text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    if text.startswith("file://"):
        text = unquote(urlsplit(text).path)
    # A word alone is rather a word, also where a file is called like it.
    if "/" not in text and "\\" not in text:
        return None
    for candidate in (text, text.replace("\\ ", " ").replace("\\", "")):
        try:
            path = folder / Path(candidate).expanduser()
            if path.is_file():
                return path
        except (OSError, ValueError, RuntimeError):
            pass
    return None
