"""What a person asks of ``gemma-local models``, one class for each command."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(kw_only=True, slots=True)
class ListOptions:
    """``gemma-local models list``."""

    json: bool = False


@dataclass(kw_only=True, slots=True)
class InfoOptions:
    """``model`` is a name, the beginning of one, or a path, here as below."""

    model: str = ""
    json: bool = False


@dataclass(kw_only=True, slots=True)
class GetOptions:
    """``what``: a size of the catalogue, a repository, or ``REPOSITORY:FILE``."""

    what: str = ""
    revision: str | None = None
    drafter: bool = True
    projector: bool = False
    update: bool = False
    offline: bool = False
    yes: bool = False
    json: bool = False


@dataclass(kw_only=True, slots=True)
class AddOptions:
    """``copy``: into our own folder, in place of a reference."""

    files: list[str] = field(default_factory=list)
    copy: bool = False
    json: bool = False


@dataclass(kw_only=True, slots=True)
class RemoveOptions:
    """``unfinished``: what there is of downloads that did not come to their end, too. ``yes``: do
    not ask."""

    models: list[str] = field(default_factory=list)
    unfinished: bool = False
    yes: bool = False


@dataclass(kw_only=True, slots=True)
class VerifyOptions:
    """No models: all that can be used."""

    models: list[str] = field(default_factory=list)
    json: bool = False


@dataclass(kw_only=True, slots=True)
class ExportOptions:
    """``drafter``: with the drafter that fits, where there is one."""

    folder: str = ""
    models: list[str] = field(default_factory=list)
    drafter: bool = True
    json: bool = False


@dataclass(kw_only=True, slots=True)
class ImportOptions:
    """``folder`` is an export."""

    folder: str = ""
    json: bool = False


@dataclass(kw_only=True, slots=True)
class ScanOptions:
    """``add``: take in what is found."""

    add: bool = False
    json: bool = False


ModelsOptions: TypeAlias = (
    ListOptions
    | InfoOptions
    | GetOptions
    | AddOptions
    | RemoveOptions
    | VerifyOptions
    | ExportOptions
    | ImportOptions
    | ScanOptions
)
