"""What a command may do at most."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any, Final

REFUSED: Final = "gemma-local: the sandbox could not be set up: "
"""What is printed, with the reason, instead of running a command without it."""
NOT_SET_UP: Final = 126
"""The status then."""


@dataclass(frozen=True, slots=True)
class Confinement:
    """All paths are absolute and free of links.

    Everything can be read but ``hidden``, of which ``shown`` can be all the same; only what lies
    below ``writable`` can be changed, and of that not ``guarded``; nothing can take the place of
    ``pinned``. ``folder`` is where the command starts. ``abi`` is the version of Landlock to use, 0
    for none; ``has_namespaces``: file systems (and the network, and with ``has_own_processes`` the
    processes) are a view of its own.
    """

    folder: str
    writable: tuple[str, ...]
    hidden: tuple[str, ...] = ()
    guarded: tuple[str, ...] = ()
    has_network: bool = False
    abi: int = 0
    has_namespaces: bool = False
    has_own_processes: bool = False
    pinned: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()

    def to_json(self) -> str:
        """In one line."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Confinement:
        """What ``to_json`` wrote."""
        values: dict[str, Any] = json.loads(text)
        for name in ("writable", "hidden", "guarded", "pinned", "shown"):
            values[name] = tuple(values[name])
        return cls(**values)
