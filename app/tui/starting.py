"""Which model runs: the first start, another model, and downloads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from gemma_local.app.errors import NoModel, UsageError
from gemma_local.app.sessions.errors import SessionInUse, SessionsUnavailable
from gemma_local.app.tui.screens.choices import (
    Builtin,
    Fetch,
    FirstChoice,
    ModelChoice,
    Quit,
    UseFile,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    # Here and below: most starts need neither a download nor a choice of models.
    from gemma_local.app.fetching import Fetching
    from gemma_local.app.offers import Found, Offer
    from gemma_local.app.tui.news import NotOpened
    from gemma_local.app.tui.screens.chat import ChatScreen

ALL_THERE_IS: Final = (
    "So this is the small guide that comes with gemma-local. /model shows what else there is, and "
    "`gemma-local models get` fetches a real model as soon as that is possible."
)


class Starting:
    """Leads from no model, or the wrong one, to one that runs."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._fetching: Fetching | None = None
        self._is_shown = False
        """Whether the screen of the download is there, which says itself how it ends."""
        self._why_builtin = ""

    @property
    def note(self) -> str:
        """How a download stands that goes on in the background, "" if none does."""
        return self._fetching.state().line() if self._fetching is not None else ""

    # ---------------------------------------------------------------------------- the first start

    def failed(self, news: NotOpened) -> None:
        """Nothing could be opened: offer what can be done about it."""
        error = news.error
        if isinstance(error, NoModel):
            self.first_start()
        elif isinstance(error, UsageError | SessionInUse | SessionsUnavailable):
            # Not for us to decide: it was said on the command line.
            self._screen.gemma.fail(error)
        else:
            self._screen.say(f"{error}", "error")
            self._screen.say("/model chooses another model, /exit leaves")

    def first_start(self, trouble: str = "") -> None:
        """Show what this machine is and what would run on it."""
        from gemma_local.app.tui.screens.first_start import FirstStart

        glyphs = self._screen.gemma.glyphs
        self._screen.app.push_screen(FirstStart(trouble=trouble, glyphs=glyphs), self._chosen)

    def opened(self) -> None:
        """Something runs: if it is not what anybody would have chosen, say why it is that."""
        if self._why_builtin:
            self._screen.say(f"{self._why_builtin} {ALL_THERE_IS}")
            self._why_builtin = ""

    def _chosen(self, choice: FirstChoice | None) -> None:
        match choice:
            case Fetch(label):
                self.fetch(label)
            case UseFile(path):
                self.use(str(path))
            case Builtin(path, why):
                self._why_builtin = why
                self.use(str(path))
            case Quit() | None:
                self._screen.app.exit()

    # ------------------------------------------------------------------------------ another model

    def pick(self) -> None:
        """Let the person choose a model."""
        from gemma_local.app.tui.screens.models import ModelPicker

        screen = self._screen
        ready = screen.opened.ready if screen.opened is not None else None
        picker = ModelPicker(
            self._offers,
            loaded=Path(ready.target) if ready is not None else None,
            glyphs=screen.gemma.glyphs,
        )
        screen.app.push_screen(picker, self._picked)

    def _picked(self, choice: ModelChoice | None) -> None:
        match choice:
            case Fetch(label):
                self.fetch(label)
            case UseFile(path):
                self.use(str(path))

    def use(self, name: str) -> None:
        """Load the model with this name, size or path."""
        screen = self._screen
        options = replace(screen.desk.options, model=name, drafter="auto")
        if screen.is_open:
            screen.desk.change_pair(options)
        else:
            screen.desk.open(options)

    def _offers(self, say: Callable[[str], None]) -> Sequence[Offer]:
        """What could run if the model that is loaded made way. Called in a thread."""
        from gemma_local.app.engine_memory import engine_memory
        from gemma_local.app.offers import offers
        from gemma_local.engine.hardware.detection import detect

        machine = detect()
        found, memory = engine_memory(self._screen.desk.engine_pid), machine.memory
        if found is not None and memory.available is not None:
            # Pages of files count as available already.
            held = max(0, found.resident - (found.mapped or 0))
            machine = replace(machine, memory=replace(memory, available=memory.available + held))
        return offers(machine, say, tuple(self._others()))

    def _others(self) -> Iterator[Found]:
        """What no folder of models holds: the small guide, and what runs now."""
        from gemma_local.app.offers import Found
        from gemma_local.models.pocket import LABEL, pair

        if (guide := pair()) is not None:
            yield Found(guide[0], LABEL, "comes along")
        if self._screen.opened is not None:
            path = Path(self._screen.opened.ready.target)
            yield Found(path, path.stem, str(path.parent))

    # ---------------------------------------------------------------------------------- downloads

    def fetch(self, label: str) -> None:
        """Download a size, and run it when it is there."""
        from gemma_local.app.fetching import fetching_of

        fetching = fetching_of(label)
        if self._fetching is not None and self._fetching.choice != fetching.choice:
            # What has come of it stays, and goes on when it is asked for again.
            self._fetching.stop()
            self._fetching = None
        self._fetching = self._fetching or fetching
        self.show_download()

    def show_download(self) -> None:
        """Show the download that goes on."""
        from gemma_local.app.tui.screens.download import DownloadScreen
        from gemma_local.models.pocket import pair

        if self._fetching is not None:
            may_leave = self._screen.is_open or pair() is not None
            glyphs = self._screen.gemma.glyphs
            screen = DownloadScreen(self._fetching, may_leave=may_leave, glyphs=glyphs)
            self._is_shown = True
            self._screen.app.push_screen(screen, self._fetched)

    def watch(self) -> None:
        """Say so if a download in the background has come to its end."""
        if self._fetching is None or self._is_shown:
            return
        state = self._fetching.state()
        if state.got is not None:
            name, self._fetching = self._fetching.name, None
            self._screen.say(f"{name} is here: /model {state.got.model} runs it")
        elif state.stage == "failed":
            self._fetching = None
            self._screen.say(f"the download stopped: {state.error}", "warning")

    def _fetched(self, path: Path | None) -> None:
        from gemma_local.models.pocket import pair

        assert self._fetching is not None
        self._is_shown = False
        state = self._fetching.state()
        if path is not None:
            self._fetching = None
            self.use(str(path))
        elif state.stage in ("stopped", "failed"):
            self._fetching = None
            if not self._screen.is_open:
                self.first_start(state.error if state.lacks_network else "")
        elif not self._screen.is_open and (builtin := pair()) is not None:
            # It goes on in the background, was paused there, or has just come to its end.
            self.use(str(builtin[0]))
