"""What crosses the process boundary: commands to the engine, events from it.

Plain frozen dataclasses, written as one JSON object a line (``{"type": "Delta", ...}``), so that a
stream can be read with a pager and a crash of one side cannot corrupt the other's memory. This
module must stay light: the client imports it, and the client must start without llama.cpp or numpy.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from gemma_local.models.prompt import Control, Ids, Markup, Piece, Prompt, Text

DRAFT_MAX: Final = 16
"""Longest draft that any part of the engine will ever make, in tokens."""


# ------------------------------------------------------------------------------------- commands


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next token is chosen. The defaults are Gemma 4's own (its model card).

    ``temperature`` 0 is greedy. ``top_k`` 0, ``top_p`` 1 and ``min_p`` 0 switch that filter off.
    Penalties look at the last ``penalty_window`` tokens. ``seed`` None draws a fresh seed.
    ``lenience`` 0 is exact; above 0 a drafted token is also accepted when its probability is at
    least (1 - lenience) times the best one's: faster, and no longer the target's own text.
    """

    temperature: float = 1.0
    top_k: int = 64
    top_p: float = 0.95
    min_p: float = 0.0
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    penalty_window: int = 64
    seed: int | None = None
    logit_bias: dict[int, float] = field(default_factory=dict)
    lenience: float = 0.0


@dataclass(frozen=True, slots=True)
class Load:
    """Which pair to load and how. ``context`` is tokens per sequence, 0 = the engine's choice.

    ``draft_max`` bounds every later request's draft length (buffers are sized by it).
    ``threads`` 0 means: as many as this process may use. ``gpu_layers`` -1 offloads everything
    that this build of llama.cpp can offload.
    """

    target: str
    drafter: str | None = None
    context: int = 0
    sequences: int = 1
    threads: int = 0
    draft_max: int = 8
    gpu_layers: int = -1


@dataclass(frozen=True, slots=True)
class Generate:
    """One request. ``draft`` is the draft length, 0 = plain decoding, None = the engine's choice.

    ``exact`` True decodes in passes of one shape, so that the draft length cannot change a bit of
    the logits (see ``engine.exactness``); None does so where that costs no speed.
    ``max_tokens`` 0 means: until the model stops or the context is full. ``produced`` are tokens
    of an earlier, interrupted attempt at the same request: they count as emitted, are not emitted
    again, and generation goes on after them exactly as it would have.
    """

    id: str
    prompt: Prompt
    sampling: Sampling = field(default_factory=Sampling)
    max_tokens: int = 0
    stop: tuple[str, ...] = ()
    draft: int | None = None
    exact: bool | None = None
    produced: tuple[int, ...] = ()
    ignore_end: bool = False


@dataclass(frozen=True, slots=True)
class Cancel:
    """Stop a request; what it produced stays usable."""

    id: str


@dataclass(frozen=True, slots=True)
class Verify:
    """Decode a prompt plain and with drafting, and compare the logits bit by bit."""

    id: str
    prompt: Prompt
    tokens: int
    draft: int
    exact: bool


@dataclass(frozen=True, slots=True)
class Shutdown:
    """Free everything and end the process."""


Command: TypeAlias = Load | Generate | Cancel | Verify | Shutdown


# --------------------------------------------------------------------------------------- events


@dataclass(frozen=True, slots=True)
class Loading:
    """Progress of loading. ``stage`` is "target", "drafter" or "context"; ``fraction`` 0 to 1."""

    stage: str
    fraction: float


