"""What the engine tells about its work.

Plain frozen dataclasses, written by ``engine.messages``. This module must stay light, as
``engine.commands`` must.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Loading:
    """Progress of loading. ``stage`` is "target", "drafter" or "context"; ``fraction`` 0 to 1."""

    stage: str
    fraction: float


@dataclass(frozen=True, slots=True)
class Ready:
    """The pair is loaded; these are the facts about it.

    ``context`` is tokens per sequence. ``draft_max`` is the longest draft that will be made here,
    0 without a drafter, ``exact_draft_max`` the longest one in exact mode. ``markers`` are the
    vocabulary's control tokens of Gemma 4's chat format with their ids, ``tokenizer`` stands for
    the vocabulary: token ids only mean something where it is the same.
    """

    target: str
    drafter: str | None
    architecture: str
    name: str
    context: int
    sequences: int
    threads: int
    draft_max: int
    exact_draft_max: int
    ubatch: int
    kv_type: str
    vocabulary: int
    backend: str
    load_seconds: float
    warnings: tuple[str, ...] = ()
    markers: dict[str, int] = field(default_factory=dict)
    tokenizer: str = ""


@dataclass(frozen=True, slots=True)
class Prefill:
    """Progress of reading the prompt: tokens done of total, of which reused were in the cache."""

    id: str
    done: int
    total: int
    reused: int


@dataclass(frozen=True, slots=True)
class Delta:
    """New output. ``tokens[i]`` was drafted if ``drafted[i]``, by the drafter or
    from the text itself.

    ``pieces[i]`` is what became printable with ``tokens[i]``; with a multi-byte character or a
    stop string still open it lags behind, and ``rest`` is what was still open at the end. The
    control tokens that the model writes (``<|channel>``, ``<|tool_call>``, ...) have their own
    text as their piece, and nothing lags across them.
    """

    id: str
    tokens: tuple[int, ...]
    drafted: tuple[bool, ...]
    pieces: tuple[str, ...]
    rest: str = ""

    @property
    def text(self) -> str:
        """All that became printable."""
        return "".join(self.pieces) + self.rest


@dataclass(frozen=True, slots=True)
class SourceTally:
    """What the drafts of one source came to. ``name`` is "mtp" or "lookup".

    ``drafts`` of at least one token were verified. ``seconds`` is what making them took.
    """

    name: str
    drafts: int = 0
    drafted: int = 0
    accepted: int = 0
    drafted_by_position: tuple[int, ...] = ()
    accepted_by_position: tuple[int, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class PaceTally:
    """How far drafts went when their length was left to the engine, and why.

    ``lengths[n]`` counts passes that verified a draft of n tokens; ``parked`` those without a
    draft because none would have paid, ``parked_now`` says so of the last one, and ``reason`` in
    half a sentence why. ``plain_speed`` is what decoding without drafts would have yielded in the
    same company: beside as many other sequences, and waiting for them as long; tokens/s of this
    one, None while that is not known. ``calibration`` has rows of (mean probability that the
    drafter stated, share accepted, tokens). ``seconds`` were spent deciding.
    """

    lengths: tuple[int, ...] = ()
    parked: int = 0
    parked_now: bool = False
    reason: str = ""
    plain_speed: float | None = None
    calibration: tuple[tuple[float, float, int], ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Tally:
    """What a request cost and yielded. Seconds are wall time.

    ``passes`` counts decode calls of the target after the prefill, per sequence.
    ``accepted_by_position[i]`` and ``drafted_by_position[i]`` count the i-th token of all drafts.
    ``llama_seconds`` is the part of ``decode_seconds`` spent inside llama.cpp. ``sources`` splits
    the drafts by where they came from; ``pace`` is None for requests with a draft length of their
    own.
    """

    prompt_tokens: int = 0
    reused_tokens: int = 0
    prefilled_tokens: int = 0
    emitted_tokens: int = 0
    prefill_seconds: float = 0.0
    decode_seconds: float = 0.0
    draft_seconds: float = 0.0
    verify_seconds: float = 0.0
    llama_seconds: float = 0.0
    passes: int = 0
    decoded_tokens: int = 0
    drafted: int = 0
    accepted: int = 0
    drafted_by_position: tuple[int, ...] = ()
    accepted_by_position: tuple[int, ...] = ()
    sources: tuple[SourceTally, ...] = ()
    pace: PaceTally | None = None

    @property
    def tokens_per_second(self) -> float:
        """Decode speed: tokens that came out of decode passes over the time those took.

        The first token is free: it comes out of the prefill's last row.
        """
        return self.decoded_tokens / self.decode_seconds if self.decode_seconds > 0 else 0.0

    @property
    def acceptance(self) -> float | None:
        """accepted / drafted, None when nothing was drafted."""
        return self.accepted / self.drafted if self.drafted else None

    @property
    def tokens_per_pass(self) -> float | None:
        """Tokens that one pass of the target yields on average, None before the first pass."""
        return self.decoded_tokens / self.passes if self.passes else None


@dataclass(frozen=True, slots=True)
class CacheUse:
    """What is kept so that nothing has to be read twice.

    ``tokens`` in the KV cache itself; ``checkpoints`` of sliding windows and ``parked``
    conversations in ordinary memory; ``saved`` conversations in the state folder.
    """

    tokens: int = 0
    checkpoints: int = 0
    checkpoint_bytes: int = 0
    parked: int = 0
    parked_bytes: int = 0
    saved: int = 0
    saved_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Stats:
    """The tally so far, a few times a second while decoding."""

    id: str
    tally: Tally


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a request.

    ``reason``: "stop" (the model ended its turn), "stop_string", "length" (max_tokens),
    "context" (no room left), "cancelled", "loop" (the same tokens over and over), "nan" (the
    logits stopped being numbers), "read" (that was all that was asked for). ``tokens`` are all
    emitted ids, ``end_token`` the token that ended the turn, if one did. ``exact``: it ran in
    exact mode; that this machine keeps what the mode promises is for ``gemma-local verify`` to
    show.
    """

    id: str
    reason: str
    tally: Tally
    tokens: tuple[int, ...]
    end_token: int | None = None
    detail: str = ""
    exact: bool = False
    cache: CacheUse = field(default_factory=CacheUse)


@dataclass(frozen=True, slots=True)
class Saved:
    """Result of ``Save``: files and bytes written, and what is kept now."""

    id: str
    files: int
    bytes: int
    cache: CacheUse


@dataclass(frozen=True, slots=True)
class Counted:
    """Result of ``Count``: tokens of each prompt."""

    id: str
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """Result of ``ListDevices``: a `DeviceList` as it encodes itself."""

    id: str
    devices: str


@dataclass(frozen=True, slots=True)
class Verified:
    """Result of ``Verify``: rows compared, rows whose logits differ in any bit, and the texts.

    ``first_difference`` is the index of the first token that differs between plain and drafted
    decoding, None when all are equal; ``margin`` is then the logit distance between the two
    candidates there in plain decoding, in logits.
    """

    id: str
    rows: int
    differing_rows: int
    tokens: int
    equal_text: bool
    first_difference: int | None
    margin: float | None
    drafted: int
    accepted: int
    largest_difference: float


@dataclass(frozen=True, slots=True)
class Failed:
    """Something went wrong; ``id`` None means with the engine as a whole.

    ``died``: its process ended.
    """

    id: str | None
    message: str
    died: bool = False


Event: TypeAlias = (
    Loading | Ready | Prefill | Delta | Stats | Done | Saved | Counted | Listed | Verified | Failed
)
