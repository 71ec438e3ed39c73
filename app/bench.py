"""``gemma-local bench``: how fast a pair decodes plain, at each draft length, and automatically.

All arms run in one engine, interleaved and in another order each time, because a laptop's speed
changes with its temperature. Every arm of a run decodes the same prompt for the same number of
tokens, greedily; ratios are taken within a run.
"""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Final

from gemma_local.app.bench_prompts import KINDS, bench_prompt
from gemma_local.app.bench_report import (
    AUTO,
    PLAIN,
    Arm,
    Result,
    Tallies,
    as_json,
    as_text,
    summarise,
)
from gemma_local.app.errors import UsageError
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.launch import Launch, prepare
from gemma_local.app.options import BenchOptions
from gemma_local.app.output import write_json
from gemma_local.app.prompts import prompt_writer
from gemma_local.app.requests import EXACT
from gemma_local.app.speed_record import LEAST_DECODED, remember
from gemma_local.app.terminal import progress
from gemma_local.engine.client import Engine, EngineDied, EngineFailed, new_id
from gemma_local.engine.messages import Done, Failed, Generate, Ready, Sampling, Tally
from gemma_local.engine.plan.search import USUAL_DRAFT
from gemma_local.models.gguf import read_gguf
from gemma_local.models.lazy_array import LazyArray
from gemma_local.models.message import Message
from gemma_local.models.prompt import Ids, Prompt, Text

RAW: Final = "raw"
"""The kind of prompts that are random tokens."""

_GREEDY: Final = Sampling(temperature=0.0, seed=0)
_NORMAL_TOKEN: Final = 1
"""``tokenizer.ggml.token_type`` of an ordinary token."""


def run(options: BenchOptions) -> ExitCode:
    """Measure and report. Raises GemmaLocalError."""
    if options.simulate is not None:
        from gemma_local.app import bench_simulation

        return bench_simulation.run(options)
    longest = max(options.draft)
    launch = prepare(options, longest_draft=longest, usual_draft=min(longest, USUAL_DRAFT))
    # Every prompt is to be read: nothing that made room for another may come back.
    launch = replace(launch, load=replace(launch.load, cache_bytes=0))
    prompts = _prompts(launch, options)
    with launch.running() as (engine, ready):
        arms = [Arm(PLAIN, 0)]
        if ready.draft_max:
            lengths = [length for length in options.draft if length <= ready.draft_max]
            arms += [Arm(str(length), length) for length in lengths]
        # Also without a drafter: drafts are found in the text as well.
        arms.append(Arm(AUTO, None))
        tallies = _measure(engine, arms, prompts, options)
        results = summarise(arms, list(prompts[0]), tallies)
        _remember(launch, ready, results, engine.pid)
    if options.json:
        write_json(as_json(ready, options, results))
    else:
        print(as_text(ready, results))
    return ExitCode.OK


def _remember(launch: Launch, ready: Ready, results: list[Result], pid: int | None) -> None:
    """Keep the speeds over all kinds, those of plain decoding and of the automatic draft."""
    # Those of all kinds together come last.
    speeds = {result.arm.name: result for result in results}
    plain, auto = speeds[PLAIN], speeds[AUTO]
    if plain.total.decoded_tokens >= LEAST_DECODED:
        remember(
            launch,
            ready,
            pid,
            plain=plain.speed,
            drafted=auto.speed,
            prefill=plain.prefill_speed,
        )


def _measure(
    engine: Engine, arms: list[Arm], prompts: list[dict[str, Prompt]], options: BenchOptions
) -> Tallies:
    tallies: Tallies = {}
    total = options.repeat * len(prompts[0]) * len(arms)
    for number, kinds in enumerate(prompts):
        # Another arm goes first each time, so that none always meets the warmest processor.
        turn = number * len(arms) // options.repeat
        for kind, prompt in kinds.items():
            for arm in [*arms[turn:], *arms[:turn]]:
                count = sum(map(len, tallies.values())) + 1
                progress.show(f"run {count} of {total}: {kind}, {arm.name}")
                _clear_cache(engine)
                tally = _decode(engine, prompt, arm.draft, options.tokens, EXACT[options.exact])
                tallies.setdefault((kind, arm.name), []).append(tally)
    return tallies


def _clear_cache(engine: Engine) -> None:
    """Put something else into the cache, so that the next prompt is really read."""
    _decode(engine, (Text("."),), 0, 1, False)


def _decode(
    engine: Engine, prompt: Prompt, draft: int | None, tokens: int, exact: bool | None
) -> Tally:
    asked = Generate(
        new_id(), prompt, _GREEDY, max_tokens=tokens, draft=draft, exact=exact, ignore_end=True
    )
    for event in engine.generate(asked):
        match event:
            case Failed():
                raise (EngineDied if event.died else EngineFailed)(event.message)
            case Done() if event.reason != "length":
                raise EngineFailed(
                    f"a run ended before {tokens} tokens ({event.reason}); give fewer --tokens"
                    " or a longer --ctx"
                )
            case Done():
                return event.tally
    raise AssertionError("a request ends with Done or Failed")


def _prompts(launch: Launch, options: BenchOptions) -> list[dict[str, Prompt]]:
    """For each run the prompts by kind; no two runs have one that begins alike."""
    runs = range(options.repeat)
    if options.raw_tokens:
        ordinary = _ordinary_tokens(launch)
        return [{RAW: _raw_prompt(ordinary, options.raw_tokens, number)} for number in runs]
    write = prompt_writer(launch.target).write
    kinds = options.kinds or KINDS
    return [
        {kind: write([Message("user", bench_prompt(kind, number))]).prompt for kind in kinds}
        for number in runs
    ]


def _raw_prompt(ordinary: list[int], length: int, seed: int) -> Prompt:
    return (Ids(tuple(random.Random(seed).choices(ordinary, k=length))),)


def _ordinary_tokens(launch: Launch) -> list[int]:
    types = read_gguf(launch.target.path).metadata.get("tokenizer.ggml.token_type")
    values = types.decode() if isinstance(types, LazyArray) else types
    kinds = values if isinstance(values, tuple) else ()
    found = [token for token, kind in enumerate(kinds) if kind == _NORMAL_TOKEN]
    if not found:
        raise UsageError("--raw-tokens: this model does not say which tokens are ordinary text")
    return found
