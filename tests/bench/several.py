"""How many tokens a second several sequences make together, and whether their texts stay the same.

``python -m tests.bench.several TARGET [DRAFTER] --counts 1,2,4,8 --tokens 48 --drafts 0,auto``

One engine for all arms, loaded for the largest count; for each count as many requests as there are
sequences, greedy, each with a prompt of its own. Reading the prompts is left out of the speed.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Barrier

from gemma_local.app.terminal import table
from gemma_local.engine.client import Engine, new_id
from gemma_local.engine.messages import Delta, Done, Failed, Generate, Load, Sampling
from gemma_local.models.prompt import Text

GREEDY = Sampling(temperature=0.0)


@dataclass(frozen=True)
class Run:
    """One answer: its tokens, when each came, and when it began."""

    tokens: tuple[int, ...]
    times: tuple[float, ...]
    done: Done


def answer(engine: Engine, number: int, tokens: int, draft: int | None, ready: Barrier) -> Run:
    """One answer; all begin together."""
    prompt = (Text(f"Question {number}: what is {number} and {number}?"),)
    ready.wait()
    asked = Generate(new_id(), prompt, GREEDY, tokens, draft=draft, exact=False, ignore_end=True)
    said: list[int] = []
    times: list[float] = []
    for event in engine.generate(asked):
        match event:
            case Delta():
                said += event.tokens
                times += [time.perf_counter()] * len(event.tokens)
            case Done():
                return Run(tuple(said), tuple(times), event)
            case Failed():
                raise SystemExit(event.message)
    raise AssertionError("a request ends with Done or Failed")


def together(engine: Engine, numbers: range, tokens: int, draft: int | None) -> list[Run]:
    """The answers to these questions, at once."""
    ready = Barrier(len(numbers))
    with ThreadPoolExecutor(len(numbers)) as pool:
        return list(pool.map(lambda n: answer(engine, n, tokens, draft, ready), numbers))


def speed(runs: list[Run]) -> float:
    """Tokens a second of all together, from when the last of them begins."""
    begin = max(run.times[0] for run in runs)
    end = max(run.times[-1] for run in runs)
    made = sum(begin < when <= end for run in runs for when in run.times)
    return made / (end - begin) if end > begin else 0.0


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("drafter", nargs="?")
    parser.add_argument("--counts", default="1,2,4,8")
    parser.add_argument("--drafts", default="0,auto")
    parser.add_argument("--tokens", type=int, default=48)
    parser.add_argument("--threads", type=int, default=0)
    chosen = parser.parse_args()
    counts = [int(word) for word in chosen.counts.split(",")]
    drafts = [None if word == "auto" else int(word) for word in chosen.drafts.split(",")]
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory() as folder, Engine(Path(folder) / "log") as engine:
        context = 256 + chosen.tokens
        engine.start(
            Load(chosen.target, chosen.drafter, context, max(counts), chosen.threads, cache_bytes=0)
        )
        for draft in drafts:
            alone = [
                together(engine, range(number, number + 1), chosen.tokens, draft)[0]
                for number in range(max(counts))
            ]
            for count in counts:
                runs = alone[:1] if count == 1 else []
                runs = runs or together(engine, range(count), chosen.tokens, draft)
                tallies = [run.done.tally for run in runs]
                passes = sum(one.passes for one in tallies)
                per_pass = sum(one.decoded_tokens for one in tallies) / passes
                same = sum(run.tokens == one.tokens for run, one in zip(runs, alone, strict=False))
                name = "auto" if draft is None else str(draft)
                rows.append(
                    [
                        name,
                        str(count),
                        f"{speed(runs):.1f}",
                        f"{per_pass:.2f}",
                        f"{same} of {count}",
                    ]
                )
    print(
        table(["draft", "sequences", "tokens/s in all", "tokens per pass", "same as alone"], rows)
    )


if __name__ == "__main__":
    main()
