"""A target with its drafter, loaded: two models, two contexts, one KV cache."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gemma_local.engine.commands import BLOCK, LOOKUP_MAX
from gemma_local.engine.decoder import Decoder
from gemma_local.engine.drafters import Drafter, NoDrafter
from gemma_local.engine.drafters.mtp import MtpDrafter
from gemma_local.engine.exactness import (
    FREE_BLOCK,
    MOST_EXACT_ROWS,
    SHORTEST_FREE_DRAFT,
    exact_limits,
    free_limits,
)
from gemma_local.engine.memory import cache_bytes
from gemma_local.engine.messages import DRAFT_MAX, Event, Load, Loading, Ready
from gemma_local.engine.pace.knowledge import Knowledge
from gemma_local.engine.pace.pace import Pace
from gemma_local.engine.plan.settings import lookup_max
from gemma_local.engine.plan.slices import batch_tokens, short_slice_tokens, slice_tokens
from gemma_local.engine.prompt_cache import PromptCache
from gemma_local.engine.runtime import library
from gemma_local.engine.runtime.context import KV_TYPES, AbortFlag, Context, ContextOptions
from gemma_local.engine.runtime.model import Model
from gemma_local.engine.saved_states import SavedStates, file_identity
from gemma_local.engine.sequence import Limits
from gemma_local.engine.threads import ThreadGovernor, physical_cores, usable_cpus
from gemma_local.models.drafter import DrafterFacts, inspect_drafter
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.footprint import DRAFTER_ROWS
from gemma_local.models.pair import check_pair
from gemma_local.models.target import TargetFacts, inspect_target

DEFAULT_CONTEXT: Final = 8192
DEFAULT_DRAFT: Final = 3
"""Draft length to begin with where nobody chose one and nothing was learned: llama.cpp's default,
the best one on the two-core machine that this was measured on, and with the last token one block of
rows (see `exactness`)."""

Send = Callable[[Event], None]


class Pair:
    """Everything that llama.cpp holds for one pair, until ``close``."""

    def __init__(
        self, decoder: Decoder, ready: Ready, plan: Plan, abort: AbortFlag, held: ExitStack
    ) -> None:
        self.decoder = decoder
        self.ready = ready
        self.abort = abort
        self._plan = plan
        self._held = held
        # Once for all: a prompt that was read in one mode is of no use in the other.
        self._blocks_are_free = decoder.pace.has_free_rows(BLOCK, plan.options.threads, FREE_BLOCK)

    @property
    def can_go_back(self) -> bool:
        """Whether a pass can be undone; a recurrent state only goes forward."""
        return self._plan.can_go_back

    def choose(self, draft: int | None, exact: bool | None) -> tuple[int | None, Limits]:
        """The draft length and the bounds of a request that may leave both open.

        A length that is left open stays so: pace decides on it pass by pass. It may decide to
        draft nothing, and a block for a single token takes twice the time on small CPUs; so such a
        request is exact without being told to only where earlier runs found that a block takes no
        longer than a row.
        """
        if draft is None:
            draft = self._plan.draft_fixed
        if draft is not None:
            draft = min(draft, self.ready.draft_max)
        if exact is None:
            is_free = self._blocks_are_free if draft is None else draft >= SHORTEST_FREE_DRAFT
            # Beside other sequences every row of a block costs time.
            exact = is_free and self.ready.sequences == 1
        if draft is None and not self._plan.can_go_back:
            draft = 0
        return draft, self._plan.exact if exact else self._plan.free

    def prompt_cache(self) -> PromptCache:
        """What keeps prompts from being read twice. One at a time: it owns the slots."""
        plan = self._plan
        saved = None
        if plan.state_folder is not None:
            saved = SavedStates(plan.state_folder, plan.state_bytes, self._state_key())
        ring, budget = plan.exact.ring, plan.cache_bytes
        return PromptCache(self.decoder.target, ring=ring, budget=budget, saved=saved)

    def _state_key(self) -> str:
        """What a saved state must have been made with to be of use here.

        The weights, the form of the cache and the llama.cpp that wrote it; the length of the
        context may differ, and the drafter keeps nothing of its own.
        """
        model, options = self.decoder.target.model, self.decoder.target.options
        form = f"{options.kv_type} window {model.n_swa} sequences {options.sequences}"
        return f"{file_identity(model.path)} {form} llama-cpp-python {library.REQUIRED}"

    def close(self) -> None:
        """Free everything, the drafter's context before the target's that it points into."""
        self.decoder.pace.keep()
        self._held.close()

    @classmethod
    def load(cls, load: Load, send: Send) -> Pair:
        """Check the files, load them, and decode once to see that it works.

        Raises GemmaLocalError with a sentence for the person. Nothing that would abort the
        process reaches llama.cpp.
        """
        began = time.perf_counter()
        target = inspect_target(Path(load.target))
        drafter = None
        if load.drafter is not None:
            drafter = inspect_drafter(Path(load.drafter))
            check_pair(target, drafter)
        plan = _plan(load, target, has_drafter=drafter is not None)
        abort = AbortFlag()
        with ExitStack() as held:
            decoder = _open(plan, target, drafter, abort, send, held)
            plan = replace(plan, can_go_back=_warm_up(decoder))
            held = held.pop_all()
        send(Loading("context", 1.0))
        ready = Ready(
            target=load.target,
            drafter=load.drafter,
            architecture=target.architecture,
            name=target.name,
            context=plan.options.context,
            sequences=plan.options.sequences,
            threads=plan.options.threads,
            draft_max=plan.draft_max,
            exact_draft_max=min(plan.draft_max, plan.exact.rows - 1),
            ubatch=plan.options.ubatch,
            kv_type=plan.options.kv_type,
            vocabulary=decoder.target.n_vocab,
            backend=library.system_info(),
            load_seconds=time.perf_counter() - began,
            warnings=plan.caveats,
            markers=decoder.target.model.vocabulary.markers,
            tokenizer=target.token_digest,
        )
        return cls(decoder, ready, plan, abort, held)


@dataclass(frozen=True, slots=True)
class Plan:
    """How a pair is going to be loaded."""

    options: ContextOptions
    free: Limits
    exact: Limits
    draft_max: int
    draft_start: int
    draft_fixed: int | None
    gpu_layers: int
    device: int | None
    drafter_device: int | None
    caveats: tuple[str, ...]
    cache_bytes: int
    state_folder: Path | None
    state_bytes: int
    lookup_max: int
    knowledge: Knowledge | None
    can_go_back: bool = True


def _plan(load: Load, facts: TargetFacts, *, has_drafter: bool) -> Plan:
    if not 0 <= load.draft_max <= DRAFT_MAX:
        raise GemmaLocalError(f"the draft length must be between 0 and {DRAFT_MAX}")
    if not 0 <= load.lookup_max <= LOOKUP_MAX:
        raise GemmaLocalError(f"the length of found drafts must be between 0 and {LOOKUP_MAX}")
    if load.draft_fixed is not None and not 0 <= load.draft_fixed <= DRAFT_MAX:
        raise GemmaLocalError(f"the fixed draft length must be between 0 and {DRAFT_MAX}")
    if load.sequences < 1:
        raise GemmaLocalError("at least one sequence is needed")
    if load.kv_type not in KV_TYPES:
        raise GemmaLocalError(
            f"a KV cache can be of the types {', '.join(KV_TYPES)}, not {load.kv_type!r}"
        )
    threads = load.threads or physical_cores(usable_cpus())
    if threads > usable_cpus():
        raise GemmaLocalError(
            f"{threads} threads were asked for and this process may use {usable_cpus()} CPUs; "
            "more threads than CPUs make every token slower"
        )
    context = load.context or min(DEFAULT_CONTEXT, facts.context_length)
    if context < 16:
        raise GemmaLocalError("a context of fewer than 16 tokens is of no use; choose a larger one")
    on_gpu = library.can_offload() and load.gpu_layers != 0
    longest = load.draft_max if has_drafter else 0
    looked_up = lookup_max(load.lookup_max, longest, load.sequences)
    rows = max(longest, looked_up) + 1
    read_at_once = slice_tokens(facts.active_parameters, threads, on_gpu=on_gpu)
    ubatch = batch_tokens(read_at_once, load.sequences, max(rows, MOST_EXACT_ROWS))
    short = short_slice_tokens(facts.active_parameters, threads, on_gpu=on_gpu)
    free = free_limits(
        rows=load.sequences * rows,
        ubatch=ubatch,
        slice_tokens=read_at_once,
        short_slice=min(short, read_at_once),
    )
    exact = exact_limits(
        draft_max=rows - 1,
        window=facts.sliding_window,
        context=context,
        ubatch=ubatch,
        matrix_types=facts.matrix_types,
        short_slice=min(short, read_at_once) if load.sequences > 1 else 0,
    )
    options = ContextOptions(
        context=context,
        sequences=load.sequences,
        ubatch=ubatch,
        rows=max(free.rows, load.sequences * exact.rows),
        threads=threads,
        kv_type=load.kv_type,
    )
    caveats = ("exact mode was measured on CPUs; verify tells whether it holds on this GPU",)
    return Plan(
        options,
        free,
        exact,
        longest,
        DEFAULT_DRAFT if load.draft_start is None else load.draft_start,
        load.draft_fixed,
        load.gpu_layers,
        load.device,
        load.drafter_device,
        caveats if on_gpu else (),
        cache_bytes=cache_bytes(facts) if load.cache_bytes is None else load.cache_bytes,
        state_folder=Path(load.state_folder) if load.state_folder else None,
        state_bytes=load.state_bytes,
        lookup_max=looked_up,
        knowledge=_knowledge(load, options),
    )


def _knowledge(load: Load, options: ContextOptions) -> Knowledge | None:
    """What earlier runs learned about drafting with this pair, loaded in this way."""
    if load.pace_file is None:
        return None
    files = [file_identity(Path(path)) for path in (load.target, load.drafter) if path is not None]
    way = (options.kv_type, options.threads, load.gpu_layers, load.device, load.drafter_device)
    build = f"llama-cpp-python {library.REQUIRED} {library.system_info()}"
    return Knowledge(Path(load.pace_file), f"{files} {way} {build}")


def _open(
    plan: Plan,
    target: TargetFacts,
    drafter: DrafterFacts | None,
    abort: AbortFlag,
    send: Send,
    held: ExitStack,
) -> Decoder:
    """Load models and make contexts; ``held`` gets each as soon as it must be freed."""
    contexts: list[Context] = []

    def open_model(path: Path, stage: str, device: int | None) -> Model:
        model = Model(
            path,
            gpu_layers=plan.gpu_layers,
            device=device,
            progress=lambda fraction: send(Loading(stage, fraction)),
        )
        held.callback(model.close)
        return model

    def open_context(model: Model, options: ContextOptions, other: Context | None) -> Context:
        context = Context(model, options, other)
        held.callback(context.close)
        abort.attach(context.pointer)
        contexts.append(context)
        return context

    def apply_threads(count: int) -> None:
        for context in contexts:
            context.set_threads(count)

    target_context = open_context(
        open_model(target.path, "target", plan.device), plan.options, None
    )
    source: Drafter = NoDrafter()
    if drafter is not None:
        # One row per sequence and drafted position.
        rows = plan.options.sequences
        options = replace(plan.options, ubatch=max(rows, DRAFTER_ROWS), rows=rows)
        context = open_context(
            open_model(drafter.path, "drafter", plan.drafter_device), options, target_context
        )
        target_context.enable_nextn(masked=False)
        context.enable_nextn(masked=True)
        source = MtpDrafter(context)
    return Decoder(
        target_context,
        source,
        wants_activations=drafter is not None,
        governor=ThreadGovernor(plan.options.threads, apply_threads),
        pace=Pace(
            draft_max=plan.draft_max,
            lookup_max=plan.lookup_max,
            most_rows=plan.options.rows,
            start=plan.draft_start,
            knowledge=plan.knowledge,
        ),
    )


def _warm_up(decoder: Decoder) -> bool:
    """Decode one token, and another one; True if it can be forgotten again, as drafts must be.

    That reads the weights into memory, so that the first answer is not the one that waits for the
    disk, and fails now if it must fail.
    """
    target = decoder.target
    token = max(target.model.vocabulary.bos, 0)
    target.decode([token], [0], [0], [1])
    target.decode([token], [1], [0], [1])
    can_go_back = target.truncate(0, 1)
    target.truncate(0, 0)
    return can_go_back
