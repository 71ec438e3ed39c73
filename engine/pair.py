"""A target with its drafter, loaded: two models, two contexts, one KV cache."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from gemma_local.engine import exactness
from gemma_local.engine.decoder import Decoder
from gemma_local.engine.drafters import Drafter, NoDrafter
from gemma_local.engine.drafters.mtp import MtpDrafter
from gemma_local.engine.messages import DRAFT_MAX, Event, Load, Loading, Ready
from gemma_local.engine.runtime import library
from gemma_local.engine.runtime.context import AbortFlag, Context, ContextOptions
from gemma_local.engine.runtime.model import Model
from gemma_local.engine.threads import ThreadGovernor, physical_cores, usable_cpus
from gemma_local.models.drafter import DrafterFacts, inspect_drafter
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.pair import check_pair
from gemma_local.models.target import TargetFacts, inspect_target

DEFAULT_CONTEXT: Final = 8192
DEFAULT_DRAFT: Final = 3
"""Draft length where nobody chose one: llama.cpp's default, and the best on two of our CPUs."""

Send = Callable[[Event], None]


class Pair:
    """Everything that llama.cpp holds for one pair; ``close`` frees it in the right order."""

    def __init__(
        self,
        decoder: Decoder,
        ready: Ready,
        abort: AbortFlag,
        contexts: list[Context],
        models: list[Model],
    ) -> None:
        self.decoder = decoder
        self.ready = ready
        self.abort = abort
        self._contexts = contexts
        self._models = models

    @property
    def default_draft(self) -> int:
        return min(DEFAULT_DRAFT, self.ready.draft_max)

    def close(self) -> None:
        """The drafter's context first: it holds a pointer into the target's."""
        for context in reversed(self._contexts):
            context.close()
        for model in reversed(self._models):
            model.close()

    @classmethod
    def load(cls, load: Load, send: Send) -> Pair:
        """Check the files, load them, and decode once to see that it works.

        Raises GemmaLocalError with a sentence for the person. Nothing that would abort the
        process reaches llama.cpp.
        """
        began = time.perf_counter()
        target_facts = inspect_target(Path(load.target))
        drafter_facts = None
        if load.drafter is not None:
            drafter_facts = inspect_drafter(Path(load.drafter))
            check_pair(target_facts, drafter_facts)
        plan = _plan(load, target_facts, has_drafter=drafter_facts is not None)
        models: list[Model] = []
        contexts: list[Context] = []
        try:
            decoder, abort = _open(load, plan, target_facts, drafter_facts, send, models, contexts)
            _warm_up(decoder)
        except BaseException:
            for context in reversed(contexts):
                context.close()
            for model in reversed(models):
                model.close()
            raise
        send(Loading("context", 1.0))
        options, settings, threads = plan
        ready = Ready(
            target=load.target,
            drafter=load.drafter,
            architecture=target_facts.architecture,
            name=target_facts.name,
            context=options.context,
            sequences=options.sequences,
            threads=threads,
            draft_max=_longest_draft(load, settings) if drafter_facts is not None else 0,
            exact=load.exact,
            ubatch=options.ubatch,
            kv_type=settings.kv_type,
            vocabulary=decoder.target.n_vocab,
            backend=library.system_info(),
            load_seconds=time.perf_counter() - began,
            warnings=settings.caveats,
        )
        return cls(decoder, ready, abort, contexts, models)


Plan = tuple[ContextOptions, exactness.Settings, int]


def _longest_draft(load: Load, settings: exactness.Settings) -> int:
    return min(load.draft_max, settings.limits.rows - 1)


def _plan(load: Load, facts: TargetFacts, *, has_drafter: bool) -> Plan:
    if not 0 <= load.draft_max <= DRAFT_MAX:
        raise GemmaLocalError(f"the draft length must be between 0 and {DRAFT_MAX}")
    if load.sequences < 1:
        raise GemmaLocalError("at least one sequence is needed")
    threads = load.threads or physical_cores(usable_cpus())
    if threads > usable_cpus():
        raise GemmaLocalError(
            f"{threads} threads were asked for and this process may use {usable_cpus()} CPUs; "
            "more threads than CPUs make every token slower"
        )
    on_gpu = library.can_offload() and load.gpu_layers != 0
    trained = facts.context_length or DEFAULT_CONTEXT
    context = load.context or min(DEFAULT_CONTEXT, trained)
    if context < 16:
        raise GemmaLocalError("a context of fewer than 16 tokens is of no use; choose a larger one")
    ubatch = slice_tokens(facts, threads, on_gpu=on_gpu)
    longest = load.draft_max if has_drafter else 0
    settings = exactness.settings(
        exact=load.exact,
        rows=load.sequences * (longest + 1),
        window=facts.sliding_window,
        context=context,
        ubatch=ubatch,
        on_gpu=on_gpu,
        floats=facts.float_matrix,
    )
    options = ContextOptions(
        context=context,
        sequences=load.sequences,
        ubatch=ubatch,
        rows=settings.limits.rows,
        threads=threads,
        kv_type=settings.kv_type,
        flash_attention=settings.flash_attention,
    )
    return options, settings, threads


def slice_tokens(facts: TargetFacts, threads: int, *, on_gpu: bool) -> int:
    """Tokens of one prefill slice: 512, fewer where that would take longer than about a second.

    Chosen once from the model's size and not from the clock, so that the same prompt is always
    cut the same way. 20 GFLOP/s a thread is what quantised matrices reach on current laptops.
    """
    if on_gpu:
        return 512
    flops_per_token = 2.0 * facts.active_parameters
    affordable = threads * 20e9 / flops_per_token
    return next((n for n in (512, 256, 128) if n <= affordable), 64)


def _open(
    load: Load,
    plan: Plan,
    target_facts: TargetFacts,
    drafter_facts: DrafterFacts | None,
    send: Send,
    models: list[Model],
    contexts: list[Context],
) -> tuple[Decoder, AbortFlag]:
    """Load models and make contexts, appending each to the lists as soon as it must be freed."""
    options, settings, threads = plan

    def open_model(path: Path, stage: str) -> Model:
        model = Model(
            path,
            gpu_layers=load.gpu_layers,
            repack=settings.repack,
            progress=lambda fraction: send(Loading(stage, fraction)),
        )
        models.append(model)
        return model

    def open_context(model: Model, options: ContextOptions, other: Context | None) -> Context:
        context = Context(model, options, other)
        contexts.append(context)
        abort.attach(context.pointer)
        return context

    abort = AbortFlag()
    target = open_context(open_model(target_facts.path, "target"), options, None)
    drafter: Drafter = NoDrafter()
    if drafter_facts is not None:
        model = open_model(drafter_facts.path, "drafter")
        rows = options.sequences
        small = ContextOptions(
            options.context, rows, max(rows, 8), rows, threads, options.kv_type,
            options.flash_attention,
        )  # fmt: skip
        context = open_context(model, small, target)
        target.enable_nextn(masked=False)
        context.enable_nextn(masked=True)
        drafter = MtpDrafter(context)

    def apply_threads(count: int) -> None:
        for context in contexts:
            context.set_threads(count)

    decoder = Decoder(
        target,
        drafter,
        settings.limits,
        wants_activations=drafter_facts is not None,
        governor=ThreadGovernor(threads, apply_threads),
    )
    return decoder, abort


def _warm_up(decoder: Decoder) -> None:
    """Decode one token: reads the weights into memory, so that the first answer is not the one
    that waits for the disk, and fails now if it must fail."""
    target = decoder.target
    token = max(target.model.vocabulary.bos, 0)
    target.decode([token], [0], [0], [1])
    target.truncate(0, 0)
