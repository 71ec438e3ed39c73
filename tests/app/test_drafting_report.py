"""What is said about where drafts came from and how far they went."""

from __future__ import annotations

import json
from dataclasses import replace

from gemma_local.app.bench_drafting import drafting_text
from gemma_local.app.drafting_report import (
    by_length,
    by_place,
    drafting_keys,
    drafting_lines,
    gain,
    parked_share,
    positions_line,
)
from gemma_local.engine.messages import PaceTally, SourceTally, Tally

MTP = SourceTally("mtp", 4, 10, 6, (4, 4, 2), (4, 2, 0), 0.25)
LOOKUP = SourceTally("lookup", 1, 8, 8, (1,) * 8, (1,) * 8, 0.0)
PACE = PaceTally(
    lengths=(3, 0, 2, 2, 0, 0, 0, 0, 1),
    parked=2,
    parked_now=True,
    reason="a draft of 1 would be 12 % slower",
    plain_speed=8.0,
    calibration=((0.62, 0.5, 4), (0.9, 1.0, 6)),
    seconds=0.0008,
)
TALLY = Tally(
    decode_seconds=2.0,
    passes=8,
    decoded_tokens=22,
    drafted=18,
    accepted=14,
    drafted_by_position=(5, 5, 3, 1, 1, 1, 1, 1),
    accepted_by_position=(5, 3, 1, 1, 1, 1, 1, 1),
    sources=(MTP, LOOKUP),
    pace=PACE,
)
FIXED = replace(TALLY, sources=(MTP,), pace=None)
"""Of a request that said itself how far to draft."""


def test_the_keys_for_programs() -> None:
    assert json.loads(json.dumps(drafting_keys(TALLY))) == {
        "sources": [
            {
                "name": "mtp",
                "drafts": 4,
                "drafted": 10,
                "accepted": 6,
                "acceptance": 0.6,
                "drafted_by_position": [4, 4, 2],
                "accepted_by_position": [4, 2, 0],
                "seconds": 0.25,
            },
            {
                "name": "lookup",
                "drafts": 1,
                "drafted": 8,
                "accepted": 8,
                "acceptance": 1.0,
                "drafted_by_position": [1] * 8,
                "accepted_by_position": [1] * 8,
                "seconds": 0.0,
            },
        ],
        "pace": {
            "lengths": [3, 0, 2, 2, 0, 0, 0, 0, 1],
            "parked": 2,
            "parked_now": True,
            "reason": "a draft of 1 would be 12 % slower",
            "plain_tokens_per_second": 8.0,
            "gain": 0.375,
            "calibration": [
                {"stated": 0.62, "accepted": 0.5, "tokens": 4},
                {"stated": 0.9, "accepted": 1.0, "tokens": 6},
            ],
            "seconds": 0.0008,
        },
    }


def test_what_is_not_known_is_null() -> None:
    assert drafting_keys(FIXED)["pace"] is None
    unknown = drafting_keys(replace(TALLY, sources=(SourceTally("mtp"),), pace=PaceTally()))
    assert unknown["pace"] == {
        "lengths": [],
        "parked": 0,
        "parked_now": False,
        "reason": "",
        "plain_tokens_per_second": None,
        "gain": None,
        "calibration": [],
        "seconds": 0.0,
    }
    assert json.loads(json.dumps(unknown))["sources"][0]["acceptance"] is None
    assert gain(Tally(pace=PACE)) is None
    assert parked_share(PaceTally()) == 0.0


def test_the_lines_for_people() -> None:
    short = replace(TALLY, drafted_by_position=(5, 5), accepted_by_position=(5, 3))
    *lines, decided = drafting_lines(short)
    assert lines == [
        "accepted by position  1: 100% of 5  2: 60% of 5",
        "accepted by source  mtp: 60% of 10  lookup: 100% of 8",
        "passes by length of the draft  0: 3  2: 2  3: 2  8: 1",
        "accepted where the drafter stated  62%: 50% of 4  90%: 100% of 6",
    ]
    assert decided.split(" · ") == [
        "+38% to plain decoding at 8.0 tokens/s",
        "parked 25% (a draft of 1 would be 12 % slower)",
        "decided in 0.10 ms a pass",
    ]


def test_lines_with_nothing_to_say_are_left_out() -> None:
    assert drafting_lines(Tally(decoded_tokens=3, passes=3, decode_seconds=1.0)) == []
    assert [line.split("  ")[0] for line in drafting_lines(FIXED)] == ["accepted by position"]
    never = PaceTally(lengths=(8,), plain_speed=None)
    assert drafting_lines(Tally(passes=8, pace=never)) == [
        "passes by length of the draft  0: 8",
        "parked 0% · decided in 0.00 ms a pass",
    ]
    assert drafting_lines(Tally(pace=PaceTally())) == []
    looked_up = replace(FIXED, sources=(LOOKUP,))
    assert "accepted by source  lookup: 100% of 8" in drafting_lines(looked_up)


def test_acceptance_by_position() -> None:
    tally = Tally(drafted=9, drafted_by_position=(4, 4, 1), accepted_by_position=(4, 2, 0))
    assert positions_line(tally) == "accepted by position  1: 100% of 4  2: 50% of 4  3: 0% of 1"
    assert positions_line(Tally()) == ""


def test_bench_shows_what_the_engine_decided() -> None:
    slow = PaceTally(lengths=(6, 2), parked=6)
    results = [
        ("code", 1.0, Tally()),
        ("code", 1.19, FIXED),
        ("code", 1.46, TALLY),
        ("prose", 0.99, replace(TALLY, sources=(MTP,), pace=slow)),
        ("all", 1.24, TALLY),
    ]
    lines = drafting_text(results).splitlines()
    heads = lines[2].split("  ")
    assert [head.strip() for head in heads if head] == [
        *("kind", "gain", "plain, as reckoned", "parked", "mtp accepted", "lookup accepted"),
        *("0", "1", "2", "3", "5-8", "deciding"),
    ]
    code, prose, together = (line.split("  ") for line in lines[3:6])
    assert [cell.strip() for cell in code if cell] == [
        *("code", "+46%", "8.0", "25%", "60% of 10", "100% of 8"),
        *("38%", "0%", "25%", "25%", "12%", "0.10 ms"),
    ]
    assert [cell.strip() for cell in prose if cell][:6] == [
        *("prose", "-1%", "-", "75%", "60% of 10", "-"),
    ]
    assert together[0] == "all"
    assert lines[7:9] == [f"parked, {kind}: {PACE.reason}" for kind in ("code", "all")]
    assert [line.split() for line in lines[-3:]] == [
        ["stated", "accepted", "tokens"],
        ["62%", "50%", "4"],
        ["90%", "100%", "6"],
    ]
    assert drafting_text(results[:2]) == ""


def test_late_places_and_long_drafts_are_told_together() -> None:
    counts = tuple(range(63, 0, -1))
    tally = replace(TALLY, drafted_by_position=counts, accepted_by_position=counts)
    assert by_place(tally)[15:] == [
        ("16", 48, 48),
        ("17-32", sum(range(32, 48)), sum(range(32, 48))),
        ("33-63", sum(range(1, 32)), sum(range(1, 32))),
    ]
    assert sum(drafted for _, _, drafted in by_place(tally)) == sum(counts)
    lengths = tuple(1 for _ in range(64))
    assert by_length(replace(PACE, lengths=lengths))[16:] == [
        ("16", 1),
        ("17-32", 16),
        ("33-63", 31),
    ]
    assert by_length(PACE) == [("0", 3), ("2", 2), ("3", 2), ("8", 1)]
