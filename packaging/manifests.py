"""The Homebrew formula and the winget manifests of a release, filled from templates."""

from __future__ import annotations

import hashlib
import re
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

TEMPLATES: Final = Path(__file__).with_name("templates")
WINDOWS_COMMAND: Final = "gemma-local/gemma-local.exe"
"""What winget puts on PATH, inside the ZIP file for Windows."""

_BUNDLE: Final = re.compile(
    r"gemma-local-(?P<version>[^-]+)-(?P<system>[^-]+)-(?P<machine>.+)-py(?P<python>[\d.]+)\.tar\.gz"
)
_BLOCKS: Final = {
    ("darwin", "arm64"): ("on_macos", "on_arm"),
    ("darwin", "x86_64"): ("on_macos", "on_intel"),
    ("linux", "x86_64"): ("on_linux", "on_intel"),
    ("linux", "aarch64"): ("on_linux", "on_arm"),
}
"""Homebrew's words for systems and architectures."""


class BadManifest(Exception):
    """A manifest cannot be filled; ``str()`` says what is missing."""


@dataclass(frozen=True, slots=True)
class Release:
    """Where a release is published. ``base_url`` is the folder that its files lie in."""

    version: str
    homepage: str
    base_url: str
    publisher: str


def formula(release: Release, bundles: Sequence[Path]) -> str:
    """The Homebrew formula for bundles of one Python. Raises BadManifest."""
    blocks, pythons = [], set()
    for bundle in sorted(bundles):
        match = _BUNDLE.fullmatch(bundle.name)
        if match is None or match["version"] != release.version:
            raise BadManifest(f"{bundle.name} is no bundle of {release.version}")
        pythons.add(match["python"])
        words = _BLOCKS.get((match["system"], match["machine"]))
        if words is None:
            raise BadManifest(f"Homebrew has no {match['system']} on {match['machine']}")
        blocks.append(_block(*words, f"{release.base_url}/{bundle.name}", sha256(bundle)))
    if len(pythons) != 1:
        raise BadManifest("the formula needs bundles for one and the same Python")
    values = {"PYTHON": pythons.pop(), "BUNDLES": "\n".join(blocks), **_common(release)}
    return filled((TEMPLATES / "gemma-local.rb").read_text(encoding="utf-8"), values)


def winget(release: Release, archive: Path) -> dict[str, str]:
    """The three manifests for a ZIP file with the command for Windows, by their names. Raises
    BadManifest."""
    try:
        with zipfile.ZipFile(archive) as content:
            names = content.namelist()
    except zipfile.BadZipFile as error:
        raise BadManifest(f"{archive.name} is no ZIP file") from error
    if WINDOWS_COMMAND not in names:
        raise BadManifest(f"there is no {WINDOWS_COMMAND} in {archive.name}")
    values = {
        "ZIP_URL": f"{release.base_url}/{archive.name}",
        "ZIP_SHA256": sha256(archive).upper(),
        **_common(release),
    }
    name = f"{release.publisher}.GemmaLocal"
    parts = {"version": "", "installer": ".installer", "locale.en-GB": ".locale.en-GB"}
    return {
        f"{name}{suffix}.yaml": filled(
            (TEMPLATES / "winget" / f"{part}.yaml").read_text(encoding="utf-8"), values
        )
        for part, suffix in parts.items()
    }


def filled(template: str, values: Mapping[str, str]) -> str:
    """``template`` with each ``@NAME@`` replaced. Raises BadManifest for one that has no value."""

    def value(match: re.Match[str]) -> str:
        if match[1] not in values:
            raise BadManifest(f"there is no value for @{match[1]}@")
        return values[match[1]]

    return re.sub(r"@([A-Z][A-Z0-9_]*)@", value, template)


def sha256(file: Path) -> str:
    """The checksum of a file, in hexadecimal."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _common(release: Release) -> dict[str, str]:
    return {
        "VERSION": release.version,
        "HOMEPAGE": release.homepage,
        "PUBLISHER": release.publisher,
    }


def _block(system: str, processor: str, url: str, checksum: str) -> str:
    return (
        f"  {system} do\n"
        f"    {processor} do\n"
        f'      url "{url}"\n'
        f'      sha256 "{checksum}"\n'
        "    end\n"
        "  end\n"
    )
