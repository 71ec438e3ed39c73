"""The bill of materials, of what is installed beside the tests."""

from __future__ import annotations

import ctypes
import hashlib
import json
import tomllib
from importlib.metadata import Distribution, distribution, version
from pathlib import Path

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from gemma_local.models import pocket
from gemma_local.models.gguf import read_gguf
from tests.packaging.conftest import EPOCH, ROOT, Script


@pytest.fixture(scope="module")
def text(script: Script) -> str:
    return str(script("sbom").sbom(EPOCH))


def test_it_is_valid_cyclonedx(text: str) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_it_is_the_same_each_time(script: Script, text: str) -> None:
    assert script("sbom").sbom(EPOCH) == text


def test_it_names_what_the_project_needs_with_the_versions_that_are_here(text: str) -> None:
    bill = json.loads(text)
    found = {
        canonicalize_name(one["name"]): one["version"]
        for one in bill["components"]
        if one.get("purl", "").startswith("pkg:pypi/")
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}
    # The metadata beside the tests may be older than the file.
    assert len(wanted & found.keys()) >= len(wanted) - 1
    assert {name: version(name) for name in found} == found
    # What only the tests need is no part of the program.
    assert not {"pytest", "mypy", "hypothesis"} & found.keys()
    assert bill["metadata"]["component"]["type"] == "application"


def test_it_says_what_needs_what(text: str) -> None:
    needs = {
        one["ref"].partition("==")[0]: {ref.partition("==")[0] for ref in one.get("dependsOn", ())}
        for one in json.loads(text)["dependencies"]
    }
    assert {"llama-cpp-python", "textual", "numpy"} <= needs["gemma-local"]
    assert "markupsafe" in needs["jinja2"]
    assert "llama.cpp" in needs["llama-cpp-python"]
    assert {"gemma-local/gemma-4-pocket.gguf", "gemma-local/mtp-gemma-4-pocket.gguf"} <= needs[
        "gemma-local"
    ]


def test_llama_cpp_is_told_with_the_libraries_that_are_here(text: str) -> None:
    (told,) = (one for one in json.loads(text)["components"] if one["name"] == "llama.cpp")
    folder = Path(str(distribution("llama-cpp-python").locate_file("llama_cpp/lib")))
    here = {hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}
    assert {hashed["content"] for one in told["components"] for hashed in one["hashes"]} == here
    # Nothing that is installed says it: it is what is known of llama.cpp.
    assert told["licenses"] == [{"license": {"id": "MIT", "acknowledgement": "concluded"}}]
    # As its own functions tell it.
    assert told["version"] in (_said_by("llama", "llama_version"), "unknown")
    commit = told["purl"].partition("@")[2]
    assert commit == "" or _said_by("ggml-base", "ggml_commit").startswith(commit)


def test_what_a_build_does_not_note_is_unknown(script: Script, tmp_path: Path) -> None:
    folder = tmp_path / "llama_cpp_python-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Name: llama_cpp_python\nVersion: 1.0\n")
    (folder / "RECORD").write_text("llama_cpp/lib/libllama.0.dylib,,\n")
    (tmp_path / "llama_cpp" / "lib").mkdir(parents=True)
    (tmp_path / "llama_cpp" / "lib" / "libllama.0.dylib").write_bytes(b"compiled")
    told = script("contained").llama_cpp(Distribution.at(folder))
    assert (told.version, told.purl.version) == ("unknown", None)
    assert [one.name for one in told.components] == ["libllama.0.dylib"]


def test_the_pocket_pair_is_told_with_what_its_files_say(text: str) -> None:
    models = [
        one for one in json.loads(text)["components"] if one["type"] == "machine-learning-model"
    ]
    pair = pocket.pair()
    assert pair is not None
    assert {one["name"] for one in models} == {path.name for path in pair}
    for one in models:
        path = pair[0].with_name(one["name"])
        (hashed,) = one["hashes"]
        assert hashed["alg"] == "SHA-256"
        assert hashed["content"] == hashlib.sha256(path.read_bytes()).hexdigest()
        said = read_gguf(path).metadata
        assert one["licenses"] == [{"license": {"id": "Apache-2.0"}}]
        assert one["version"] == said.get("general.version", "unknown")
        assert "not one of Google's" in one["description"]


def _said_by(library: str, function: str) -> str:
    """What a function of a compiled library says, "" where it is not."""
    folder = Path(str(distribution("llama-cpp-python").locate_file("llama_cpp/lib")))
    for path in sorted(folder.glob(f"*{library}.*")):
        if found := getattr(ctypes.CDLL(str(path)), function, None):
            found.restype = ctypes.c_char_p
            return bytes(found()).decode()
    return ""


def test_every_part_says_its_licence(text: str) -> None:
    assert [one["name"] for one in json.loads(text)["components"] if not one.get("licenses")] == []
