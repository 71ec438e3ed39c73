"""GGUF files that other programs keep on this machine."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gemma_local.models.store.split import is_later_part, stem

_MODEL_LAYERS: Final = {
    "application/vnd.ollama.image.model": "",
    "application/vnd.ollama.image.projector": "-projector",
}
_MAGIC: Final = b"GGUF"


@dataclass(frozen=True, slots=True)
class Found:
    """A GGUF file of another program."""

    path: Path
    program: str
    name: str
    """What that program calls it; the file's own name says nothing in Ollama's store."""


def scan(home: Path, environment: Mapping[str, str]) -> Iterator[Found]:
    """What LM Studio, Ollama and llama.cpp keep below ``home``, or where ``environment`` says.

    Reads folders, Ollama's manifests and the first four bytes of each file; unreadable ones are
    passed over.
    """
    for folder in (home / ".lmstudio" / "models", home / ".cache" / "lm-studio" / "models"):
        yield from _in_folder(folder, "LM Studio")
    ollama = environment.get("OLLAMA_MODELS")
    yield from _in_ollama(Path(ollama) if ollama else home / ".ollama" / "models")
    # Empty it counts as unset, there as here: it would be the current folder.
    if folder_text := environment.get("LLAMA_CACHE"):
        yield from _in_folder(Path(folder_text), "llama.cpp")
    else:
        yield from _in_folder(_cache_folder(home, environment) / "llama.cpp", "llama.cpp")


def _cache_folder(home: Path, environment: Mapping[str, str]) -> Path:
    """As llama.cpp's ``fs_get_cache_directory`` has it."""
    if sys.platform == "win32" and (local := environment.get("LOCALAPPDATA")):
        return Path(local)
    if sys.platform == "darwin":
        return home / "Library" / "Caches"
    given = environment.get("XDG_CACHE_HOME")
    return Path(given) if given else home / ".cache"


def _in_folder(folder: Path, program: str) -> Iterator[Found]:
    for root, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(root, name)
            if name.lower().endswith(".gguf") and not is_later_part(name) and _is_gguf(path):
                yield Found(path, program, stem(name))


def _in_ollama(folder: Path) -> Iterator[Found]:
    """Ollama's manifests (``manifests/HOST/NAMESPACE/MODEL/TAG``, as registries of containers have
    them) name the blobs of each model."""
    seen: set[Path] = set()
    for manifest in sorted((folder / "manifests").glob("*/*/*/*")):
        try:
            layers = json.loads(manifest.read_text("utf-8"))["layers"]
            kinds = [(str(layer["mediaType"]), str(layer["digest"])) for layer in layers]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        for kind, digest in kinds:
            algorithm, _, digits = digest.partition(":")
            path = folder / "blobs" / f"{algorithm}-{digits}"
            known = kind in _MODEL_LAYERS and algorithm == "sha256" and digits.isalnum()
            if known and path not in seen and _is_gguf(path):
                seen.add(path)
                name = f"{manifest.parent.name}-{manifest.name}{_MODEL_LAYERS[kind]}"
                yield Found(path, "Ollama", name)


def _is_gguf(path: Path) -> bool:
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False
