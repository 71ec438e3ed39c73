"""A target and its drafter: whether two files fit, and which file beside a target does.

The drafter's graph (llama.cpp's ``gemma4-assistant.cpp``) multiplies with the target's embedding
and views the target's KV cache with its own head counts: sliding layers view target layer n-2,
full layers n-1. A wrong width or a too large view is an assertion, which ends the process; a
too small view, another window or another vocabulary is not noticed and drafts nonsense.
"""

from __future__ import annotations

from difflib import SequenceMatcher
from pathlib import Path

from gemma_local.models.architecture import GEMMA4_DRAFTER
from gemma_local.models.drafter import DrafterFacts, inspect_drafter
from gemma_local.models.errors import BadPair, GemmaLocalError
from gemma_local.models.gguf import peek_architecture
from gemma_local.models.target import TargetFacts

DRAFTER_FOLDER = "MTP"
"""Sub-folder in which some repositories keep the drafters of their targets."""


def check_pair(target: TargetFacts, drafter: DrafterFacts) -> None:
    """Refuse a drafter that was not made for this target.

    Raises:
        BadPair: they differ in width, vocabulary, sliding window or KV cache; the sentence names
            both numbers.
    """
    if not target.is_gemma4 or target.attention is None:
        raise BadPair(
            f"{drafter.path.name} drafts for Gemma 4 only, and {target.path.name} is a "
            f"{target.architecture} model. Leave the drafter out, or give a Gemma 4."
        )
    if drafter.target_embedding_length != target.embedding_length:
        raise _misfit(
            target,
            drafter,
            f"it is made for a width of {drafter.target_embedding_length}"
            f"{_label(drafter.size_label)} and the model has {target.embedding_length}"
            f"{_label(target.size_label)}",
        )
    if drafter.vocab_size != target.vocab_size:
        raise _misfit(
            target,
            drafter,
            f"it knows {drafter.vocab_size} tokens and the model {target.vocab_size}",
        )
    if drafter.token_digest and drafter.token_digest != target.token_digest:
        raise _misfit(
            target,
            drafter,
            f"its list of {drafter.vocab_size} tokens is not the model's (fingerprints "
            f"{drafter.token_digest[:8]} and {target.token_digest[:8]})",
        )
    if drafter.sliding_window != target.sliding_window:
        raise _misfit(
            target,
            drafter,
            f"its sliding window is {drafter.sliding_window} tokens and the model's "
            f"{target.sliding_window}",
        )
    for layer, (sliding, wanted) in enumerate(drafter.kv_layers):
        kind = "sliding" if sliding else "full"
        found = target.sliding_kv if sliding else target.full_kv
        if wanted != found:
            raise _misfit(
                target,
                drafter,
                f"its {kind} layer {layer} reads {wanted} and the model's last {kind} layer keeps "
                f"{found}",
            )


def find_drafter(target: TargetFacts) -> DrafterFacts | None:
    """The drafter that lies beside a target, or in a folder ``MTP`` beside it.

    Files are told by their metadata, never by their names, since makers name drafters in many
    ways. Of several that fit, the one whose name has the longest piece in common with the
    target's is taken (a ``-qat`` target gets the ``-qat`` drafter), then the smallest: drafts are
    checked anyway, and a smaller drafter is the faster one.

    Returns:
        None for other models than Gemma 4 and where nothing fits; files that cannot be read or do
        not fit are passed over.
    """
    if not target.is_gemma4:
        return None
    fitting: list[DrafterFacts] = []
    for path in _candidates(target.path):
        try:
            if peek_architecture(path) != GEMMA4_DRAFTER:
                continue
            drafter = inspect_drafter(path)
            check_pair(target, drafter)
        except GemmaLocalError:
            continue
        fitting.append(drafter)
    stem = target.path.stem.casefold()
    return min(
        fitting,
        key=lambda drafter: (
            -_common_length(stem, drafter.path.stem.casefold()),
            drafter.file_size,
            drafter.path.name,
        ),
        default=None,
    )


def _candidates(target: Path) -> list[Path]:
    found: list[Path] = []
    for folder in (target.parent, target.parent / DRAFTER_FOLDER):
        try:
            entries = sorted(folder.iterdir())
        except OSError:
            continue
        found += [path for path in entries if path.suffix.lower() == ".gguf" and path != target]
    return found


def _common_length(first: str, second: str) -> int:
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return matcher.find_longest_match().size


def _label(size_label: str) -> str:
    return f" ({size_label})" if size_label else ""


def _misfit(target: TargetFacts, drafter: DrafterFacts, why: str) -> BadPair:
    made_for = f"Gemma 4 {target.size_label}" if target.size_label else "this model"
    return BadPair(
        f"The drafter {drafter.path.name} does not fit {target.path.name}: {why}. Use the drafter "
        f"made for {made_for}, or leave the drafter out."
    )
