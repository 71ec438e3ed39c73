"""What a person asks of ``gemma-local sessions``, one class for each command."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TypeAlias


@dataclass(kw_only=True, slots=True)
class ListOptions:
    """``all``: of every folder. ``limit`` 0: no limit."""

    all: bool = False
    limit: int = 0
    json: bool = False


@dataclass(kw_only=True, slots=True)
class ShowOptions:
    """``session`` is an id, its beginning, or a title, here as below."""

    session: str = ""
    thoughts: bool = False
    json: bool = False


@dataclass(kw_only=True, slots=True)
class SearchOptions:
    """``here``: only in sessions of this folder."""

    words: list[str] = field(default_factory=list)
    here: bool = False
    limit: int = 50
    json: bool = False


@dataclass(kw_only=True, slots=True)
class ExportOptions:
    """``format`` "" goes by the end of the name ``out``, which is None for standard output."""

    session: str = ""
    format: str = ""
    out: str | None = None
    force: bool = False


@dataclass(kw_only=True, slots=True)
class ImportOptions:
    """``file`` "-" is standard input."""

    file: str = ""


@dataclass(kw_only=True, slots=True)
class RemoveOptions:
    """Sessions by name, or all, or those of all that were not used for a time."""

    sessions: list[str] = field(default_factory=list)
    all: bool = False
    older_than: timedelta | None = None
    yes: bool = False


@dataclass(kw_only=True, slots=True)
class RenameOptions:
    """The words of ``title`` are joined."""

    session: str = ""
    title: list[str] = field(default_factory=list)


@dataclass(kw_only=True, slots=True)
class BranchOptions:
    """``at``: the last message that the branch has, 0 for all."""

    session: str = ""
    at: int = 0


@dataclass(kw_only=True, slots=True)
class RepairOptions:
    """``yes``: set the damaged file aside without asking."""

    yes: bool = False


SessionsOptions: TypeAlias = (
    ListOptions
    | ShowOptions
    | SearchOptions
    | ExportOptions
    | ImportOptions
    | RemoveOptions
    | RenameOptions
    | BranchOptions
    | RepairOptions
)
