"""Sessions that were measured, made up: what the engine would tell of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gemma_local.app.speed_log import SpeedLog
from gemma_local.engine.messages import (
    CacheUse,
    Done,
    PaceTally,
    Prefill,
    Ready,
    SourceTally,
    Stats,
    Tally,
)

READY = Ready(
    target="/models/gemma-4-E4B-it-Q4_0.gguf",
    drafter="/models/mtp-gemma-4-E4B-it-Q8_0.gguf",
    architecture="gemma4",
    name="Gemma 4 E4B it",
    context=32768,
    sequences=1,
    threads=8,
    draft_max=8,
    exact_draft_max=7,
    ubatch=256,
    kv_type="f16",
    vocabulary=262144,
    backend="CPU : AVX2 = 1",
    load_seconds=3.71,
)


def tally(passes: int, *, seconds: float, prompt: int = 600, reused: int = 0) -> Tally:
    """``passes`` passes in ``seconds``, three tokens drafted in each; of ten passes nine keep the
    first, seven the second and five the third, so ten yield 31 tokens. Two of the ten drafts are
    looked up, and kept as a whole."""
    kept = (passes * 9 // 10, passes * 7 // 10, passes // 2)
    found = passes // 5
    decoded = passes + sum(kept)
    return Tally(
        prompt_tokens=prompt,
        reused_tokens=reused,
        prefilled_tokens=prompt - reused,
        emitted_tokens=decoded + 1,
        prefill_seconds=(prompt - reused) / 400,
        decode_seconds=seconds,
        draft_seconds=seconds * 0.06,
        verify_seconds=seconds * 0.92,
        llama_seconds=seconds * 0.97,
        passes=passes,
        decoded_tokens=decoded,
        drafted=3 * passes,
        accepted=sum(kept),
        drafted_by_position=(passes,) * 3,
        accepted_by_position=kept,
        sources=(
            _source("mtp", passes - found, tuple(count - found for count in kept), seconds * 0.06),
            _source("lookup", found, (found,) * 3, 0.0),
        ),
    )


def _pace(passes: int) -> PaceTally:
    """Every pass had a draft of three tokens."""
    return PaceTally(
        lengths=(0, 0, 0, passes),
        plain_speed=14.2,
        calibration=((0.62, 0.57, passes), (0.93, 0.88, 2 * passes)),
        seconds=passes * 4e-5,
    )


def _source(name: str, drafts: int, accepted: tuple[int, ...], seconds: float) -> SourceTally:
    """``drafts`` drafts of as many tokens as there are places in ``accepted``."""
    return SourceTally(
        name=name,
        drafts=drafts,
        drafted=drafts * len(accepted),
        accepted=sum(accepted),
        drafted_by_position=(drafts,) * len(accepted),
        accepted_by_position=accepted,
        seconds=seconds,
    )


PARKED = PaceTally(
    lengths=(20, 1, 4, 0, 0, 0, 0, 0, 3),
    parked=14,
    parked_now=True,
    reason="a draft of 1 would be 12 % slower",
    plain_speed=10.0,
    calibration=((0.62, 0.57, 11), (0.93, 0.88, 22)),
    seconds=28 * 1e-4,
)
"""Of 28 passes 20 had no draft, 14 of them because none would have paid."""


def answer(number: int, passes: int, pace: float, prompt: int, reused: int) -> Iterator[Stats]:
    """The tallies of an answer whose passes take ``pace`` seconds, now a little more, now less."""
    seconds = 0.0
    for count in range(1, passes + 1):
        seconds += pace * (1 + 0.25 * ((count // 7) % 3 - 1))
        so_far = tally(count, seconds=seconds, prompt=prompt, reused=reused)
        yield Stats(f"a{number}", replace(so_far, pace=_pace(count)))


def full_log(answers: int = 12) -> SpeedLog:
    """A session of that many answers, the last of which is just coming."""
    log = SpeedLog()
    at, known = 0.0, 0
    cache = CacheUse(8214, 6, 214 << 20, 1, 96 << 20, 2, 812 << 20)
    for number in range(answers + 1):
        prompt = known + 80 + 37 * (number % 4)
        last = Tally()
        log.add(Prefill(f"a{number}", prompt, prompt, known), at)
        for stats in answer(number, 40 + 11 * (number % 5), 0.15, prompt, known):
            log.add(stats, at)
            last = stats.tally
        at += last.decode_seconds
        known = prompt + last.emitted_tokens
        if number < answers:
            log.add(Done(f"a{number}", "stop", last, (), exact=True, cache=cache), at)
    return log
