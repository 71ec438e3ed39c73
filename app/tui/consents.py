"""What the person is asked, one after the other."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING

from gemma_local.app.agent.consent import Proposal, Verdict
from gemma_local.app.tui.approval.card import ApprovalCard
from gemma_local.app.tui.glyphs import Glyphs
from gemma_local.app.tui.verdicts import NO

if TYPE_CHECKING:
    from gemma_local.app.tui.screens.chat import ChatScreen


class Consents:
    """Shows proposals above the composer, and hands on what the person says."""

    def __init__(self, screen: ChatScreen) -> None:
        self._screen = screen
        self._waiting: deque[tuple[Proposal, Callable[[Verdict], None]]] = deque()

    def ask(self, proposal: Proposal, answer: Callable[[Verdict], None]) -> None:
        """Ask; ``answer`` hears the verdict."""
        self._waiting.append((proposal, answer))
        if len(self._waiting) == 1:
            self._show()

    def given(self, id: str, verdict: Verdict) -> None:  # noqa: A002 - the proposal's name for it
        """The person has answered the card of a proposal. An answer to one that was withdrawn
        meanwhile is nothing."""
        if not self._waiting or self._waiting[0][0].id != id:
            return
        screen = self._screen
        screen.query(ApprovalCard).remove()
        _, answer = self._waiting.popleft()
        screen.composer.focus()
        answer(verdict)
        if self._waiting:
            screen.call_after_refresh(self._show)

    def withdraw(self) -> None:
        """Nothing of it matters any more: whoever still waits for an answer hears a no."""
        waiting = list(self._waiting)
        self._waiting.clear()
        for _, answer in waiting:
            answer(NO)
        if cards := self._screen.query(ApprovalCard):
            cards.remove()
            self._screen.composer.focus()

    def _show(self) -> None:
        if not self._waiting:
            return
        screen = self._screen
        proposal, _ = self._waiting[0]
        screen.mount(_card(proposal, screen.gemma.glyphs), before=screen.composer)
        # Without an answer nothing goes on, however short the wait was.
        screen.gemma.attention.answered(math.inf, f"asks: {proposal.title}")


def _card(proposal: Proposal, glyphs: Glyphs) -> ApprovalCard:
    """The card for a proposal."""
    if proposal.tool == "best":
        # Here: few sessions have attempts made.
        from gemma_local.app.best.offer import Offer
        from gemma_local.app.tui.approval.offer_card import OfferCard

        if isinstance(proposal, Offer):
            return OfferCard(proposal, glyphs=glyphs)
    return ApprovalCard(proposal, glyphs=glyphs)
