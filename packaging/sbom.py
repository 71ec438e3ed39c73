"""What is in an installed gemma-local, as a CycloneDX bill of materials (JSON, 1.6).

``python packaging/sbom.py [FILE]`` describes gemma-local and all that it needs as they are
installed beside this Python: names, versions, licences, and what needs what; with llama.cpp and the
pocket pair, which lie inside of two of them. The same installation gives the same bytes: its time
is that of the last commit, its number follows from its content.
"""

from __future__ import annotations

import argparse
import sys
import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from distributions import ROOT, source_epoch

try:
    from contained import contained
    from cyclonedx.contrib.license.factories import LicenseFactory
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.model.license import License, LicenseExpression
    from cyclonedx.output.json import JsonV1Dot6
    from packageurl import PackageURL
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name
except ModuleNotFoundError as error:
    raise SystemExit(
        f"{error.name} is not installed beside this Python: run `python3 packaging/make_venv.py "
        "release`, and this with the Python of .venv."
    ) from None

NAME: Final = "gemma-local"


def sbom(epoch: int, name: str = NAME) -> str:
    """The bill of materials of ``name`` as JSON, made at ``epoch`` (Unix seconds).

    Raises PackageNotFoundError if ``name``, or something that it needs, is not installed.
    """
    needs = needed(name)
    components = {known: _component(known) for known in needs}
    root = components[canonicalize_name(name)]
    root.type = ComponentType.APPLICATION
    inside = {known: contained(known, distribution(known)) for known in needs}
    every = [*components.values(), *(one for parts in inside.values() for one in parts)]
    names = sorted(identity for component in every for identity in _identities(component))
    bom = Bom(serial_number=uuid.uuid5(uuid.NAMESPACE_URL, "\n".join(names)))
    bom.metadata.timestamp = datetime.fromtimestamp(epoch, UTC)
    bom.metadata.component = root
    for known, component in components.items():
        if component is not root:
            bom.components.add(component)
        for part in inside[known]:
            bom.components.add(part)
            bom.register_dependency(part)
        others = [components[other] for other in needs[known]]
        bom.register_dependency(component, [*others, *inside[known]])
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def _identities(component: Component) -> Iterator[str]:
    """What tells a component from another version of it."""
    if component.purl is not None:
        yield str(component.purl)
    yield from (one.content for one in component.hashes)
    for part in component.components:
        yield from _identities(part)


def needed(name: str) -> dict[str, list[str]]:
    """A distribution and all that it needs on this system, each with what it needs itself. Names
    are canonical. Raises PackageNotFoundError."""
    found: dict[str, list[str]] = {}
    extras: dict[str, set[str]] = {}
    pending = [Requirement(name)]
    while pending:
        wanted = pending.pop()
        known = canonicalize_name(wanted.name)
        seen = extras.setdefault(known, set())
        if known in found and wanted.extras <= seen:
            continue
        seen |= wanted.extras
        requirements = _requirements(distribution(known), seen)
        found[known] = sorted({canonicalize_name(one.name) for one in requirements} - {known})
        pending += requirements
    return dict(sorted(found.items()))


def _requirements(of: Distribution, extras: Iterable[str]) -> list[Requirement]:
    """What a distribution needs here, with these extras."""
    environments = [{"extra": extra} for extra in ("", *extras)]
    return [
        one
        for one in map(Requirement, of.requires or ())
        if one.marker is None or any(map(one.marker.evaluate, environments))
    ]


def _component(name: str) -> Component:
    found = distribution(name)
    return Component(
        name=found.metadata["Name"],
        version=found.version,
        description=_field(found, "Summary"),
        purl=PackageURL("pypi", name=name, version=found.version),
        bom_ref=f"{name}=={found.version}",
        licenses=_licences(found),
    )


def _licences(of: Distribution) -> list[License]:
    """A licence as an SPDX expression where the metadata has one, else its name as it stands."""
    classifiers = [
        text.rpartition(" :: ")[2]
        for text in of.metadata.get_all("Classifier") or ()
        if text.startswith("License ::")
    ]
    free_text = _field(of, "License").strip()
    is_name = free_text and "\n" not in free_text and len(free_text) < 100
    text = _field(of, "License-Expression") or (free_text if is_name else "")
    names = [text] if text else classifiers
    made = [LicenseFactory().make_from_string(one) for one in names]
    # An expression stands alone (https://cyclonedx.org/docs/1.6/json/#components_items_licenses).
    return made[:1] if any(isinstance(one, LicenseExpression) for one in made) else made


def _field(of: Distribution, name: str) -> str:
    """A field of the metadata, "" where it is not."""
    return str((of.metadata.get_all(name) or [""])[0])


def main() -> int:
    """Write the list into a file, or to standard output."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path, nargs="?", help="standard output if not given")
    file: Path | None = parser.parse_args().file
    try:
        text = sbom(source_epoch(ROOT))
    except PackageNotFoundError as error:
        print(
            f"{error.name} is not installed beside this Python: run `make run`, or install "
            "gemma-local.",
            file=sys.stderr,
        )
        return 1
    if file is not None:
        file.write_text(text, encoding="utf-8", newline="\n")
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