@dataclass(frozen=True, slots=True)
class Ready:
    """The pair is loaded; these are the facts about it.

    ``context`` is tokens per sequence. ``draft_max`` is the longest draft that will be made here,
    0 without a drafter, ``exact_draft_max`` the longest one in exact mode.
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


@dataclass(frozen=True, slots=True)
class Prefill:
    """Progress of reading the prompt: tokens done of total, of which reused were in the cache."""

    id: str
    done: int
    total: int
    reused: int


@dataclass(frozen=True, slots=True)
class Delta:
    """New output. ``tokens[i]`` was proposed by the drafter if ``drafted[i]``.

    ``text`` is what became printable; with a multi-byte character or a stop string still open it
    lags behind the tokens.
    """

    id: str
    text: str
    tokens: tuple[int, ...]
    drafted: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Tally:
    """What a request cost and yielded. Seconds are wall time.

    ``passes`` counts decode calls of the target after the prefill, per sequence.
    ``accepted_by_position[i]`` and ``drafted_by_position[i]`` count the i-th token of all drafts.
    ``llama_seconds`` is the part of ``decode_seconds`` spent inside llama.cpp.
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
class Stats:
    """The tally so far, a few times a second while decoding."""

    id: str
    tally: Tally


@dataclass(frozen=True, slots=True)
class Done:
    """The end of a request.

    ``reason``: "stop" (the model ended its turn), "stop_string", "length" (max_tokens),
    "context" (no room left), "cancelled", "loop" (the same tokens over and over), "nan" (the
    logits stopped being numbers). ``tokens`` are all emitted ids, ``end_token`` the token that
    ended the turn, if one did. ``exact``: it ran in exact mode; that this machine keeps what the
    mode promises is for ``gemma-local verify`` to show.
    """

    id: str
    reason: str
    tally: Tally
    tokens: tuple[int, ...]
    end_token: int | None = None
    detail: str = ""
    exact: bool = False


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


Event: TypeAlias = Loading | Ready | Prefill | Delta | Stats | Done | Verified | Failed

Message: TypeAlias = Command | Event

_TYPES: Final[dict[str, type[Any]]] = {
    cls.__name__: cls
    for cls in (
        *(Load, Generate, Cancel, Verify, Shutdown, Sampling),
        *(Loading, Ready, Prefill, Delta, Stats, Done, Verified, Failed, Tally),
        *(Control, Text, Markup, Ids),
    )
}


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        fields = {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return {"type": type(value).__name__, **fields}
    if isinstance(value, tuple | list):
        # Long runs of ids are all scalars: no need to look at each.
        scalars = not value or isinstance(value[0], int | float | str)
        return list(value) if scalars else [_plain(item) for item in value]
    if isinstance(value, dict):
        return {"type": "dict", "items": [[key, _plain(item)] for key, item in value.items()]}
    return value


def _typed(value: Any) -> Any:
    if isinstance(value, list):
        nested = bool(value) and isinstance(value[0], dict | list)
        return tuple(_typed(item) for item in value) if nested else tuple(value)
    if isinstance(value, dict):
        kind = value.pop("type")
        if kind == "dict":
            return {key: _typed(item) for key, item in value["items"]}
        return _TYPES[kind](**{key: _typed(item) for key, item in value.items()})
    return value


def encode(message: Message) -> bytes:
    """One line of JSON, ending in a newline. Non-ASCII and lone surrogates are escaped."""
    return json.dumps(_plain(message), separators=(",", ":")).encode("ascii") + b"\n"


def decode(line: bytes) -> Message:
    """The message of one line.

    Raises ValueError for anything that ``encode`` did not write.
    """
    try:
        plain = json.loads(line)
        message = _typed(plain) if isinstance(plain, dict) else None
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not an engine message: {line[:80]!r}") from error
    if not isinstance(message, Message):
        raise ValueError(f"not an engine message: {line[:80]!r}")
    return message


__all__ = [
    "DRAFT_MAX",
    "Cancel",
    "Command",
    "Delta",
    "Done",
    "Event",
    "Failed",
    "Generate",
    "Load",
    "Loading",
    "Message",
    "Piece",
    "Prefill",
    "Prompt",
    "Ready",
    "Sampling",
    "Shutdown",
    "Stats",
    "Tally",
    "Verified",
    "Verify",
    "decode",
    "encode",
]
