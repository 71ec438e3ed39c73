"""What installed distributions hold that is no distribution itself, for the bill of materials.

Two of them do: llama-cpp-python holds llama.cpp, compiled, and gemma-local the pocket pair. What
their files say is told, and "unknown" where they say nothing.
"""

from __future__ import annotations

import re
from importlib.metadata import Distribution
from pathlib import Path, PurePath
from typing import Final

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseAcknowledgement
from manifests import sha256
from packageurl import PackageURL

from gemma_local.models import pocket
from gemma_local.models.gguf import GgufFile, read_gguf

UNKNOWN: Final = "unknown"

_LIBRARIES: Final = PurePath("llama_cpp", "lib")
_COMPILED: Final = (".so", ".dylib", ".dll")
_RECORD: Final = "llama-config.cmake"
"""The file in which llama.cpp's build says what was built; not every build installs it."""
_SET: Final = re.compile(r"^set\((LLAMA_VERSION|LLAMA_BUILD_COMMIT)\s+([^\s)]+)\)", re.MULTILINE)


def contained(name: str, of: Distribution) -> list[Component]:
    """What the distribution with the canonical ``name`` holds."""
    match name:
        case "llama-cpp-python":
            return [llama_cpp(of)]
        case "gemma-local":
            return [_model(read_gguf(path)) for path in pocket.pair() or ()]
    return []


def llama_cpp(of: Distribution) -> Component:
    """llama.cpp, with the libraries that were made of it."""
    said = _said_of_build(of)
    version, commit = said.get("LLAMA_VERSION", UNKNOWN), said.get("LLAMA_BUILD_COMMIT", UNKNOWN)
    return Component(
        name="llama.cpp",
        version=version,
        description=f"Compiled, inside of llama-cpp-python; commit as its build noted it: {commit}",
        purl=PackageURL(
            "github", "ggml-org", "llama.cpp", version=commit if commit != UNKNOWN else None
        ),
        bom_ref=f"llama.cpp=={version}",
        licenses=[
            # What is installed has no word about it: this is what llama.cpp's repository says.
            LicenseFactory().make_from_string(
                "MIT", license_acknowledgement=LicenseAcknowledgement.CONCLUDED
            )
        ],
        components=[
            Component(
                name=path.name,
                type=ComponentType.FILE,
                bom_ref=f"llama.cpp=={version}/{path.name}",
                hashes=[_hash(path)],
            )
            for path in _libraries(of)
        ],
    )


def _said_of_build(of: Distribution) -> dict[str, str]:
    for file in of.files or ():
        if file.name == _RECORD and (path := Path(str(file.locate()))).is_file():
            return dict(_SET.findall(path.read_text(encoding="utf-8")))
    return {}


def _libraries(of: Distribution) -> list[Path]:
    """Each once: a library lies there under several names, of which the shortest is told."""
    found: dict[str, Path] = {}
    for file in sorted(of.files or (), key=lambda file: (len(file.name), file.name)):
        if PurePath(file.parent) == _LIBRARIES and not set(_COMPILED).isdisjoint(file.suffixes):
            path = Path(str(file.locate()))
            found.setdefault(sha256(path), path)
    return sorted(found.values())


def _model(file: GgufFile) -> Component:
    """One file of the pocket pair."""
    said = {
        key: str(file.metadata.get(f"general.{key}", ""))
        for key in ("name", "version", "description", "license")
    }
    return Component(
        name=file.path.name,
        type=ComponentType.MACHINE_LEARNING_MODEL,
        version=said["version"] or UNKNOWN,
        description=said["description"] or said["name"],
        bom_ref=f"gemma-local/{file.path.name}",
        licenses=[LicenseFactory().make_from_string(said["license"] or UNKNOWN)],
        hashes=[_hash(file.path)],
    )


def _hash(path: Path) -> HashType:
    return HashType(alg=HashAlgorithm.SHA_256, content=sha256(path))
