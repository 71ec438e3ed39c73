"""The card that offers the best attempt, and lets the person look at the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Static

from gemma_local.app.agent.consent import Scope, Verdict
from gemma_local.app.best.offer import Offer, Picked
from gemma_local.app.options import MOST_ATTEMPTS
from gemma_local.app.tui.approval.card import ApprovalCard
from gemma_local.app.tui.approval.details import DetailsScreen
from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.lines.diff import render_diff
from gemma_local.app.tui.lines.line import EMPTY, Line
from gemma_local.app.tui.lines.plain import render_plain
from gemma_local.app.tui.lines_pane import LinesPane, Make
from gemma_local.app.tui.palette import Palette

if TYPE_CHECKING:
    from gemma_local.app.best.attempt import Outcome

_LINES_IN_CARD = 400


class OfferCard(ApprovalCard):
    """Shows one attempt, the best one first; digits show the others. Taking takes what is shown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("t", "choose('once')", "Take", show=False),
        *(
            Binding(str(number), f"look({number})", f"Attempt {number}", show=False)
            for number in range(1, MOST_ATTEMPTS + 1)
        ),
        Binding("left", "turn(-1)", "The one before", show=False),
        Binding("right", "turn(1)", "The next one", show=False),
    ]

    def __init__(self, offer: Offer, *, glyphs: Glyphs) -> None:
        super().__init__(offer, glyphs=glyphs)
        self._offer = offer
        best = offer.result.best
        assert best is not None
        self._shown = best
        self._choices = [choice for choice in self._choices if choice.scope in ("once", "no")]

    def compose(self) -> ComposeResult:
        for part in super().compose():
            if part.has_class("choices"):
                yield Static(self._facts(), classes="where facts", markup=False)
                pane = LinesPane(_body(self._shown, self._glyphs, 1, _LINES_IN_CARD))
                pane.can_focus = False
                yield pane
            yield part

    # ----------------------------------------------------------------------------------- looking

    def action_look(self, number: int) -> None:
        """Show another attempt, if it has something to take."""
        found = next((o for o in self._able if o.number == number), None)
        if found is None:
            return
        self._shown = found
        self.query_one(".question", Static).update(self._question())
        self.query_one(".facts", Static).update(self._facts())
        self.query_one(LinesPane).show(_body(found, self._glyphs, 1, _LINES_IN_CARD))
        self._show()

    def action_turn(self, by: int) -> None:
        """Show the next one, or the one before."""
        at = self._able.index(self._shown)
        self.action_look(self._able[(at + by) % len(self._able)].number)

    def action_details(self) -> None:
        """Show the attempt on the whole screen."""
        make = _body(self._shown, self._glyphs, 3, None)
        title = f"attempt {self._shown.number}, {self._facts()}"
        self.app.push_screen(DetailsScreen(title, make, self._glyphs))

    @property
    def _able(self) -> list[Outcome]:
        """Attempts with something to take, the best first."""
        places = self._offer.result.places
        return [place.outcome for place in places if place.outcome.changes.files]

    # ----------------------------------------------------------------------------------- answers

    def action_choose(self, scope: Scope) -> None:
        """Take what is shown, or nothing."""
        if scope == "once":
            self._give(Picked("once", number=self._shown.number))
        elif scope == "no":
            self._give(Verdict("no"))

    # ------------------------------------------------------------------------------------- words

    def _question(self) -> str:
        return f"Take attempt {self._shown.number}?"

    def _facts(self) -> str:
        shown = self._shown
        same = self._offer.result.place_of(shown.number).numbers
        added, removed = shown.changes.counts
        also = ", ".join(str(number) for number in same if number != shown.number)
        facts = [
            "passes" if shown.passes else "does not pass",
            f"+{added} -{removed}",
            *([f"the same as {also}"] if also else []),
        ]
        return f" {self._glyphs.dot} ".join([*facts, *shown.changes.left_out])

    def _choices_text(self) -> Text:
        words = {"once": f"Yes, take number {self._shown.number}", "no": "None of them"}
        keys = {"once": "t", "no": "n"}
        rows = Text()
        for index, choice in enumerate(self._choices):
            is_here = index == self._at
            style = ("bold" if is_here else "") if self.is_ready else "dim"
            mark = self._glyphs.prompt if is_here else " "
            rows.append(f"{mark} {keys[choice.scope]}  {words[choice.scope]}", style)
            rows.append("\n" if index + 1 < len(self._choices) else "")
        return rows

    def _hint(self) -> str:
        hint = super()._hint()
        if not self.is_ready or not self.has_focus:
            return hint
        dot = f" {self._glyphs.dot} "
        others = sorted(outcome.number for outcome in self._able)
        look = [f"{' '.join(map(str, others))} look at"] if len(others) > 1 else []
        return dot.join(["Enter choose", *look, "Esc none", "Page Up/Down", "d whole screen"])


def _body(outcome: Outcome, glyphs: Glyphs, context: int, most: int | None) -> Make:
    """What the model said, and the diffs."""

    def make(width: int, palette: Palette) -> Sequence[Line]:
        lines: list[Line] = []
        if outcome.report:
            lines += [*render_plain(outcome.report, width, palette.muted), EMPTY]
        for number, change in enumerate(outcome.changes.files):
            lines += [EMPTY] if number else []
            lines += render_diff(change.diff, width, palette, glyphs, context=context, most=most)
        return lines

    return make
