"""What a GGUF file is for: a chat model, a drafter, or one of the many things that are neither."""

from __future__ import annotations

from gemma_local.models.errors import BadModelFile
from gemma_local.models.gguf import GgufFile
from gemma_local.models.metadata import Metadata

GEMMA4 = "gemma4"
GEMMA4_DRAFTER = "gemma4-assistant"
"""llama.cpp's name (``LLM_ARCH_GEMMA4_ASSISTANT``) for the MTP drafters Google calls assistants."""

_FORK_DRAFTERS = frozenset({"gemma4_assistant", "gemma4_mtp"})
"""Names that forks gave the drafters before llama.cpp had its own; it refuses both."""
_OTHER_DRAFTERS = frozenset({"eagle3", "dflash"})
_ENCODERS = frozenset(
    {
        "bert",
        "modern-bert",
        "nomic-bert",
        "nomic-bert-moe",
        "neo-bert",
        "jina-bert-v2",
        "jina-bert-v3",
        "eurobert",
        "t5encoder",
        "gemma-embedding",
        "llama-embed",
    }
)
_VOICES = frozenset({"wavtokenizer-dec", "qwen3tts", "pockettts"})
_DIFFUSERS = frozenset({"dream", "llada", "llada-moe", "rnd1"})


def read_target_metadata(file: GgufFile) -> Metadata:
    """The metadata of a file that is meant to be chatted with.

    Raises:
        BadModelFile: the file is something else: a drafter, a projector, an adapter, an
            embedding model and so on.
    """
    meta = _model_metadata(file)
    path, architecture = meta.path, meta.architecture
    if _is_fork_drafter(meta):
        raise _fork_drafter(meta)
    if architecture == GEMMA4_DRAFTER or architecture in _OTHER_DRAFTERS:
        raise BadModelFile(
            f"{path} is a drafter, which only speeds up another model. Give it with --drafter, and "
            "give the model it belongs to with --model."
        )
    if architecture in _VOICES:
        raise BadModelFile(f"{path} is a speech model and cannot chat. Give a chat model.")
    if architecture in _DIFFUSERS:
        raise BadModelFile(
            f"{path} is a diffusion model ({architecture}), which does not write word after word. "
            "Give a chat model."
        )
    pooling = meta.get("pooling_type")
    if (
        architecture in _ENCODERS
        or meta.get("attention.causal") is False
        or pooling not in (None, 0)
    ):
        raise BadModelFile(
            f"{path} is an embedding model ({architecture}), which turns text into numbers and "
            "cannot chat. Give a chat model."
        )
    return meta


def read_drafter_metadata(file: GgufFile) -> Metadata:
    """The metadata of a file that is meant to draft for a Gemma 4.

    Raises:
        BadModelFile: the file is no Gemma 4 drafter, or one made for another program.
    """
    meta = _model_metadata(file)
    path, architecture = meta.path, meta.architecture
    if _is_fork_drafter(meta):
        raise _fork_drafter(meta)
    if architecture == GEMMA4:
        raise BadModelFile(
            f"{path} is a complete Gemma 4 model, not a drafter. Give it with --model, and with "
            "--drafter the small mtp-*.gguf file made for it."
        )
    if architecture in _OTHER_DRAFTERS:
        raise BadModelFile(
            f"{path} is a drafter of another kind ({architecture}). Give the mtp-*.gguf file made "
            "for the model."
        )
    if architecture != GEMMA4_DRAFTER:
        raise BadModelFile(
            f"{path} is a {architecture} model, not a Gemma 4 drafter. Give the mtp-*.gguf file "
            "made for the model, or leave the drafter out."
        )
    return meta


def _model_metadata(file: GgufFile) -> Metadata:
    path = file.path
    architecture = file.metadata.get("general.architecture")
    kind = file.metadata.get("general.type")
    if kind == "adapter" or architecture == "controlvector":
        raise BadModelFile(
            f"{path} is an adapter (LoRA or control vector), which only changes another model. "
            "Give the complete model."
        )
    if kind == "imatrix" or architecture == "imatrix":
        raise BadModelFile(
            f"{path} is an importance matrix, which is only used to quantise a model. Give the "
            "model itself."
        )
    if architecture == "clip" or kind == "mmproj":
        raise BadModelFile(
            f"{path} is a projector (mmproj), the part that reads images and sound. Give the model "
            "it belongs to."
        )
    if not isinstance(architecture, str) or not architecture:
        raise BadModelFile(
            f"{path} does not say what kind of model it is (general.architecture). Download "
            "another conversion of the model."
        )
    return Metadata(file, architecture)


def _is_fork_drafter(meta: Metadata) -> bool:
    if meta.architecture in _FORK_DRAFTERS:
        return True
    # One fork kept the target's name and marked the drafter by gemma4.assistant.type = "mtp".
    return meta.architecture == GEMMA4 and meta.get("assistant.type") is not None


def _fork_drafter(meta: Metadata) -> BadModelFile:
    return BadModelFile(
        f"{meta.path} is a Gemma 4 drafter converted for another program ({meta.architecture}), "
        "and llama.cpp cannot load it. Get a conversion made with current llama.cpp; those files "
        "are usually named mtp-*.gguf."
    )
