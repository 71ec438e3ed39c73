"""What an answer cost and yielded, for programs (JSON keys) and for people (one line).

The keys of ``--output json`` are documented here and stay as they are:

``text``                 the answer
``thought``              what the model thought before it, empty if it did not
``session``              id of the conversation, for --resume; null if it is not saved
``finish_reason``        "stop" (the model ended its turn), "stop_string", "length" (--max-tokens),
                         "context" (no room left), "cancelled" (Ctrl-C), "loop", "nan"
``prompt_tokens``        tokens of the prompt, of which ``reused_tokens`` were in the cache already
                         and ``prefilled_tokens`` were computed
``emitted_tokens``       tokens of the answer
``load_seconds``         time to load the pair
``prefill_seconds``      time to read the prompt, with the first token of the answer
``decode_seconds``       time for all further tokens
``tokens_per_second``    decode speed, prefill left out
``drafted``              tokens that the drafter proposed, of which ``accepted`` were kept
``acceptance``           accepted / drafted, null when nothing was drafted
``drafted_by_position``  the same by place in the draft, the first token of all drafts first;
``accepted_by_position`` as long as the longest draft
``tokens_per_pass``      tokens that a pass of the target yielded on average, null without a pass
``passes``               decode calls of the target after the prefill
``draft_seconds``        part of decode_seconds spent drafting; ``verify_seconds`` the target's part
``llama_seconds``        part of decode_seconds spent inside llama.cpp
``sources``, ``pace``    where drafts came from and how far they went, see `drafting_report`
``seed``                 seed of the sampler, drawn if none was given
``exact``                true only if exact mode was on, lenience was 0 and ``gemma-local verify``
                         passed for this pair on this machine with these settings
``lenience``             0 = every token is the target's own choice
``model``, ``drafter``   paths of the files; drafter is null without one

After a crash of the engine in mid-answer, counts and times are those of the attempt that finished.
"""

from __future__ import annotations

from gemma_local.app.counted import counted
from gemma_local.app.drafting_report import drafting_keys
from gemma_local.engine.messages import CacheUse, Done, Ready, Sampling, Tally
from gemma_local.models.message import Message

_DIGITS = 6


def measurements(tally: Tally) -> dict[str, object]:
    """The keys that are counted or measured, in their documented order."""
    acceptance, per_pass = tally.acceptance, tally.tokens_per_pass
    return {
        "prompt_tokens": tally.prompt_tokens,
        "reused_tokens": tally.reused_tokens,
        "prefilled_tokens": tally.prefilled_tokens,
        "emitted_tokens": tally.emitted_tokens,
        "prefill_seconds": round(tally.prefill_seconds, _DIGITS),
        "decode_seconds": round(tally.decode_seconds, _DIGITS),
        "tokens_per_second": round(tally.tokens_per_second, _DIGITS),
        "drafted": tally.drafted,
        "accepted": tally.accepted,
        "acceptance": None if acceptance is None else round(acceptance, _DIGITS),
        "drafted_by_position": list(tally.drafted_by_position),
        "accepted_by_position": list(tally.accepted_by_position),
        "tokens_per_pass": None if per_pass is None else round(per_pass, _DIGITS),
        "passes": tally.passes,
        "draft_seconds": round(tally.draft_seconds, _DIGITS),
        "verify_seconds": round(tally.verify_seconds, _DIGITS),
        "llama_seconds": round(tally.llama_seconds, _DIGITS),
        **drafting_keys(tally),
    }


def answer_report(
    message: Message | None,
    done: Done,
    ready: Ready,
    sampling: Sampling,
    *,
    exact: bool,
    session: str = "",
) -> dict[str, object]:
    """All keys of ``--output json``. ``exact``: the label is deserved."""
    return {
        "text": message.text if message is not None else "",
        "thought": message.thought if message is not None else "",
        "session": session or None,
        "finish_reason": done.reason,
        "load_seconds": round(ready.load_seconds, _DIGITS),
        **measurements(done.tally),
        "seed": sampling.seed,
        "exact": exact,
        "lenience": sampling.lenience,
        "model": ready.target,
        "drafter": ready.drafter,
    }


def speed_line(tally: Tally, label: str) -> str:
    """One line for a person; ``label`` is what ``exactness_label`` gave."""
    parts = [f"{tally.tokens_per_second:.1f} tokens/s"]
    if tally.acceptance is not None and tally.tokens_per_pass is not None:
        parts.append(f"acceptance {tally.acceptance:.0%} ({tally.accepted} of {tally.drafted})")
        parts.append(f"{tally.tokens_per_pass:.2f} tokens per pass")
    parts.append(f"{tally.emitted_tokens} tokens")
    reused = f", {tally.reused_tokens} reused" if tally.reused_tokens else ""
    parts.append(f"prompt {tally.prefilled_tokens} read in {tally.prefill_seconds:.1f} s{reused}")
    if label:
        parts.append(label)
    return " · ".join(parts)


def cache_line(cache: CacheUse) -> str:
    """What is kept so that nothing is read twice, and the memory that it takes."""
    parts = [f"{cache.tokens} tokens in the cache"]
    if cache.checkpoints:
        parts.append(f"{counted(cache.checkpoints, 'checkpoint')} {_size(cache.checkpoint_bytes)}")
    if cache.parked:
        parts.append(f"{counted(cache.parked, 'conversation')} parked {_size(cache.parked_bytes)}")
    if cache.saved:
        parts.append(f"{counted(cache.saved, 'state')} on disk {_size(cache.saved_bytes)}")
    return " · ".join(parts)


def _size(count: int) -> str:
    return f"{count / (1 << 20):.1f} MiB"


def exactness_label(*, exact: bool, lenience: float) -> str:
    """What may be said about the text next to a speed: exact, not exact, or nothing."""
    if lenience > 0:
        return f"not exact (lenience {lenience:g})"
    return "exact" if exact else ""
