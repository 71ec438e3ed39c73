"""A download, file by file, until there is a model to start with."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Footer, Static

from gemma_local.app.durations import rough_time_left
from gemma_local.app.fetching import Fetching, FetchState
from gemma_local.app.tui.charts.bar import bar_text
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.lines.cells import cells, cut
from gemma_local.app.tui.screens.commands_in_text import with_commands
from gemma_local.app.tui.screens.rows import FAINT, MUTED
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.store.progress import FileProgress

LOOK_EVERY: Final = 0.25
"""Seconds; more often nobody can read it."""

_SIZES: Final = 22
_PERCENT: Final = 5
_GAP: Final = 2
_BAR, _LEAST_BAR = 24, 8
"""Cells of a file's bar; with less there is none, as its name is worth more."""


class DownloadScreen(Screen[Path | None]):
    """Shows a download, which goes on whether or not it is shown. Dismisses with the model's path,
    or with None: then ``fetching.state()`` says whether it was stopped or goes on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p,space", "pause", "Pause", key_display="p"),
        Binding("p,space", "resume", "Go on", key_display="p"),
        Binding("r,enter", "retry", "Try again", key_display="r"),
        Binding("g", "background", "Carry on meanwhile"),
        Binding("y,enter", "stop", "Stop", key_display="y"),
        Binding("n,escape", "stay", "Go on", key_display="n"),
        Binding("escape", "ask", "Stop"),
        Binding("escape", "stop_at_once", "Back"),
    ]

    DEFAULT_CSS = """
    DownloadScreen {
        align: left top;
        background: $background;
        & > #page {
            width: 100%;
            max-width: 100;
            height: 1fr;
            padding: 1 3 0 3;
            & > Static { height: auto; margin: 0 0 1 0; }
            & > #heading { color: $primary; text-style: bold; }
            & > #files, & > #all { text-wrap: nowrap; }
            & > #remark { color: $text-warning; }
            & > #remark.-error { color: $text-error; }
            & > #notes { color: $text-muted; }
        }
        & > Footer { background: $background; padding: 0 2; }
    }
    """

    def __init__(
        self, fetching: Fetching, *, may_leave: bool = False, glyphs: Glyphs = UNICODE
    ) -> None:
        """``fetching`` is begun here if it was not yet. ``may_leave``: there is something to start
        with meanwhile, and a key for it; whoever opened the screen then shows
        ``fetching.state().line()``."""
        super().__init__()
        self._fetching = fetching
        self._may_leave = may_leave
        self._glyphs = glyphs
        self._asks = False
        """Whether it asks if the download is to be stopped."""
        self._shown: tuple[FetchState, bool, int] | None = None

    def compose(self) -> ComposeResult:
        """A few lines, each of which changes in its place."""
        with Vertical(id="page"):
            for name in ("heading", "files", "all", "remark", "notes"):
                yield Static(id=name, markup=False)
        yield Footer(show_command_palette=False, compact=True)

    def on_mount(self) -> None:
        """Begin, and look again and again."""
        if self._fetching.state().stage in ("paused", "stopped"):
            self._fetching.start()
        self.set_interval(LOOK_EVERY, self._look)
        self.call_after_refresh(self._look)

    def on_resize(self) -> None:
        """Bars follow the width."""
        self._look()

    def _look(self) -> None:
        state = self._fetching.state()
        if state.stage == "done":
            if state.got is not None and self.is_current:
                self.dismiss(state.got.model)
            return
        width = self.query_one("#page").content_size.width
        if (state, self._asks, width) == self._shown or width < 1:
            return
        old, self._shown = self._shown, (state, self._asks, width)
        self._paint(state, width)
        if old is None or (old[0].stage, old[1]) != (state.stage, self._asks):
            self.refresh_bindings()

    def _paint(self, state: FetchState, width: int) -> None:
        self._put("heading", Content(f"{_doing(state)} {self._fetching.name}"))
        widest = max((cells(_name(file)) for file in state.files), default=0)
        rows = [self._file_line(file, width, widest, state.is_running) for file in state.files]
        self._put("files", Content("\n").join(rows))
        self._put("all", self._all_lines(state, width))
        remark = self.query_one("#remark", Static)
        remark.set_class(state.stage == "failed" and not self._asks, "-error")
        self._put("remark", Content(self._remark(state)))
        self._put("notes", with_commands(self._notes(state)))

    def _put(self, name: str, content: Content) -> None:
        line = self.query_one(f"#{name}", Static)
        line.display = bool(content)
        # The height changes seldom, and with it what is laid out.
        line.update(content, layout=line.size.height != content.plain.count("\n") + 1)

    def _file_line(self, file: FileProgress, width: int, widest: int, is_running: bool) -> Content:
        """A file's line in ``width`` cells, where the widest name takes ``widest``."""
        room = width - _SIZES - _PERCENT - _GAP
        bar = min(_BAR, room - widest - _GAP)
        bar = bar if bar >= _LEAST_BAR else 0
        name_room = max(8, room - (bar + _GAP if bar else 0))
        name = cut(_name(file), name_room, self._glyphs.ellipsis)
        share = file.done / file.bytes if file.bytes else 1.0
        filled, empty = bar_text(share, bar, self._glyphs) if bar else ("", "")
        sizes = f"{human_bytes(file.done)} of {human_bytes(file.bytes)}"
        match file.stage:
            case "done":
                sizes = human_bytes(file.bytes)
            case "waiting":
                sizes = "waits"
            case "checking":
                sizes = f"checking {human_bytes(file.done)}"
        return Content.assemble(
            name + " " * (name_room - cells(name)),
            (f"{'':{_GAP}}{sizes:>{_SIZES}}{'':{_GAP if bar else 0}}", MUTED),
            (filled, "$success" if file.stage == "done" else "$primary" if is_running else MUTED),
            (empty, FAINT),
            f"{share:>{_PERCENT}.0%}",
        )

    def _all_lines(self, state: FetchState, width: int) -> Content:
        if not state.bytes:
            return Content.styled("nothing to fetch" if state.files else "", MUTED)
        filled, empty = bar_text(state.share, max(8, width - _PERCENT), self._glyphs)
        facts = [f"{human_bytes(state.done)} of {human_bytes(state.bytes)}"]
        if state.is_running and state.bytes_per_second > 0:
            facts.append(f"{human_bytes(round(state.bytes_per_second))}/s")
            if state.seconds_left is not None:
                facts.append(f"{rough_time_left(state.seconds_left)} left")
        style = "$primary" if state.is_running else MUTED
        return Content.assemble(
            (filled, style),
            (empty, FAINT),
            f"{state.share:>{_PERCENT}.0%}\n",
            f" {self._glyphs.dot} ".join(facts),
        )

    def _remark(self, state: FetchState) -> str:
        if self._asks:
            return (
                f"Stop? The {human_bytes(state.done)} that have come stay, and the same download "
                "goes on from there another day.\ny stops, n goes on."
            )
        if state.stage == "failed":
            return state.error
        return state.remark

    def _notes(self, state: FetchState) -> str:
        if state.stage == "failed" and state.lacks_network:
            from gemma_local.app.readiness import BY_STICK

            return BY_STICK.format(size=self._fetching.what)
        return "\n".join(state.notes)

    # --------------------------------------------------------------------------- actions

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only what makes sense at the moment."""
        state = self._fetching.state()
        match action:
            case "stop" | "stay":
                return self._asks
            case "ask":
                return state.stage != "failed" and not self._asks
            case "pause":
                return state.is_running and not self._asks
            case "resume":
                return state.stage == "paused" and not self._asks
            case "retry" | "stop_at_once":
                return state.stage == "failed" and not self._asks
            case "background":
                return self._may_leave and not self._asks
        return True

    def action_pause(self) -> None:
        """Let go of the network."""
        self._fetching.pause()
        self._look()

    def action_resume(self) -> None:
        """Go on from what is there."""
        self._fetching.start()
        self._look()

    def action_retry(self) -> None:
        """Try again, from what is there."""
        self._fetching.start()
        self._look()

    def action_background(self) -> None:
        """Leave it to itself."""
        self.dismiss(None)

    def action_ask(self) -> None:
        """Ask first, as something would be interrupted."""
        self._ask(True)

    def action_stop_at_once(self) -> None:
        """Nothing would be."""
        self.action_stop()

    def action_stay(self) -> None:
        """Not stopped after all."""
        self._ask(False)

    def action_stop(self) -> None:
        """Give it up for today."""
        self._fetching.stop()
        self.dismiss(None)

    def _ask(self, asks: bool) -> None:
        self._asks = asks
        self._look()


def _name(file: FileProgress) -> str:
    return file.file.rpartition("/")[2]


def _doing(state: FetchState) -> str:
    match state.stage:
        case "asking":
            return "Asking the hub for"
        case "checking":
            return "Checking what is here of"
        case "failed":
            return "Could not fetch"
        case "paused":
            return "Paused:"
    return "Fetching"
