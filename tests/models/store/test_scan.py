"""Models of other programs."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from gemma_local.models.store.scan import scan
from tests.models.store import local_files as make

IMAGE = "application/vnd.ollama.image"


def ollama(folder: Path, name: str, tag: str, **layers: Path) -> None:
    """A model as ``ollama pull`` leaves it: blobs by checksum, and a manifest that names them."""
    entries = []
    for kind, source in layers.items():
        digits = f"{len(list(folder.glob('blobs/*'))):064x}"
        blob = folder / "blobs" / f"sha256-{digits}"
        blob.parent.mkdir(parents=True, exist_ok=True)
        blob.write_bytes(source.read_bytes())
        entries.append({"mediaType": f"{IMAGE}.{kind}", "digest": f"sha256:{digits}"})
    manifest = folder / "manifests" / "registry.ollama.ai" / "library" / name / tag
    manifest.parent.mkdir(parents=True, exist_ok=True)
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": entries}))


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="folders of Linux")
def test_every_program_is_found(tmp_path: Path) -> None:
    home = tmp_path / "home"
    make.target(home / ".lmstudio" / "models" / "maker" / "repo", "studio.gguf")
    make.target(home / ".cache" / "lm-studio" / "models", "old.gguf")
    make.split_target(home / ".cache" / "llama.cpp", "big")
    text = home / "template"
    text.write_text("{{ .Prompt }}")
    ollama(
        home / ".ollama" / "models",
        "gemma4",
        "e2b",
        model=make.target(tmp_path),
        template=text,
        projector=make.projector(tmp_path),
    )
    found = {(f.name, f.program) for f in scan(home, {})}
    assert found == {
        ("studio", "LM Studio"),
        ("old", "LM Studio"),
        ("big", "llama.cpp"),
        ("gemma4-e2b", "Ollama"),
        ("gemma4-e2b-projector", "Ollama"),
    }


def test_folders_that_were_moved(tmp_path: Path) -> None:
    ollama(tmp_path / "o", "gemma4", "e4b", model=make.target(tmp_path))
    make.target(tmp_path / "l", "cached.gguf")
    places = {"OLLAMA_MODELS": str(tmp_path / "o"), "LLAMA_CACHE": str(tmp_path / "l")}
    assert [f.name for f in scan(tmp_path / "home", places)] == ["gemma4-e4b", "cached"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="folders of Linux")
def test_a_folder_that_is_named_empty_is_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make.target(tmp_path / "here", "here.gguf")
    make.target(tmp_path / "home" / ".cache" / "llama.cpp", "cached.gguf")
    monkeypatch.chdir(tmp_path / "here")
    places = {"OLLAMA_MODELS": "", "LLAMA_CACHE": ""}
    assert [f.name for f in scan(tmp_path / "home", places)] == ["cached"]


def test_what_is_no_model_or_damaged_is_passed_over(tmp_path: Path) -> None:
    home, models = tmp_path / "home", tmp_path / "home" / ".ollama" / "models"
    page = tmp_path / "page"
    page.write_text("<html>")
    ollama(models, "one", "a", model=page)
    manifests = models / "manifests" / "host" / "space" / "bad"
    manifests.mkdir(parents=True)
    make.target(home, "outside.gguf")
    (models / "blobs" / "sha256-x").mkdir()
    outside = {"mediaType": f"{IMAGE}.model", "digest": "sha256:x/../../../../outside.gguf"}
    (manifests / "outside").write_text(json.dumps({"layers": [outside]}))
    for name, text in (("empty", ""), ("list", "[1]"), ("layers", '{"layers": [{}]}')):
        (manifests / name).write_text(text)
    studio = home / ".lmstudio" / "models"
    studio.mkdir(parents=True)
    (studio / "page.gguf").write_text("<html>")
    (studio / "folder.gguf").mkdir()
    assert list(scan(home, {})) == []
    assert list(scan(tmp_path / "nobody", {})) == []
