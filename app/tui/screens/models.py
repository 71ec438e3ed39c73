"""Choosing a model: every size, and every file that lies on this machine."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Final

from textual import on, work
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message

from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.screens.choices import Fetch, ModelChoice, UseFile
from gemma_local.app.tui.screens.columns import Column, Row
from gemma_local.app.tui.screens.list_screen import ListScreen
from gemma_local.app.tui.screens.looking import Say, saying, telling
from gemma_local.app.tui.screens.rows import MUTED
from gemma_local.engine.plan.candidate import RANKS
from gemma_local.models.foreign_file import human_bytes
from gemma_local.models.given_path import given_path

if TYPE_CHECKING:
    from gemma_local.app.offers import Offer

LookAround = Callable[[Say], "Sequence[Offer]"]
"""Finds out what there is; says in a few words what it is doing. Called in a thread."""

_TYPED: Final = "typed"
"""The key of the row for a path that was typed; other rows have their number."""
_NAME: Final = 13
"""Cells for the names of details."""


class ModelPicker(ListScreen[ModelChoice | None]):
    """Shows what could run, how fast, and what that takes. Dismisses with a choice that fits, or
    None."""

    HEADING = "Choose a model"
    PLACEHOLDER = "type to filter, or the path of a GGUF file"
    COLUMNS = (
        Column("model", grows=True),
        Column("format", rank=6, most=14),
        Column("size", right=True),
        Column(""),
        Column("fits", most=14),
        Column("tokens/s", right=True),
        Column("drafter", rank=4),
        Column("where", rank=5, most=30),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "Use", priority=True),
        Binding("ctrl+o", "aside", "Details", priority=True),
        Binding("escape", "leave", "Back"),
    ]

    @dataclass
    class Said(Message):
        """What the thread is doing."""

        text: str

    @dataclass
    class Found(Message):
        """All that there is, or why that cannot be told."""

        offers: tuple[Offer, ...]
        problem: str = ""

    @dataclass
    class Checked(Message):
        """A path that was typed is a model, or why it is none."""

        path: Path
        problem: str = ""

    def __init__(
        self,
        look: LookAround,
        *,
        loaded: Path | None = None,
        heading: str = "",
        skeleton: bool = True,
        glyphs: Glyphs = UNICODE,
    ) -> None:
        """``loaded`` is the model that runs now, which is marked. ``skeleton``: show the sizes
        before it is known what is to be said of them."""
        super().__init__(glyphs=glyphs)
        self._look = look
        self._loaded = loaded
        self._heading = heading
        self._skeleton = skeleton
        self._offers: tuple[Offer, ...] = ()
        self._is_looking = True

    @property
    def heading(self) -> str:
        """The first line."""
        return self._heading or self.HEADING

    def on_mount(self) -> None:
        """Show the sizes at once, and what is to be said of them when it is known."""
        if self._skeleton:
            waiting = (self.glyphs.ellipsis,) * (len(self.COLUMNS) - 1)
            self.show_rows([Row(label, (label, *waiting), tone="muted") for label in RANKS])
        self._look_around()

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def _look_around(self) -> None:
        with telling(lambda problem: self.post_message(self.Found((), problem))):
            say = saying(lambda text: self.post_message(self.Said(text)))
            self.post_message(self.Found(tuple(self._look(say))))

    @on(Said)
    def _tell(self, event: Said) -> None:
        """Tell it."""
        self.say(f"{event.text} {self.glyphs.ellipsis}")

    @on(Found)
    def _fill(self, event: Found) -> None:
        """Fill the rows."""
        self._is_looking = False
        self._offers = event.offers
        self.show_rows(list(map(self._row, range(len(event.offers)))), self._best())
        if _is_path(self.typed):
            # It was typed while the list was made, and is still what is meant.
            self.filter(self.typed)
        if event.problem:
            self.say(event.problem, "error")
        elif not event.offers:
            self.say("there is nothing here yet; type the path of a GGUF file")
        else:
            self.say("")

    def _best(self) -> str | None:
        """Where the highlight begins: what runs now, else the first that fits."""
        for number, offer in enumerate(self._offers):
            if self._is_loaded(offer):
                return str(number)
        return next((str(n) for n, offer in enumerate(self._offers) if offer.fits), None)

    def _is_loaded(self, offer: Offer) -> bool:
        loaded, path = self._loaded, offer.path
        return loaded is not None and path is not None and loaded.resolve() == path.resolve()

    def _row(self, number: int) -> Row:
        offer = self._offers[number]
        is_loaded = self._is_loaded(offer)
        state = "in use" if is_loaded else "here" if offer.path is not None else "to fetch"
        drafter = "yes" if offer.has_drafter else "no"
        return Row(
            str(number),
            (
                offer.name,
                offer.quantisation,
                human_bytes(offer.bytes),
                state,
                offer.fit_words,
                offer.speed_words or "-",
                drafter,
                offer.where,
            ),
            tone="marked" if is_loaded else "" if offer.fits else "muted",
        )

    def filter(self, text: str) -> None:
        """Rows that have it; a path is offered as it is."""
        if _is_path(text):
            self.rows.show([Row(_TYPED, (text, *[""] * 7))])
        else:
            super().filter(text)

    def choose(self, key: str) -> None:
        """Take it if it can run."""
        if key == _TYPED:
            self.say(f"looking at the file {self.glyphs.ellipsis}")
            self._check(given_path(self.typed).absolute())
        elif key.isdecimal():
            offer = self._offers[int(key)]
            if offer.refusal:
                self.say(offer.refusal, "warning")
            elif self._is_loaded(offer):
                self.dismiss(None)
            elif offer.path is not None:
                self.dismiss(UseFile(offer.path))
            else:
                self.dismiss(Fetch(offer.label))
        elif self._is_looking:
            # The row of a size of which no more is known than its name.
            self.say("still looking: it can be chosen once it is known whether it fits", "warning")

    @work(thread=True, exclusive=True, group="check", exit_on_error=False)
    def _check(self, path: Path) -> None:
        with telling(lambda problem: self.post_message(self.Checked(path, problem))):
            from gemma_local.models.target import inspect_target

            inspect_target(path)
            self.post_message(self.Checked(path))

    @on(Checked)
    def _take_checked(self, event: Checked) -> None:
        """Take the file, or say why not, unless something else was typed meanwhile."""
        if not _is_path(self.typed) or given_path(self.typed).absolute() != event.path:
            return
        if event.problem:
            self.say(event.problem, "error")
        else:
            self.dismiss(UseFile(event.path))

    def highlight(self, key: str | None) -> None:
        """Explain it beside the list."""
        if self.has_aside:
            known = key is not None and key.isdecimal()
            self.preview(_details(self._offers[int(key or 0)], self.aside_width) if known else "")


def _is_path(text: str) -> bool:
    return text.startswith(("/", "~", "./", "../", ".\\", "..\\")) or text.lower().endswith(".gguf")


def _details(offer: Offer, width: int) -> Content:
    """All that is known of it, as doctor explains a size, in lines of ``width`` cells."""
    from gemma_local.app.doctor.screen import reasons

    facts = [("size", human_bytes(offer.bytes)), ("format", offer.quantisation)]
    facts.append(("drafter", "yes" if offer.has_drafter else "none that fits is here"))
    facts.append(("file", str(offer.path)) if offer.path is not None else ("from", offer.where))
    facts.append(("problem", offer.problem))
    if offer.planned is not None:
        facts += [("", ""), *reasons(offer.planned)]
    elif not offer.problem:
        facts.append(("memory", "what it needs cannot be told from its header"))
    title = f"How {offer.name} would run" if offer.planned is not None else offer.name
    lines = [Content.styled(title, "bold"), Content("")]
    for name, text in facts:
        if text or not name:
            first, *rest = textwrap.wrap(text, max(width - _NAME, 12)) or [""]
            lines.append(Content.assemble((f"{name:<{_NAME}}", MUTED), first))
            lines += [Content(" " * _NAME + line) for line in rest]
    return Content("\n").join(lines)
