"""What a person asks of ``gemma-local config``, one class for each command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias


@dataclass(kw_only=True, slots=True)
class ShowOptions:
    """``given`` are options of ``gemma-local`` itself, by the names of their fields, to see what
    they change; ``changed``: only what is not as it comes."""

    changed: bool = False
    json: bool = False
    given: Mapping[str, Any] = field(default_factory=dict)


@dataclass(kw_only=True, slots=True)
class InitOptions:
    """``print``: to standard output, not into the file."""

    print: bool = False


@dataclass(kw_only=True, slots=True)
class SchemaOptions:
    """There is nothing to choose."""


ConfigOptions: TypeAlias = ShowOptions | InitOptions | SchemaOptions
