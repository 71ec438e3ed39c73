"""What a session measured, against tallies that were added up by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.app.drafting_report import acceptance
from gemma_local.app.speed_log import SpeedLog
from gemma_local.engine.messages import (
    CacheUse,
    Delta,
    Done,
    Failed,
    Loading,
    Prefill,
    SourceTally,
    Stats,
    Tally,
)
from gemma_local.engine.meter import MTP
from tests.app.talking import talking
from tests.app.tui.status.measurements import READY
from tests.ggufs import Pair


def drafted(passes: int, seconds: float) -> Tally:
    """Two tokens drafted in each pass; all first ones are kept, and every second of the others."""
    accepted = (passes, passes // 2)
    return Tally(
        prompt_tokens=300,
        reused_tokens=100,
        prefilled_tokens=200,
        emitted_tokens=1 + passes + sum(accepted),
        prefill_seconds=0.5,
        decode_seconds=seconds,
        passes=passes,
        decoded_tokens=passes + sum(accepted),
        drafted=2 * passes,
        accepted=sum(accepted),
        drafted_by_position=(passes, passes),
        accepted_by_position=accepted,
        sources=(
            SourceTally(MTP, passes, 2 * passes, sum(accepted), (passes, passes), accepted, 0.01),
        ),
    )


def test_before_anything_happened() -> None:
    log = SpeedLog()
    assert (log.tally, log.course, log.tokens_per_second, log.reading) == (None, None, None, None)
    assert not log.is_decoding
    assert log.sources == {}
    assert log.reuse.saved_seconds is None


def test_the_speed_of_an_answer_that_is_coming_is_that_of_the_last_two_seconds() -> None:
    log = SpeedLog()
    log.add(Stats("a", drafted(10, 2.0)), 2.0)
    assert log.tokens_per_second == pytest.approx(25 / 2)
    log.add(Stats("a", drafted(30, 4.0)), 4.1)
    assert log.tokens_per_second == pytest.approx(50 / 2)
    assert log.is_decoding
    assert log.tally == drafted(30, 4.0)
    assert log.tally.acceptance == pytest.approx(0.75)
    assert log.tally.tokens_per_pass == pytest.approx(2.5)


def test_how_often_the_screen_looks_changes_nothing() -> None:
    late, early = SpeedLog(), SpeedLog()
    for count in range(1, 9):
        early.add(Stats("a", drafted(count * 2, count * 0.5)), count * 0.5)
        late.add(Stats("a", drafted(count * 2, count * 0.5)), 100.0)
    assert late.tokens_per_second == early.tokens_per_second == pytest.approx(10.0)


def test_an_answer_that_ended_shows_its_own_average() -> None:
    log = SpeedLog()
    log.add(Stats("a", drafted(10, 2.0)), 2.0)
    log.add(Done("a", "stop", drafted(30, 4.0), (), cache=CacheUse(tokens=375)), 4.0)
    assert not log.is_decoding
    assert log.tokens_per_second == pytest.approx(75 / 4)
    assert log.cache.tokens == 375
    assert log.answers[-1].longest_draft == 2
    assert log.answers[-1].course.seconds == 4.0


def test_the_session_is_the_sum_of_its_answers() -> None:
    log = SpeedLog()
    log.add(Done("a", "stop", drafted(10, 2.0), ()), 2.0)
    log.add(Done("b", "cancelled", drafted(20, 3.0), ()), 9.0)
    assert log.ended == 2
    assert log.session.decoded_tokens == 25 + 50
    assert log.session.drafted_by_position == (30, 30)
    assert log.session.accepted_by_position == (30, 15)
    assert log.sources[MTP].drafted == 60
    assert acceptance(log.sources[MTP]) == pytest.approx(0.75)
    # 400 tokens read in a second; 200 more were in the cache.
    assert log.reading_speed == pytest.approx(400.0)
    assert log.reuse.saved_seconds == pytest.approx(0.5)


def test_an_answer_without_drafts_has_no_source_and_no_acceptance() -> None:
    log = SpeedLog()
    tally = Tally(decoded_tokens=20, emitted_tokens=21, passes=20, decode_seconds=2.0)
    log.add(Done("a", "stop", tally, ()), 2.0)
    assert log.sources == {}
    assert log.session == tally
    assert log.drafting == Tally()
    assert log.tally is not None
    assert log.tally.acceptance is None
    assert log.answers[-1].longest_draft == 0


def test_another_answer_begins_anew() -> None:
    log = SpeedLog()
    log.add(Done("a", "stop", drafted(100, 4.0), ()), 4.0)
    log.add(Stats("b", drafted(2, 1.0)), 6.0)
    assert log.tokens_per_second == pytest.approx(5.0)
    assert log.tally == drafted(2, 1.0)


def test_what_was_read_for_later_is_no_answer() -> None:
    log = SpeedLog()
    log.add(Prefill("r", 64, 640, 0), 1.0)
    log.add(Done("r", "read", Tally(prompt_tokens=640), (), cache=CacheUse(tokens=640)), 2.0)
    assert (log.ended, log.tally, log.reading) == (0, None, None)
    assert log.cache.tokens == 640


def test_reading_tells_its_speed_and_the_time_that_is_left() -> None:
    log = SpeedLog()
    log.add(Prefill("a", 1100, 5000, 1000), 10.0)
    assert log.reading is not None
    assert (log.reading.tokens_per_second, log.reading.seconds_left) == (None, None)
    log.add(Prefill("a", 1500, 5000, 1000), 11.0)
    assert log.reading.tokens_per_second == pytest.approx(400.0)
    assert log.reading.seconds_left == pytest.approx(3500 / 400)
    assert log.reading.reused == 1000
    log.add(Prefill("a", 5000, 5000, 1000), 20.0)
    assert log.reading is None


def test_tallies_that_come_while_a_prompt_is_read_are_not_an_answer() -> None:
    log = SpeedLog()
    log.add(Done("a", "stop", drafted(10, 2.0), ()), 2.0)
    log.add(Prefill("b", 1100, 5000, 1000), 10.0)
    log.add(Stats("b", Tally(prompt_tokens=5000, prefilled_tokens=100)), 10.1)
    assert (log.reading is None, log.is_decoding) == (False, False)
    assert log.tally == drafted(10, 2.0)
    log.add(Stats("b", Tally(prompt_tokens=5000, emitted_tokens=1)), 20.0)
    assert (log.reading, log.is_decoding) == (None, True)
    assert log.tokens_per_second is None


def test_the_speed_of_reading_forgets_what_was_long_ago() -> None:
    log = SpeedLog()
    for second, done in ((0, 100), (1, 1100), (2, 2100), (4, 2200), (6, 2300)):
        log.add(Prefill("a", done, 9000, 0), float(second))
    assert log.reading is not None
    assert log.reading.tokens_per_second == pytest.approx(50.0)


def test_the_first_slice_of_a_prompt_goes_by_what_was_read_before() -> None:
    log = SpeedLog()
    log.add(Done("a", "stop", drafted(10, 2.0), ()), 2.0)
    log.add(Prefill("b", 400, 2400, 0), 3.0)
    assert log.reading is not None
    assert log.reading.seconds_left == pytest.approx(5.0)


def test_short_prompts_say_nothing_about_the_speed_of_reading() -> None:
    log = SpeedLog()
    log.add(Done("a", "stop", Tally(prefilled_tokens=20, prefill_seconds=1.0), ()), 1.0)
    assert log.reading_speed is None


def test_loading_and_failing() -> None:
    log = SpeedLog()
    log.add(Loading("target", 0.5), 0.0)
    first = log.loading
    assert first == Loading("target", 0.5)
    log.add(READY, 1.0)
    assert log.loading is None
    log.add(Stats("a", drafted(10, 2.0)), 2.0)
    log.add(Prefill("b", 64, 640, 0), 2.5)
    log.add(Failed("a", "no", died=True), 3.0)
    assert not log.is_decoding
    assert log.reading is None
    assert log.tally is None


def test_a_reading_screen_is_not_told_of_text() -> None:
    log = SpeedLog()
    log.add(Delta("a", (1,), (False,), ("x",)), 0.0)
    assert log.tally is None


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 8), st.floats(0.05, 2.0)), min_size=1, max_size=40))
def test_sums_hold_whatever_comes(steps: list[tuple[int, float]]) -> None:
    log = SpeedLog()
    passes, seconds = 0, 0.0
    for more, longer in steps:
        passes, seconds = passes + more, seconds + longer
        log.add(Stats("a", drafted(passes, seconds)), seconds)
        assert log.tokens_per_second is not None
        assert log.tokens_per_second >= 0
    log.add(Done("a", "stop", drafted(passes, seconds), ()), seconds)
    assert log.session == drafted(passes, seconds)
    assert log.course is not None
    assert log.course.rate(0.0, seconds) == pytest.approx(
        drafted(passes, seconds).tokens_per_second
    )


def test_a_real_answer(story: Pair, tmp_path: Path) -> None:
    with talking(story, tmp_path, threads=2) as talk:
        log = SpeedLog()
        done = talk.ask("Tell me a story").done
        for at, event in enumerate((*talk.heard.events, done)):
            log.add(event, float(at))
        assert log.session == done.tally
        assert log.tokens_per_second == pytest.approx(done.tally.tokens_per_second)
        assert log.sources[MTP].drafted == done.tally.drafted > 0
        assert log.cache.tokens > 0
        assert log.reading is None
