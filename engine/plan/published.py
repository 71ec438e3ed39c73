"""The pairs of the catalog as candidates, before any file of them is here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gemma_local.engine.plan.candidate import Candidate, expert_parameters
from gemma_local.models.catalog import Catalog, Size, TargetFile
from gemma_local.models.catalog_footprint import drafter_anatomy, target_anatomy
from gemma_local.models.store.model_file import ModelFile


def published(catalog: Catalog) -> Iterator[Candidate]:
    """The usual file of each size. Footprints are within a few per cent (`catalog_footprint`)."""
    for size in catalog.sizes:
        yield candidate_of_catalog(size, size.default)


def candidate_of_catalog(size: Size, target: TargetFile) -> Candidate:
    """A target of the catalog with the drafter that suits it."""
    drafter = size.drafter_for(target)
    shape = size.shape
    return Candidate(
        label=size.label,
        quantisation=target.quantisation,
        target=target_anatomy(shape, target),
        drafter=drafter_anatomy(size, drafter) if drafter is not None else None,
        context_limit=size.context_length,
        parameters=size.parameters,
        active_parameters=size.active_parameters,
        bytes=target.length + (drafter.length if drafter is not None else 0),
        experts=shape.experts,
        experts_used=shape.experts_used,
        expert_parameters=expert_parameters(
            size.parameters, size.active_parameters, shape.experts, shape.experts_used
        ),
    )


def candidate_of_library(catalog: Catalog, model: ModelFile) -> Candidate | None:
    """A file that is here, as the catalog knows its size; None for what is no published Gemma 4.

    The header of a file takes more than half a second to read, so this goes by what the library
    remembers of it, to choose among several.
    """
    header = model.header
    size = next((s for s in catalog.sizes if s.label == header.size_label), None)
    if size is None or not model.is_gemma4:
        return None
    alike = min(size.targets, key=lambda file: abs(file.length - header.bytes))
    entry = alike.model_copy(update={"bytes": header.bytes})
    candidate = candidate_of_catalog(size, entry)
    return replace(candidate, quantisation=header.quantisation, path=model.path)
