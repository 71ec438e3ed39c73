"""What is reported about an answer, for programs and for people."""

from __future__ import annotations

import json

from gemma_local.app.report import (
    answer_report,
    cache_line,
    exactness_label,
    measurements,
    speed_line,
)
from gemma_local.engine.messages import CacheUse, Done, Ready, Sampling, Tally
from gemma_local.models.message import Message

TALLY = Tally(
    prompt_tokens=20,
    reused_tokens=12,
    prefilled_tokens=8,
    emitted_tokens=11,
    prefill_seconds=0.5,
    decode_seconds=2.0,
    draft_seconds=0.25,
    verify_seconds=1.5,
    llama_seconds=1.75,
    passes=4,
    decoded_tokens=10,
    drafted=12,
    accepted=6,
    drafted_by_position=(4, 4, 4),
    accepted_by_position=(4, 2, 0),
)
READY = Ready(
    target="/m/t.gguf",
    drafter="/m/d.gguf",
    architecture="gemma4",
    name="T",
    context=512,
    sequences=1,
    threads=1,
    draft_max=3,
    exact_draft_max=3,
    ubatch=64,
    kv_type="f16",
    vocabulary=100,
    backend="CPU",
    load_seconds=1.25,
)

KEYS = {
    *(
        "text",
        "thought",
        "session",
        "finish_reason",
        "prompt_tokens",
        "reused_tokens",
        "prefilled_tokens",
    ),
    *("emitted_tokens", "load_seconds", "prefill_seconds", "decode_seconds", "tokens_per_second"),
    *("drafted", "accepted", "acceptance", "drafted_by_position", "accepted_by_position"),
    *("tokens_per_pass", "passes", "draft_seconds", "verify_seconds", "llama_seconds"),
    *("sources", "pace"),
    *("seed", "exact", "lenience", "model", "drafter"),
}


def test_the_keys_are_the_documented_ones_and_no_others() -> None:
    done = Done("1", "stop", TALLY, (1, 2))
    report = answer_report(
        Message("assistant", "hi", "hm"),
        done,
        READY,
        Sampling(seed=5, lenience=0.0),
        exact=True,
        session="k3b0",
    )
    assert set(report) == KEYS
    assert json.loads(json.dumps(report)) == {
        "text": "hi",
        "thought": "hm",
        "session": "k3b0",
        "finish_reason": "stop",
        "prompt_tokens": 20,
        "reused_tokens": 12,
        "prefilled_tokens": 8,
        "emitted_tokens": 11,
        "load_seconds": 1.25,
        "prefill_seconds": 0.5,
        "decode_seconds": 2.0,
        "tokens_per_second": 5.0,
        "drafted": 12,
        "accepted": 6,
        "acceptance": 0.5,
        "drafted_by_position": [4, 4, 4],
        "accepted_by_position": [4, 2, 0],
        "tokens_per_pass": 2.5,
        "passes": 4,
        "draft_seconds": 0.25,
        "verify_seconds": 1.5,
        "llama_seconds": 1.75,
        "sources": [],
        "pace": None,
        "seed": 5,
        "exact": True,
        "lenience": 0.0,
        "model": "/m/t.gguf",
        "drafter": "/m/d.gguf",
    }


def test_without_drafting_there_is_no_acceptance() -> None:
    keys = measurements(Tally(decoded_tokens=3, passes=3, decode_seconds=1.0))
    assert keys["acceptance"] is None
    assert keys["drafted_by_position"] == []
    assert keys["tokens_per_pass"] == 1.0
    assert measurements(Tally())["tokens_per_pass"] is None


def test_the_line_for_people() -> None:
    line = speed_line(TALLY, "exact")
    for part in ("5.0 tokens/s", "acceptance 50% (6 of 12)", "2.50 tokens per pass", "12 reused"):
        assert part in line
    assert line.endswith("exact")
    assert "\n" not in line
    assert "acceptance" not in speed_line(Tally(), "")


def test_lenience_is_always_said() -> None:
    assert exactness_label(exact=True, lenience=0.2) == "not exact (lenience 0.2)"
    assert exactness_label(exact=True, lenience=0) == "exact"
    assert exactness_label(exact=False, lenience=0) == ""


def test_the_cache_line_names_what_there_is() -> None:
    assert cache_line(CacheUse(tokens=7)) == "7 tokens in the cache"
    mib = 1 << 20
    use = CacheUse(7, checkpoints=2, checkpoint_bytes=3 * mib, parked=1, parked_bytes=mib // 2)
    assert cache_line(use) == (
        "7 tokens in the cache · 2 checkpoints 3.0 MiB · 1 conversation parked 0.5 MiB"
    )
    assert "1 state on disk 1.0 MiB" in cache_line(CacheUse(7, saved=1, saved_bytes=mib))
