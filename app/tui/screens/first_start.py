"""The first page that anybody sees: what this machine is, what would run on it, and one key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Literal

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.message import Message
from textual.screen import Screen
from textual.widgets import Footer, OptionList, Static

from gemma_local.app.network import has_network
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.screens.choices import (
    Builtin,
    Fetch,
    FirstChoice,
    ModelChoice,
    Quit,
    UseFile,
)
from gemma_local.app.tui.screens.commands_in_text import with_commands
from gemma_local.app.tui.screens.first_start_text import (
    COLUMNS,
    first_way,
    here_words,
    nothing_known,
    pair_words,
    sentence,
    suited_of,
    ways_of,
    why_none,
)
from gemma_local.app.tui.screens.looking import Say, saying, telling
from gemma_local.app.tui.screens.models import ModelPicker
from gemma_local.app.tui.screens.rows import Rows

if TYPE_CHECKING:
    from gemma_local.app.readiness import Readiness

Look = Callable[[Say], "Readiness"]
"""Finds out what there is; says in a few words what it is doing. Called in a thread."""


class Fact(Horizontal):
    """A name at the left, and what is to be said under it, wrapped."""

    DEFAULT_CSS = """
    Fact {
        height: auto;
        display: none;
        margin: 0 0 1 0;
        & > .name { width: 15; color: $text-muted; }
        & > .text { width: 1fr; height: auto; }
        &.-shown { display: block; }
        &.-warning > .text { color: $text-warning; }
        &.-muted > .text { color: $text-muted; }
    }
    """

    def __init__(self, name: str, *, id: str, classes: str = "") -> None:  # noqa: A002
        super().__init__(id=id, classes=classes)
        self._title = name

    def compose(self) -> ComposeResult:
        """Two texts."""
        yield Static(self._title, classes="name", markup=False)
        yield Static(classes="text", markup=False)

    def show(self, text: str, name: str = "") -> None:
        """Show ``text``, with what stands between backticks as commands; nothing of it all if that
        is "". ``name`` replaces the one that it had."""
        self.query_one(".text", Static).update(with_commands(text))
        if name:
            self.query_one(".name", Static).update(name)
        self.set_class(bool(text), "-shown")


class FirstStart(Screen[FirstChoice]):
    """Calm, and all on one page. Dismisses with what was chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Choose"),
        Binding("s", "size", "Another size", show=False),
        Binding("f", "file", "A file that is here", show=False),
        Binding("g", "builtin", "Small guide", show=False),
        Binding("q,escape", "leave", "Quit", key_display="q"),
        Binding("up,k", "move('cursor_up')", "Up", show=False),
        Binding("down,j", "move('cursor_down')", "Down", show=False),
        Binding("pageup", "scroll('page_up')", "Page up", show=False),
        Binding("pagedown", "scroll('page_down')", "Page down", show=False),
    ]

    DEFAULT_CSS = """
    FirstStart {
        align: left top;
        background: $background;
        & > #page {
            width: 100%;
            max-width: 100;
            height: 1fr;
            padding: 1 3 0 3;
            scrollbar-size-vertical: 1;
            & > #heading { color: $primary; text-style: bold; }
            & > #doing { color: $text-muted; margin: 0 0 1 0; }
            & > #ways { height: auto; max-width: 66; display: none; }
            & > #ways.-shown { display: block; }
            & > #ways > #titles { display: none; }
            & > #ways > Options { height: auto; }
            & > #answer { height: auto; color: $text-warning; margin: 1 1 0 1; }
        }
        & > Footer { background: $background; padding: 0 2; }
    }
    """

    @dataclass
    class Said(Message):
        """What the thread is doing."""

        text: str

    @dataclass
    class Found(Message):
        """All of it."""

        readiness: Readiness

    def __init__(
        self, look: Look | None = None, *, trouble: str = "", glyphs: Glyphs = UNICODE
    ) -> None:
        """``look`` finds out what there is, by default on this machine. ``trouble`` is what made
        an earlier attempt fail, such as a hub that could not be reached."""
        super().__init__()
        self._look = look
        self._trouble = trouble
        self._glyphs = glyphs
        self._readiness: Readiness | None = None

    def compose(self) -> ComposeResult:
        """The page, with what is not known yet left out."""
        with VerticalScroll(id="page", can_focus=False):
            yield Static("gemma-local", id="heading", markup=False)
            yield Static(id="doing", markup=False)
            yield Fact("This machine", id="machine")
            yield Fact("Suits it best", id="suits")
            yield Fact("Already here", id="here")
            yield Fact("No network", id="offline", classes="-warning")
            yield Fact("In the way", id="trouble", classes="-warning")
            yield Rows(COLUMNS, self._glyphs, id="ways")
            yield Static(id="answer", markup=False)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Look around."""
        self._look_around()

    # ------------------------------------------------------------------- looking around

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def _look_around(self) -> None:
        with telling(lambda problem: self.post_message(self.Found(nothing_known(problem)))):
            say = saying(lambda text: self.post_message(self.Said(text)))
            if self._look is None:
                from gemma_local.app.readiness import look

                self._look = partial(look, briefly=not self._trouble)
            self.post_message(self.Found(self._look(say)))

    @on(Said)
    def _tell(self, event: Said) -> None:
        self._say_doing(f"{event.text} {self._glyphs.ellipsis}")

    @on(Found)
    def _fill(self, event: Found) -> None:
        """Fill the page."""
        from gemma_local.app.readiness import BY_STICK, settings_words

        found = self._readiness = event.readiness
        if found.only_builtin and not self._trouble:
            # There is nothing to choose between.
            assert found.builtin is not None
            self.dismiss(Builtin(found.builtin, found.why_nothing_comes))
            return
        suited = suited_of(found)
        self._say_doing("Gemma 4 on this machine: your own, and offline once it is here.")
        self._show("machine", "\n".join(found.machine))
        if suited is not None:
            self._show(
                "suits",
                "\n".join(filter(None, (pair_words(suited), settings_words(suited), found.why))),
            )
        elif found.why:
            self._show("suits", "\n".join(why_none(found)), "What fits")
        self._show("here", here_words(found.here, self._glyphs))
        if found.is_offline or found.lacks_network or self._trouble:
            first = sentence(self._trouble) or found.why_nothing_comes
            self._show("offline", f"{first}\n{BY_STICK.format(size=found.size_to_bring)}")
        self._show("trouble", "\n".join(found.troubles))
        ways = self.query_one("#ways", Rows)
        ways.add_class("-shown")
        rows = list(ways_of(found))
        # After the page was laid out, as the columns follow its width.
        self.call_after_refresh(ways.show, rows, first_way(found))
        self.refresh_bindings()

    def _say_doing(self, text: str) -> None:
        self.query_one("#doing", Static).update(text)

    def _show(self, name: str, text: str, title: str = "") -> None:
        self.query_one(f"#{name}", Fact).show(text, title)

    # -------------------------------------------------------------------------- choosing

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what is possible."""
        found = self._readiness
        match action:
            case "choose" | "file" | "move":
                return found is not None
            case "size":
                return found is not None and bool(found.sizes)
            case "builtin":
                return found is not None and found.builtin is not None
        return True

    def action_move(self, where: str) -> None:
        """Move the highlight."""
        self.query_one("#ways", Rows).move(where)

    def action_scroll(self, where: Literal["page_up", "page_down"]) -> None:
        """Of a page that is longer than the screen."""
        page = self.query_one("#page", VerticalScroll)
        if where == "page_up":
            page.scroll_page_up(animate=False)
        else:
            page.scroll_page_down(animate=False)

    def action_choose(self) -> None:
        """The way that is highlighted."""
        match self.query_one("#ways", Rows).key:
            case "suited":
                self._take_suited()
            case "size":
                self.action_size()
            case "file":
                self.action_file()
            case "builtin":
                self.action_builtin()
            case "quit":
                self.action_leave()

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        """A click."""
        event.stop()
        self.action_choose()

    def _take_suited(self) -> None:
        suited = suited_of(self._found)
        if suited is None:
            return
        if suited.path is not None:
            self.dismiss(UseFile(suited.path))
        else:
            self._take(Fetch(suited.label))

    def _take(self, choice: ModelChoice | None) -> None:
        found = self._found
        if isinstance(choice, Fetch) and found.is_offline:
            self._answer(
                "It would have to be fetched, and HF_HUB_OFFLINE is set: take it away and start "
                "again, or bring the model on a stick as it says above."
            )
        elif isinstance(choice, Fetch) and found.lacks_network and not has_network():
            self._answer(
                "It would have to be fetched, and there is no network: try again when there is "
                "one, or bring the model on a stick as it says above."
            )
        elif choice is not None:
            self.dismiss(choice)

    def action_size(self) -> None:
        """Any other size."""
        sizes = self._found.sizes
        picker = ModelPicker(lambda _: sizes, heading="Choose a size", glyphs=self._glyphs)
        self.app.push_screen(picker, self._take)

    def action_file(self) -> None:
        """A file of the library or of another program, or one whose path is typed."""
        here = tuple(offer for offer in self._found.offers if offer.path is not None)
        picker = ModelPicker(
            lambda _: here, heading="Use a file that is here", skeleton=False, glyphs=self._glyphs
        )
        self.app.push_screen(picker, self._take)

    def action_builtin(self) -> None:
        """Start at once."""
        if (path := self._found.builtin) is not None:
            self.dismiss(Builtin(path))

    def action_leave(self) -> None:
        """Another day."""
        self.dismiss(Quit())

    @property
    def _found(self) -> Readiness:
        # No action that needs it is possible before.
        assert self._readiness is not None
        return self._readiness

    def _answer(self, text: str) -> None:
        answer = self.query_one("#answer", Static)
        answer.update(text)
        # It stands below the rows, where a small screen ends.
        self.call_after_refresh(answer.scroll_visible, animate=False)
