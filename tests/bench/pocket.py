"""How good the pocket pair is, through the program's own engine: ``python -m tests.bench.pocket``.

Prints, for each held-out set, how many answers are right, and with drafts of three the acceptance,
the tokens per pass, and how many texts equal those of plain decoding; greedy, and seeded at
temperature 1.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gemma_local.engine.client import Engine, new_id
from gemma_local.engine.events import Done, Tally
from gemma_local.engine.messages import Generate, Load, Sampling
from gemma_local.models.chat_format import render
from gemma_local.models.pocket import pair
from gemma_local.models.pocket.train.corpus.sample import Sample
from gemma_local.models.pocket.train.held_out import SIZES, held_out
from gemma_local.models.pocket.train.judge import judged, read_reply
from gemma_local.models.pocket.train.tokenizer import Tokenizer

GREEDY: Final = Sampling(temperature=0.0, seed=1)
FREE: Final = Sampling(temperature=1.0, seed=11)


@dataclass(slots=True)
class Score:
    """Counts over a set. ``drafted`` and so on are of drafted decoding."""

    asked: int = 0
    right: int = 0
    equal: int = 0
    drafted: int = 0
    accepted: int = 0
    decoded: int = 0
    passes: int = 0

    def count(self, tally: Tally) -> None:
        self.drafted += tally.drafted
        self.accepted += tally.accepted
        self.decoded += tally.decoded_tokens
        self.passes += tally.passes

    @property
    def acceptance(self) -> float:
        return self.accepted / max(1, self.drafted)

    @property
    def tokens_per_pass(self) -> float:
        return self.decoded / max(1, self.passes)


def answer(
    engine: Engine,
    sample: Sample,
    sampling: Sampling,
    *,
    draft: int,
    exact: bool | None = True,
    max_tokens: int = 256,
) -> Done:
    """The engine's answer to a sample's last message."""
    rendering = render(sample.asked, tools=sample.tools, thinking=sample.thinking)
    request = Generate(
        new_id(),
        rendering.prompt,
        sampling,
        max_tokens=max_tokens,
        draft=draft,
        exact=exact,
        opens_thought=rendering.opening == "thought",
    )
    *_, last = engine.generate(request)
    if not isinstance(last, Done):
        raise RuntimeError(str(last))
    return last


def both(engine: Engine, sample: Sample, sampling: Sampling, *, draft: int) -> tuple[Done, Done]:
    """The answer without drafts and with.

    The prompt is read before, so that both begin with the same cache. Else the one would read all
    of it and the other only its last token: rows that are computed in another company differ in
    their last bits, with drafts and without.
    """
    answer(engine, sample, sampling, draft=0, max_tokens=1)
    plain = answer(engine, sample, sampling, draft=0)
    return plain, answer(engine, sample, sampling, draft=draft)


def score(
    engine: Engine,
    tokenizer: Tokenizer,
    samples: Sequence[Sample],
    sampling: Sampling,
    *,
    draft: int,
    wrong: int = 0,
) -> Score:
    """Both ways of decoding over a set; shows some of the wrong answers."""
    found = Score()
    for sample in samples:
        rendering = render(sample.asked, tools=sample.tools, thinking=sample.thinking)
        if draft:
            plain, drafted = both(engine, sample, sampling, draft=draft)
            found.count(drafted.tally)
            found.equal += drafted.tokens == plain.tokens
        else:
            plain = answer(engine, sample, sampling, draft=0)
        found.asked += 1
        reply = read_reply(sample, plain.tokens, tokenizer, rendering.opening)
        verdict = judged(sample, reply)
        found.right += verdict.right
        if not verdict.right and wrong > 0:
            wrong -= 1
            print(f"  - {sample.asked[-1].text!r}\n    {tokenizer.text(plain.tokens)!r}")
            print(f"    {verdict.why}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", type=Path)
    parser.add_argument("--drafter", type=Path)
    parser.add_argument("--draft", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=list(SIZES))
    parser.add_argument("--count", type=int)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--wrong", type=int, default=0)
    parser.add_argument("--only", choices=("greedy", "free"))
    parser.add_argument("--json", type=Path, help="where the figures go as well")
    given = parser.parse_args()
    own = pair()
    target = given.target or (own and own[0])
    drafter = given.drafter or (None if given.target else own and own[1])
    if target is None:
        parser.error("this build carries no pocket pair; give --target")
    draft = given.draft if drafter else 0
    tokenizer = Tokenizer.of_file(target)
    figures: dict[str, dict[str, object]] = {}
    with tempfile.TemporaryDirectory() as folder, Engine(Path(folder) / "log") as engine:
        load = Load(
            str(target),
            str(drafter) if drafter else None,
            context=2048,
            threads=given.threads,
            draft_max=max(draft, 1),
        )
        engine.start(load)
        print("| set | sampling | right | acceptance | tokens per pass | equal to plain |")
        print("|---|---|---|---|---|---|")
        for way, sampling in (("greedy", GREEDY), ("free", FREE)):
            if given.only not in (None, way):
                continue
            total = Score()
            for name in given.sets:
                samples = held_out(name, given.count)
                part = score(engine, tokenizer, samples, sampling, draft=draft, wrong=given.wrong)
                _show(name, way, part)
                figures[f"{name} {way}"] = {
                    "right": part.right,
                    "asked": part.asked,
                    "acceptance": round(part.acceptance, 3),
                    "tokens_per_pass": round(part.tokens_per_pass, 2),
                    "equal": part.equal,
                }
                for field in (
                    "asked",
                    "right",
                    "equal",
                    "drafted",
                    "accepted",
                    "decoded",
                    "passes",
                ):
                    setattr(total, field, getattr(total, field) + getattr(part, field))
            _show("all", way, total)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


def _show(name: str, way: str, part: Score) -> None:
    print(
        f"| {name} | {way} | {part.right}/{part.asked} | {part.acceptance:.2f} | "
        f"{part.tokens_per_pass:.2f} | {part.equal}/{part.asked} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
