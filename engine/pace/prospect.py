"""One sequence's draft of one step, weighed while it is made."""

from __future__ import annotations

from collections.abc import Sequence


class Prospect:
    """What is known of a draft so far, and what may come of it.

    ``begun`` are tokens that were found in the text, after which the drafter goes on, if at all.
    ``most`` is how many tokens the drafter may add where what it states of each decides about the
    next, ``planned`` how many it adds where it is not asked. ``reached`` has for each token so far
    the chance that all up to it are kept, ``confidences`` what the drafter stated of its own.
    """

    __slots__ = (
        "_begun_chances",
        "_best",
        "_extra",
        "_per_token",
        "_reached",
        "_value",
        "begun",
        "best_length",
        "chances",
        "confidences",
        "most",
        "planned",
        "reached",
        "worth",
    )

    def __init__(
        self,
        extra: Sequence[float],
        worth: float,
        per_token: float,
        chances: Sequence[float] = (),
        most: int = 0,
        begun: list[int] | None = None,
        begun_chances: Sequence[float] = (),
        planned: int | None = None,
    ) -> None:
        """
        Args:
            extra: seconds that a pass takes longer with so many drafted rows, from 0 on.
            worth: seconds that a token is worth (`choice`).
            per_token: seconds of making a token.
            chances: for each token that the drafter may add, before it is known, given that those
                before it are kept.
            begun_chances: the same for each token of ``begun``.
            planned: None for ``most``.
        """
        self.begun = begun or []
        self.most = most
        self.planned = most if planned is None else planned
        self.worth = worth
        self.confidences: list[float] = []
        self.reached: list[float] = []
        self.best_length = 0
        self._begun_chances = begun_chances
        self._extra = extra
        self._per_token = per_token
        self.chances = chances
        self._reached = 1.0
        self._value = 0.0
        self._best = 0.0
        if begun_chances:
            self._weigh(begun_chances)

    def afresh(self, most: int, continuation: Sequence[int]) -> Prospect:
        """The same before the drafter made anything, with other tokens from the text."""
        planned = self.planned if most == self.most else most
        return Prospect(
            *(self._extra, self.worth, self._per_token, self.chances, most),
            *(list(continuation[: len(self.begun)]), self._begun_chances, planned),
        )

    def take(self, count: int) -> None:
        """The drafter made so many tokens without being asked about any."""
        self._weigh(self.chances[:count])

    def _weigh(self, chances: Sequence[float]) -> int:
        """So many tokens more; how many there are now."""
        all_reached, extra, worth = self.reached, self._extra, self.worth
        reached, value, best = self._reached, self._value, self._best
        length = len(all_reached)
        for chance in chances:
            reached *= chance
            all_reached.append(reached)
            length += 1
            value += reached * worth
            here = value - extra[length]
            if here > best:
                best, self.best_length = here, length
        self._reached, self._value, self._best = reached, value, best
        return length

    def add(self, chance: float, confidence: float) -> bool:
        """The drafter made a token that is kept with this chance; whether to make another: whether
        some longer draft gains more than stopping here."""
        length = self._weigh((chance,))
        self.confidences.append(confidence)
        value, reached = self._value, self._reached
        extra, worth, per_token, best = self._extra, self.worth, self._per_token, self._best
        for chance in self.chances[len(self.confidences) : self.most]:
            reached *= chance
            value += reached * worth - per_token
            length += 1
            if value - extra[length] > best:
                return True
        return False
