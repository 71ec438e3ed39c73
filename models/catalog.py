"""The Gemma 4 models that are published, and the files of each: what there is, before any download.

The data are in ``catalog.toml``. A person's own file of the same form adds to it or overrides it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from gemma_local.models.catalog_file import BadCatalog, merge, parse, sentence
from gemma_local.models.target import TargetFacts

__all__ = [
    "BadCatalog",
    "Catalog",
    "DrafterFile",
    "DrafterShape",
    "Projector",
    "PublishedFile",
    "Sampling",
    "Shape",
    "Size",
    "TargetFile",
    "UnknownSize",
    "load_catalog",
]

Positive = Annotated[int, Field(gt=0)]
Count = Annotated[int, Field(ge=0)]
Format = Literal["F32", "F16", "BF16", "Q8_0", "Q6_K", "Q5_K", "Q4_K", "Q4_0", "Q3_K", "Q2_K"]


class UnknownSize(BadCatalog):
    """A name that is none of the catalog's."""


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Sampling(_Entry):
    """The publisher's sampling settings; a ``min_p`` of 0 and a penalty of 1 are off."""

    temperature: Annotated[float, Field(ge=0)]
    top_k: Count
    top_p: Annotated[float, Field(gt=0, le=1)]
    min_p: Annotated[float, Field(ge=0, lt=1)]
    repeat_penalty: Annotated[float, Field(gt=0)]


class PublishedFile(_Entry):
    """One file of a repository on the Hugging Face hub."""

    repository: Annotated[str, Field(pattern=r"^\w[\w.-]*/\w[\w.-]*$")]
    file: Annotated[str, Field(pattern=r"^(\w[\w.-]*/)*\w[\w.-]*\.gguf$")]
    """Path inside the repository."""
    revision: str | None = None
    """A commit or a tag; None is ``main``."""
    bytes: Positive | None = None
    about_bytes: Positive | None = None
    """Roughly, where ``bytes`` is not known."""
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")] | None = None
    quantisation: str
    """The publisher's name for it."""
    is_qat: bool

    @model_validator(mode="after")
    def _has_a_length(self) -> PublishedFile:
        if self.bytes is None and self.about_bytes is None:
            raise ValueError("needs bytes or about_bytes")
        return self

    @property
    def length(self) -> int:
        """Bytes, exactly or roughly."""
        return self.bytes or self.about_bytes or 0


class TargetFile(PublishedFile):
    """A target."""

    format: Format
    """Of most of its weights."""


class DrafterFile(PublishedFile):
    """An MTP drafter."""

    format: Format


class Projector(PublishedFile):
    """What reads images and sound (mmproj)."""


class Shape(_Entry):
    """The dimensions of a target."""

    layers: Positive
    width: Positive
    feed_forward: Positive
    shared_feed_forward: Count = 0
    """Of the layers that share their KV cache, where it differs."""
    heads: Positive
    kv_heads_sliding: Positive
    kv_heads_full: Positive
    head_size_sliding: Positive = 256
    head_size_full: Positive = 512
    window: Positive
    """Tokens that a sliding layer sees."""
    full_every: Positive
    """Each so many layers the last one is a full one, as is the very last."""
    shared_kv_layers: Count = 0
    """The last so many own no KV cache."""
    value_is_key: bool = False
    """Whether the full layers take their keys as values and have no matrix for these."""
    per_layer: Count = 0
    """Per-layer embeddings: numbers per layer, 0 without."""
    experts: Count = 0
    experts_used: Count = 0
    expert_feed_forward: Count = 0
    vocabulary: Positive = 262144
    merges: Positive = 514906

    @property
    def has_per_layer_embeddings(self) -> bool:
        return self.per_layer > 0

    def is_sliding(self, layer: int) -> bool:
        """Whether a layer sees only the window."""
        return layer % self.full_every != self.full_every - 1


class DrafterShape(_Entry):
    """The dimensions of the drafter, which takes the target's hidden state."""

    layers: Positive = 4
    width: Positive
    feed_forward: Positive
    heads: Positive
    embedding_length_out: Positive
    """The target's width."""


_File = TypeVar("_File", bound=PublishedFile)


