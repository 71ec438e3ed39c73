"""The card above the composer that asks for consent."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Final

from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from gemma_local.app.agent.consent import Proposal, Scope, Verdict
from gemma_local.app.tui.approval.body import OWN_QUESTIONS, body, has_body
from gemma_local.app.tui.approval.details import DetailsScreen
from gemma_local.app.tui.glyphs import UNICODE, Glyphs
from gemma_local.app.tui.lines.shown import shown_line
from gemma_local.app.tui.lines_pane import LinesPane

GRACE: Final = 0.4
"""Seconds of rest before a key counts: after the card has appeared, and after each key that came
too early. Who is typing a sentence does not consent with one of its letters."""

_CONTEXT_IN_CARD: Final = 1
_LINES_IN_CARD: Final = 400
"""There is little room; the whole screen has all of it."""
_LEAST, _ABOVE = 3, 2
"""Lines that what is proposed has at least, and lines above the card that it leaves."""
_LONGEST: Final = 400
"""Characters of a title or a rule that are shown; what is done is shown in full."""


@dataclass(frozen=True, slots=True)
class _Choice:
    key: str
    scope: Scope
    text: str


class ApprovalCard(Vertical, can_focus=True):
    """Asks about one proposal and posts ``Given`` once. It takes the focus when it appears."""

    BINDING_GROUP_TITLE = "Asked"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "choose('once')", "Yes", show=False),
        Binding("s", "choose('session')", "Session", show=False),
        Binding("a", "choose('always')", "Always", show=False),
        Binding("n", "choose('no')", "No", show=False),
        Binding("escape", "refuse", "No", show=False),
        Binding("d", "details", "Details", show=False),
        Binding("up,k", "move(-1)", "Up", show=False),
        Binding("down,j", "move(1)", "Down", show=False),
        Binding("enter", "take", "Take", show=False),
        Binding("pageup", "page(-1)", "Back", show=False),
        Binding("pagedown,space", "page(1)", "On", show=False),
    ]
    DEFAULT_CSS = """
    ApprovalCard {
        height: auto;
        max-height: 100%;
        padding: 0 1;
        border-left: outer $warning;
        background: $surface;
    }
    ApprovalCard Static { width: 1fr; height: auto; max-height: 4; }
    ApprovalCard .question { text-style: bold; }
    ApprovalCard .why { color: $text-warning; }
    ApprovalCard .where, ApprovalCard .hint { color: $text-muted; }
    ApprovalCard LinesPane { margin: 1 0 0 0; max-height: 30vh; }
    ApprovalCard .choices { margin: 1 0 0 0; max-height: 12; }
    ApprovalCard Input { display: none; margin: 1 0 0 0; }
    ApprovalCard.-reason Input { display: block; }
    ApprovalCard.-reason .choices { display: none; }
    """

    @dataclass
    class Given(Message):
        """The person has answered."""

        id: str
        verdict: Verdict

    def __init__(
        self,
        proposal: Proposal,
        *,
        glyphs: Glyphs = UNICODE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__()
        self.proposal = proposal
        self._glyphs = glyphs
        self._clock = clock
        self._rest_began = clock()
        self._was_early = False
        self._is_given = False
        self._at = 0
        rule = shown_line(proposal.always.strip())
        self._choices = [_Choice("y", "once", "Yes, once")]
        # Nobody agrees for good to what cannot be shown in full.
        if 0 < len(rule) <= _LONGEST:
            self._choices += [
                _Choice("s", "session", f"Yes, in this session without asking: {rule}"),
                _Choice("a", "always", f"Yes, always without asking: {rule}"),
            ]
        self._choices.append(_Choice("n", "no", "No, and say why"))

    # ------------------------------------------------------------------------------- what it is

    def compose(self) -> ComposeResult:
        proposal = self.proposal
        yield Static(self._question(), classes="question", markup=False)
        if proposal.folder not in ("", "."):
            yield Static(f"in {_fitting(proposal.folder)}", classes="where", markup=False)
        if proposal.why:
            yield Static(
                f"{self._glyphs.warning} {_fitting(proposal.why)}", classes="why", markup=False
            )
        if has_body(proposal):
            pane = LinesPane(
                body(proposal, self._glyphs, context=_CONTEXT_IN_CARD, most=_LINES_IN_CARD)
            )
            pane.can_focus = False
            yield pane
        yield Static(self._choices_text(), classes="choices")
        yield Input(placeholder="why not? The model reads it", compact=True)
        yield Static(self._hint(), classes="hint", markup=False)

    def on_mount(self) -> None:
        self._rest_began = self._clock()
        # Whenever anything on the screen has taken another size.
        self.screen.screen_layout_refresh_signal.subscribe(self, lambda _: self._take_room())
        self.focus()
        self._wait()

    def _take_room(self) -> None:
        """Let what is proposed have all the room that nothing else needs."""
        parent = self.parent
        if not isinstance(parent, Widget) or not self.is_attached:
            return
        beside = (
            other
            for other in parent.displayed_children
            if other is not self and other.layer == "default"
        )
        for pane in self.query(LinesPane):
            within = (child for child in self.displayed_children if child is not pane)
            taken = sum(map(_rows, (*beside, *within))) + pane.styles.margin.height + _ABOVE
            most = max(_LEAST, parent.size.height - taken)
            height = pane.styles.max_height
            if height is None or height.value != most or not height.is_cells:
                pane.styles.max_height = most
        self.query_one(".hint", Static).update(self._hint(), layout=False)

    @property
    def is_ready(self) -> bool:
        """Whether keys count."""
        return self._clock() - self._rest_began >= GRACE

    def _question(self) -> str:
        proposal = self.proposal
        title = _fitting(proposal.title)
        if proposal.tool in OWN_QUESTIONS:
            return f"{title[:1].upper()}{title[1:]}?"
        if proposal.command:
            is_in_it = proposal.title.strip() in proposal.command
            return "Run this?" if is_in_it else f"Run this? {title}"
        if proposal.diff is not None:
            name = title or _fitting(proposal.diff.path)
            if proposal.diff.before is None:
                return f"Write the new file {name}?"
            return f"{'Delete' if proposal.diff.after is None else 'Change'} {name}?"
        return f"Allow {_fitting(proposal.tool)}? {title}".rstrip()

    def _choices_text(self) -> Text:
        rows = Text()
        for index, choice in enumerate(self._choices):
            is_here = index == self._at
            style = ("bold" if is_here else "") if self.is_ready else "dim"
            mark = self._glyphs.prompt if is_here else " "
            rows.append(f"{mark} {choice.key}  {choice.text}", style)
            rows.append("\n" if index + 1 < len(self._choices) else "")
        return rows

    def _hint(self) -> str:
        dot = f" {self._glyphs.dot} "
        if self.has_class("-reason"):
            return dot.join(("Enter sends it, also empty", "Esc no, without a reason"))
        if not self.has_focus:
            return "Tab leads back to this question"
        if not self.is_ready:
            return "that key came too early to count" if self._was_early else "a moment"
        keys = [f"{self._glyphs.up}{self._glyphs.down} Enter choose", "Esc no"]
        if any(pane.max_scroll_y for pane in self.query(LinesPane)):
            keys.append("Page Up/Down scroll")
        if has_body(self.proposal):
            keys.append("d whole screen")
        return dot.join(keys)

    # ---------------------------------------------------------------------------------- waiting

    def on_key(self, event: events.Key) -> None:
        """A key that came before the person can have read the question is lost."""
        if not self.is_ready and not self.has_class("-reason"):
            event.stop()
            event.prevent_default()
            self._rest_began, self._was_early = self._clock(), True
            self._wait()

    def on_focus(self) -> None:
        # Later: whether the card has the focus is known when this is over.
        self.call_later(self._show)

    def on_blur(self) -> None:
        self.call_later(self._show)

    def _wait(self) -> None:
        """Show that keys do not count yet, and look again when they may."""
        self._show()
        if not self.is_ready:
            rest = self._rest_began + GRACE - self._clock()
            self.set_timer(max(rest, 0.02), self._wait)

    def _show(self) -> None:
        if self.is_mounted:
            self.query_one(".choices", Static).update(self._choices_text())
            self.query_one(".hint", Static).update(self._hint())

    # ---------------------------------------------------------------------------------- answers

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """While a reason is written only Escape is a key of the card's."""
        if action in ("choose", "details", "move", "take", "page"):
            return not self.has_class("-reason")
        return True

    def action_choose(self, scope: Scope) -> None:
        """Take a choice, if it is offered; "no" asks for a reason."""
        offered = [choice.scope for choice in self._choices]
        if scope not in offered:
            return
        self._at = offered.index(scope)
        if scope != "no":
            self._give(Verdict(scope))
            return
        self.add_class("-reason")
        self._show()
        self.query_one(Input).focus()

    def action_move(self, by: int) -> None:
        """Go to another choice."""
        self._at = (self._at + by) % len(self._choices)
        self._show()

    def action_take(self) -> None:
        """Take the choice that is marked."""
        self.action_choose(self._choices[self._at].scope)

    def action_refuse(self) -> None:
        """No, without a reason."""
        self._give(Verdict("no"))

    def action_page(self, by: int) -> None:
        """Scroll what is proposed."""
        for pane in self.query(LinesPane):
            pane.scroll_relative(y=by * max(pane.size.height - 1, 1), animate=False)

    def action_details(self) -> None:
        """Show what is proposed on the whole screen."""
        if has_body(self.proposal):
            self.app.push_screen(
                DetailsScreen(self._question(), body(self.proposal, self._glyphs), self._glyphs)
            )

    @on(Input.Submitted)
    def _reason_given(self, event: Input.Submitted) -> None:
        event.stop()
        self._give(Verdict("no", event.value.strip()))

    def _give(self, verdict: Verdict) -> None:
        if not self._is_given:
            self._is_given = True
            self.post_message(self.Given(self.proposal.id, verdict))


def _rows(widget: Widget) -> int:
    """The rows that a widget needs; none if it only takes what is left."""
    height = widget.styles.height
    is_rest = height is not None and height.is_fraction
    return 0 if is_rest else widget.outer_size.height + widget.styles.margin.height


def _fitting(text: str) -> str:
    line = shown_line(text.strip())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}..."
