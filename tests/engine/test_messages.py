"""Everything that can cross the process boundary comes out as it went in."""

from __future__ import annotations

import pytest

from gemma_local.engine import messages as m
from gemma_local.models.prompt import Control, Ids, Markup, Text

PROMPT = (Control("<|turn>"), Text("line\nbreak é\u2028 \ud800"), Markup("<s>"), Ids((1, 2, 3)))
TALLY = m.Tally(prompt_tokens=3, drafted_by_position=(2, 1), accepted_by_position=(1, 0))

MESSAGES: list[m.Message] = [
    m.Load("t.gguf", None, threads=1),
    m.Generate(
        "a", PROMPT, m.Sampling(seed=7, logit_bias={3: -1.5}), 5, ("\n\n", "x"), 2, None, (9,)
    ),
    m.Cancel("a"),
    m.Verify("v", PROMPT, 10, 3, exact=True),
    m.Shutdown(),
    m.Loading("target", 0.5),
    m.Ready("t", "d", "gemma4", "n", 8, 1, 2, 3, 3, 64, "f16", 9, "CPU", 0.1, ("careful",)),
    m.Prefill("a", 1, 2, 0),
    m.Delta("a", (1, 2), (True, False), ("é", "\n")),
    m.Delta("a", (), (), (), "rest"),
    m.Stats("a", TALLY),
    m.Done("a", "stop", TALLY, (1, 2), 106, ""),
    m.Verified("v", 10, 0, 10, True, None, None, 9, 8, 0.0),
    m.Failed(None, "no", died=True),
]


@pytest.mark.parametrize("message", MESSAGES, ids=lambda x: type(x).__name__)
def test_round_trip(message: m.Message) -> None:
    line = m.encode(message)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert m.decode(line) == message


@pytest.mark.parametrize("line", [b"", b"{}", b"[]", b'{"type":"Nonsense"}', b"llama: hello"])
def test_foreign_line_is_an_error_not_a_crash(line: bytes) -> None:
    with pytest.raises(ValueError, match=r"not an engine message|Expecting"):
        m.decode(line)


def test_derived_figures() -> None:
    tally = m.Tally(decoded_tokens=12, decode_seconds=2.0, passes=4, drafted=16, accepted=8)
    assert tally.tokens_per_second == 6.0
    assert tally.tokens_per_pass == 3.0
    assert tally.acceptance == 0.5
    empty = m.Tally()
    assert (empty.tokens_per_second, empty.tokens_per_pass, empty.acceptance) == (0.0, None, None)