class Size(_Entry):
    """One size of Gemma 4. Of all files the first is the one to take unless something speaks
    against it."""

    label: Annotated[str, Field(pattern=r"^[\w-]+$")]
    name: str
    published_as: str
    """The repository of the original weights."""
    parameters: Positive
    active_parameters: Positive
    """What one token is computed with, by the publisher's count."""
    context_length: Positive
    """Tokens that the model can do; old files may say less."""
    draft_length: Positive
    """How far to draft at first, until it is measured what pays."""
    notes: tuple[str, ...] = ()
    sampling: Sampling
    shape: Shape
    drafter_shape: DrafterShape
    targets: Annotated[tuple[TargetFile, ...], Field(min_length=1, alias="target")]
    drafters: Annotated[tuple[DrafterFile, ...], Field(alias="drafter")] = ()
    projectors: Annotated[tuple[Projector, ...], Field(alias="projector")] = ()

    @model_validator(mode="after")
    def _fits(self) -> Size:
        if self.drafter_shape.embedding_length_out != self.shape.width:
            raise ValueError("has a drafter for another width")
        return self

    @property
    def default(self) -> TargetFile:
        return self.targets[0]

    def drafter_for(self, target: TargetFile) -> DrafterFile | None:
        """The drafter to run a target with: one trained for the same weights, if there is one."""
        return _first_fitting(self.drafters, target)

    def projector_for(self, target: TargetFile) -> Projector | None:
        """The projector to run a target with: the one beside it, if there is one."""
        return _first_fitting(self.projectors, target)


def _first_fitting(files: Sequence[_File], target: TargetFile) -> _File | None:
    same_place = [f for f in files if f.repository == target.repository]
    same_weights = [f for f in files if f.is_qat == target.is_qat]
    return next(iter([*same_place, *same_weights, *files]), None)


class Catalog(_Entry):
    """All sizes, the smallest first."""

    sizes: Annotated[tuple[Size, ...], Field(alias="size")]

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(size.label for size in self.sizes)

    def size(self, name: str) -> Size:
        """The size that a name means: ``e4b``, ``26b``, ``gemma-4-E4B-it``, ``gemma4:12b``.

        Raises:
            UnknownSize: it means none of them.
        """
        wanted = name.casefold()
        found = [
            (len(alias), size)
            for size in self.sizes
            for alias in {size.label.casefold(), size.label.casefold().partition("-")[0]}
            if re.search(rf"(?<![a-z0-9]){re.escape(alias)}(?![a-z0-9])", wanted)
        ]
        if not found:
            raise UnknownSize(
                f"{name!r} is no Gemma 4 that is known here. There are {', '.join(self.labels)}."
            )
        return max(found, key=lambda pair: pair[0])[1]

    def recognise(self, facts: TargetFacts) -> Size | None:
        """The size of a file, by its dimensions and never by its name; None for all others."""
        if not facts.is_gemma4:
            return None
        shape = facts.block_count, facts.embedding_length
        return next((s for s in self.sizes if (s.shape.layers, s.shape.width) == shape), None)


def load_catalog(user_file: Path | None = None) -> Catalog:
    """The catalog, with what a person's own file adds and overrides.

    Args:
        user_file: of the form of ``catalog.toml``; a size needs only its ``label`` and what
            differs, a new size everything.

    Raises:
        BadCatalog: the file cannot be read or says something that makes no sense; the sentence
            names the line or the field.
    """
    shipped = resources.files("gemma_local.models").joinpath("catalog.toml")
    sizes = parse(shipped.read_text(encoding="utf-8"), "catalog.toml")
    where = "catalog.toml"
    if user_file is not None:
        where = str(user_file)
        try:
            text = user_file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
            raise BadCatalog(f"{user_file} cannot be read: {reason}.") from error
        sizes = merge(sizes, parse(text, where), where)
    return _validated(sizes, where)


def _validated(sizes: list[dict[str, Any]], where: str) -> Catalog:
    try:
        # Through JSON, which has no tuples either: there a list may stand for one.
        return Catalog.model_validate_json(json.dumps({"size": sizes}, default=str))
    except ValidationError as error:
        raise BadCatalog(sentence(error, sizes, where)) from error
