"""The catalogue of models, with what the person has added to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gemma_local.app import folders

if TYPE_CHECKING:
    from gemma_local.models.catalog import Catalog


def own_catalog() -> Catalog:
    """What is shipped, and over it the person's ``catalog.toml``. Raises BadCatalog."""
    # Here: pydantic costs a noticeable part of the start, and a named file does without it.
    from gemma_local.models.catalog import load_catalog

    path = folders.catalog_path()
    return load_catalog(path if path.exists() else None)
