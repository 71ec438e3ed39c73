"""A contest as the desk holds it: attempts, an offer, and taking what the person picks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from gemma_local.app.tui.news import AttemptStands, ContestBegan, ContestOver, News, Notice, Said
from gemma_local.app.unexpected import log_unexpected
from gemma_local.models.errors import GemmaLocalError

if TYPE_CHECKING:
    from gemma_local.app.agent.consent import Proposal, Verdict
    from gemma_local.app.best.contest import Result
    from gemma_local.app.best.wish import Wish
    from gemma_local.app.dialogue import Dialogue
    from gemma_local.app.stop import Stop

STOPPED = "stopped; nothing was changed"
NOT_TAKEN = "none of the attempts was taken; the files are as they were"
WHICH = (
    "it is not clear how this project is tested; say which command decides, such as"
    ' /best {count} --judge "pytest -q" {task}'
)


def hold_contest(
    dialogue: Dialogue,
    wish: Wish,
    tell: Callable[[News], None],
    ask: Callable[[Proposal], Verdict],
    stop: Stop,
) -> None:
    """Have attempts made, and take the one that the person picks, if any. Raises NoAttempts."""
    # In the desk's own thread: the first picture of the screen waits for none of it.
    from gemma_local.app.abreast import widen
    from gemma_local.app.best.contest import Contest
    from gemma_local.app.best.errors import Ended, NoAttempts
    from gemma_local.app.best.ground import Ground
    from gemma_local.app.best.judge import Judge
    from gemma_local.app.best.usual_judge import usual_judge

    wish = replace(wish, judge=wish.judge or usual_judge(Path.cwd()))
    if not wish.judge:
        raise NoAttempts(WHICH.format(count=wish.count, task=wish.task))
    # What cannot be is said before anything is loaded anew.
    Ground.of(dialogue)
    if sentence := widen(dialogue, wish.count, tell):
        tell(Notice(sentence))
    ground = Ground.of(dialogue)
    contest = Contest(
        ground,
        wish,
        Judge(wish.judge, has_network=ground.terms.network),
        lambda standing: tell(AttemptStands(standing)),
        lambda sentence: tell(Notice(sentence)),
    )
    tell(ContestBegan(wish))
    try:
        result = contest.run(stop)
    except Ended:
        tell(ContestOver(None, STOPPED))
        return
    except GemmaLocalError as error:
        tell(ContestOver(None, str(error)))
        return
    except Exception as error:  # noqa: BLE001 - whatever it is
        # It must not look as if it went on.
        tell(ContestOver(None, log_unexpected(error)))
        return
    tell(ContestOver(result))
    if result.best is not None:
        _offer(dialogue, result, tell, ask)


def _offer(
    dialogue: Dialogue,
    result: Result,
    tell: Callable[[News], None],
    ask: Callable[[Proposal], Verdict],
) -> None:
    from gemma_local.app.best.errors import NotTaken
    from gemma_local.app.best.offer import Picked, offer_of
    from gemma_local.app.best.taking import take

    verdict = ask(offer_of(result))
    if not isinstance(verdict, Picked):
        tell(Notice(NOT_TAKEN))
        return
    try:
        said = take(dialogue, result, result.place_of(verdict.number).outcome)
    except NotTaken as error:
        tell(Notice(str(error), "warning"))
        return
    tell(Said(said))
    tell(Notice(f"attempt {verdict.number} was taken; /undo takes it back"))
