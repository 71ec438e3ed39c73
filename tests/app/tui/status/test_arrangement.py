"""Which fields stay on a line that is too short for all of them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.app.agent.consent import MODES
from gemma_local.app.context_window import ContextUse, Window
from gemma_local.app.plain_speed import Gain
from gemma_local.app.speed_log import Reading
from gemma_local.app.tui.glyphs import ASCII, UNICODE, Glyphs
from gemma_local.app.tui.status.arrangement import GAP, Arrangement, arrange
from gemma_local.app.tui.status.fields import Field, Form, fields, gain_figure
from gemma_local.app.tui.status.status import Status
from gemma_local.engine.messages import Loading
from tests.app.tui.status.measurements import full_log

BARE = Status(model="E4B", pair="ready", mode="edits").filled(
    ContextUse(Window(32768), 812, 1440, 3000, 6100)
)
LIVE = replace(
    BARE.measured(full_log(), Gain(38.2, 14.8, measured=True)),
    queued=2,
    label="not exact (lenience 0.2)",
    note="downloading 31B  43 %",
)
STATES = {
    "live": LIVE,
    "idle": replace(LIVE, is_decoding=False),
    "reading": replace(BARE, reading=Reading(3100, 9900, 200, 420.0, 16.2)),
    "first slice": replace(BARE, reading=Reading(256, 9900, 200)),
    "loading": replace(BARE, pair="loading", loading=Loading("drafter", 0.43)),
    "starting": replace(BARE, pair="loading"),
    "nothing": Status(),
    "no drafter": replace(BARE, pair="no drafter", tokens_per_second=14.2),
    "drafting off": replace(BARE, pair="off", tokens_per_second=14.2),
    "down": replace(LIVE, pair="down"),
    "parked": replace(BARE, tokens_per_second=14.2, is_decoding=True, parked=True),
}


def text(arranged: Arrangement) -> str:
    def side(forms: tuple[Form, ...]) -> str:
        return (" " * GAP).join("".join(piece for piece, _ in form.pieces) for form in forms)

    return side(arranged.left) + " " * arranged.between + side(arranged.right)


def line(status: Status, width: int, glyphs: Glyphs = UNICODE) -> str:
    return text(arrange(fields(status, glyphs), width))


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize("name", STATES)
def test_at_every_width_it_fits_and_says_what_matters_most(name: str, glyphs: Glyphs) -> None:
    matters = {
        "live": "tokens/s",
        "idle": "tokens/s",
        "reading": "reading",
        "first slice": "reading",
        "loading": "loading",
        "starting": "loading",
        "nothing": "no model",
        "no drafter": "14.2 tokens/s",
        "drafting off": "14.2 tokens/s",
        "down": "down",
        "parked": "14.2 tokens/s",
    }[name]
    for width in range(20, 201):
        shown = line(STATES[name], width, glyphs)
        assert len(shown) <= width
        assert matters in shown
        if glyphs is ASCII:
            assert shown.isascii()


@pytest.mark.parametrize("name", STATES)
def test_a_field_that_stays_at_one_width_stays_at_all_that_are_wider(name: str) -> None:
    made = fields(STATES[name], UNICODE)
    before: set[int] = set()
    for width in range(20, 201):
        arranged = arrange(made, width)
        forms = {*arranged.left, *arranged.right}
        ranks = {field.rank for field in made if forms & set(field.forms)}
        most = max(ranks, default=-1)
        # Nothing that is less important is there in place of something that would have fitted.
        gone = [field for field in made if field.rank < most and field.rank not in ranks]
        assert not [f for f in gone if f.forms[-1].width + GAP <= arranged.between - GAP]
        assert len(ranks) >= len(before) - 1
        before = ranks


def test_at_80_cells_all_that_drafting_buys_is_there() -> None:
    plain = replace(LIVE, queued=0, note="", label="")
    shown = " ".join(line(plain, 78).split())
    assert shown == "E4B 17.8 tokens/s accepts 69 % 3.08 per pass +38 % context 35 % edits"


def test_an_answer_in_which_no_draft_would_pay_says_so() -> None:
    assert "no draft would pay" in line(STATES["parked"], 120)
    # With drafts behind it the figures say more.
    shown = line(replace(LIVE, parked=True, note="", label=""), 160)
    assert "acceptance 69 %" in shown
    assert "no draft" not in shown


def test_at_160_cells_all_is_said_in_full() -> None:
    shown = line(replace(LIVE, queued=0, note="", label="exact"), 170)
    for part in (
        "acceptance 69 %",
        "3.08 tokens per pass",
        "+38 % to plain",
        "11,352 of 32,768",
        "exact",
        "thinking off",
        "accept edits",
    ):
        assert part in shown


def test_idle_shows_the_last_answer_quietly() -> None:
    made = arrange(fields(STATES["idle"], UNICODE), 160)
    roles = {role for form in made.left for piece, role in form.pieces if "17.8" in piece}
    assert roles == {"muted"}
    assert not {"strong", "bar", "good"} & {role for form in made.left for _, role in form.pieces}


def test_the_context_has_a_colour_only_near_the_line() -> None:
    window = Window(32768)

    def roles(tokens: int) -> set[str]:
        status = Status(pair="ready").filled(ContextUse(window, history=tokens))
        return {
            role for form in arrange(fields(status, UNICODE), 80).right for _, role in form.pieces
        }

    assert not {"warning", "error"} & roles(window.warn_at - 1)
    assert "warning" in roles(window.warn_at)
    assert "error" in roles(window.compact_at)


def test_running_commands_without_asking_is_said_in_a_colour() -> None:
    pieces = {
        mode: dict(
            piece
            for field in fields(Status(mode=mode), UNICODE)
            for form in field.forms
            for piece in form.pieces
        )
        for mode in MODES
    }
    assert pieces["auto"]["auto"] == "warning"
    assert pieces["ask"]["ask"] == pieces["plan"]["plan"] == "text"
    assert pieces["edits"]["accept edits"] == "text"


def test_an_estimate_says_that_it_is_one() -> None:
    assert gain_figure(38.2, measured=True) == "+38 %"
    assert gain_figure(-7.4, measured=True) == "-7 %"
    assert gain_figure(38.2, measured=False) == "~+40 %"
    assert gain_figure(-1.0, measured=False) == "~+0 %"


def test_a_long_name_leaves_room_for_what_changes() -> None:
    guest = replace(LIVE, model="Some\x1b[31mGuest\nModel-of-a-maker-who-likes-long-names-Q4_K_M")
    for width in range(20, 201):
        shown = line(guest, width)
        assert len(shown) <= width
        assert "tokens/s" in shown
        assert "\x1b" not in shown and "\n" not in shown


@settings(deadline=None)
@given(
    st.floats(0, 999), st.floats(0, 1), st.floats(1, 9.9), st.floats(-90, 900), st.integers(20, 200)
)
def test_a_line_does_not_jump_while_its_numbers_change(
    speed: float, acceptance: float, per_pass: float, percent: float, width: int
) -> None:
    status = replace(
        LIVE,
        tokens_per_second=speed,
        acceptance=acceptance,
        tokens_per_pass=per_pass,
        gain=Gain(percent, 10.0, measured=True),
    )
    first, second = (arrange(fields(s, UNICODE), width) for s in (LIVE, status))
    assert [form.width for form in first.left] == [form.width for form in second.left]
    assert first.between == second.between


forms = st.lists(st.text("x", min_size=1, max_size=12), min_size=1, max_size=3).map(
    lambda texts: tuple(Form(((one, "text"),)) for one in sorted(texts, key=lambda one: -len(one)))
)


@settings(deadline=None)
@given(st.lists(st.tuples(forms, st.booleans()), max_size=8), st.integers(0, 60))
def test_any_fields_fit(made: list[tuple[tuple[Form, ...], bool]], width: int) -> None:
    given_fields = [Field(rank, f, at_right=right) for rank, (f, right) in enumerate(made)]
    arranged = arrange(given_fields, width)
    assert len(text(arranged)) <= width
    if given_fields and given_fields[0].forms[-1].width <= width:
        assert set(given_fields[0].forms) & {*arranged.left, *arranged.right}
