"""Model files to put into a library: tiny, and of every kind."""

from __future__ import annotations

from pathlib import Path

from gemma_local.models.store.hub_cache import HubCache
from gemma_local.models.store.wanted import RemoteFile
from tests.hub import sha256
from tests.models.gguf_bytes import Gguf, Typed
from tests.models.tiny_models import tiny_drafter, tiny_target, write


def target(folder: Path, name: str = "target.gguf") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return write(folder / name, tiny_target())


def drafter(folder: Path, name: str = "draft.gguf") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return write(folder / name, tiny_drafter())


def projector(folder: Path, name: str = "mmproj.gguf") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return write(folder / name, Gguf({"general.architecture": "clip", "general.type": "mmproj"}))


def split_target(folder: Path, stem: str = "big", count: int = 3) -> list[Path]:
    """A target in several files: all metadata in the first, tensors in each."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = tiny_target()
    names = list(whole.tensors)
    paths = []
    for i in range(count):
        numbers = {
            "split.no": Typed("u16", i),
            "split.count": Typed("u16", count),
            "split.tensors.count": Typed("i32", len(names)),
        }
        metadata = whole.metadata if i == 0 else {"general.architecture": "gemma4"}
        tensors = {name: whole.tensors[name] for name in names[i::count]}
        path = folder / f"{stem}-{i + 1:05d}-of-{count:05d}.gguf"
        paths.append(write(path, Gguf({**metadata, **numbers}, tensors)))
    return paths


def cached(cache: HubCache, repository: str, commit: str, name: str, source: Path) -> Path:
    """A file in the cache as a download leaves it."""
    content = source.read_bytes()
    remote = RemoteFile(repository, name, commit * 40, len(content), sha256(content))
    blob = cache.blob(remote)
    blob.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(content)
    return cache.publish(remote, "main")
