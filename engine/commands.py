"""What the engine can be told to do.

Plain frozen dataclasses, written by ``engine.messages``. This module must stay light: the client
imports it, and the client must start without llama.cpp or numpy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

from gemma_local.models.prompt import Prompt

DRAFT_MAX: Final = 16
"""Longest draft of a drafter, in tokens."""
LOOKUP_MAX: Final = 63
"""Longest draft from the text itself. With the last token that is 64 rows, from which on llama.cpp
computes attention on CPUs in tiles (``GGML_FA_TILE_Q``): with 2,300 tokens in the cache a row takes
23 ms with E2B on two cores, and 29 ms where 16 rows share a pass. Logits of so many rows need a
hundred MiB with Gemma 4's vocabulary, so it is for where memory is left (`engine.plan.search`)."""
USUAL_LOOKUP: Final = 15
"""The same where nobody has looked how much there is: four blocks of rows (`engine.exactness`)."""
BLOCK: Final = 4
"""Rows of a block in exact mode: what llama.cpp's matrix kernels for repacked weights take at a
time."""
MIB: Final = 1 << 20


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

    ``draft_max`` bounds every later request's draft length (buffers are sized by it), and
    ``lookup_max`` drafts that are found in the text itself, where a request leaves the length to
    the engine; 0: none are. ``draft_start`` is the length that such requests begin with as long as
    nothing was learned here, None for the engine's choice; with ``draft_fixed`` they draft that
    many, whether it pays or not, and look nothing up. What is learned about drafting here is kept
    in ``pace_file``; without one it is not.

    ``threads`` 0 means: one for each physical core that this process may use. ``gpu_layers`` -1
    offloads everything that this build of llama.cpp can offload. ``device`` is the number of the
    only GPU to use, as llama.cpp counts those that it offloads to, None: all of them;
    ``drafter_device`` is the drafter's. ``kv_type`` is "f16", "bf16" or "q8_0".

    ``cache_bytes`` is memory for checkpoints and for conversations that had to make room for
    another, None for the engine's choice; ``state_bytes`` is the room that states on disk may take
    in ``state_folder``; without a folder nothing is written.
    """

    target: str
    drafter: str | None = None
    context: int = 0
    sequences: int = 1
    threads: int = 0
    draft_max: int = 8
    gpu_layers: int = -1
    cache_bytes: int | None = None
    state_folder: str | None = None
    state_bytes: int = 2048 * MIB
    kv_type: str = "f16"
    draft_start: int | None = None
    draft_fixed: int | None = None
    lookup_max: int = USUAL_LOOKUP
    pace_file: str | None = None
    device: int | None = None
    drafter_device: int | None = None


@dataclass(frozen=True, slots=True)
class Generate:
    """One request. ``draft`` is the draft length, 0 = plain decoding, None = the engine's choice.

    ``exact`` True decodes in passes of one shape, so that the draft length cannot change a bit of
    the logits (see ``engine.exactness``); None does so where that costs no speed.
    ``max_tokens`` 0 means: until the model stops or the context is full. ``produced`` are tokens
    of an earlier, interrupted attempt at the same request: they count as emitted, are not emitted
    again, and generation goes on after them exactly as it would have.

    ``session`` names the conversation, for its state on disk. A thought is closed, and the answer
    begins, when it has ``thought_tokens`` tokens (None: no limit of its own) or when what is left
    of ``max_tokens`` or the context is needed for the answer; ``opens_thought``: the prompt ends
    inside one. ``grammar`` is GBNF with the root rule ``root`` that the output must follow. Of the
    requests that wait, and of the prompts that are to be read, those with a higher ``priority``
    come first.
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
    session: str = ""
    thought_tokens: int | None = None
    opens_thought: bool = False
    grammar: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True)
class Read:
    """Read a prompt into the cache and answer nothing, so that a later one that begins with it
    need not wait.

    It runs when nothing else does, ends at once when a ``Generate`` arrives (what was read by
    then counts), and is answered with ``Prefill`` and ``Done``, whose reason is "read" or
    "cancelled". ``exact`` and ``draft`` are those of the request that it is read for: they decide
    on the mode.
    """

    id: str
    prompt: Prompt
    session: str = ""
    exact: bool | None = None
    draft: int | None = None


@dataclass(frozen=True, slots=True)
class Save:
    """Write the caches of named sessions to the state folder; answered with ``Saved``."""

    id: str


@dataclass(frozen=True, slots=True)
class Count:
    """Count the tokens of each prompt; answered with ``Counted``.

    Pieces are tokenised apart, so the parts of a prompt add up to the whole. No BOS is added.
    """

    id: str
    prompts: tuple[Prompt, ...]


@dataclass(frozen=True, slots=True)
class ListDevices:
    """Say what llama.cpp can compute on, in a `Listed`, and make ready to load a pair."""

    id: str


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


Command: TypeAlias = (
    Load | Generate | Read | Save | Count | ListDevices | Cancel | Verify | Shutdown
)
