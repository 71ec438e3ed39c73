"""Commands in a sandbox, each way of making one that this machine offers."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from gemma_local.app.agent.run.environment import without_secrets
from gemma_local.app.agent.run.sandbox import Offer, Opening, Sandbox, offered
from gemma_local.app.stop import Stop
from gemma_local.app.workspace.command import Command, Ended

HERE = offered()
WAYS = {
    "namespaces, Landlock, own processes": Offer(HERE.abi, True, True),
    "namespaces and Landlock": Offer(HERE.abi, True, False),
    "namespaces alone": Offer(0, True, True),
    "Landlock alone": Offer(HERE.abi),
    "bubblewrap": Offer(bubblewrap=HERE.bubblewrap or "bwrap"),
    "none": Offer(),
}


def is_here(offer: Offer) -> bool:
    """Whether this machine can do it."""
    return (
        sys.platform == "linux"
        and HERE.abi >= offer.abi
        and (HERE.has_namespaces or not offer.has_namespaces)
        and (HERE.has_own_processes or not offer.has_own_processes)
        and bool(HERE.bubblewrap) >= bool(offer.bubblewrap)
        and offer.is_any
        # Of root's devices only Landlock keeps it away.
        and not (offer.has_namespaces and not offer.abi and os.geteuid() == 0)
    )


def _ways(*names: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        "way",
        [
            pytest.param(
                name,
                marks=pytest.mark.skipif(not is_here(WAYS[name]), reason=f"there is no {name}"),
            )
            for name in names
        ],
    )


every_way = _ways(*(name for name in WAYS if name != "none"))
main_ways = _ways("namespaces, Landlock, own processes", "Landlock alone")


@dataclass(frozen=True)
class Confined:
    """A workspace with a sandbox around it, in a home that is made up."""

    root: Path
    outside: Path
    home: Path
    sandbox: Sandbox

    def run(
        self,
        text: str,
        *openings: Opening,
        timeout: float = 30,
        environment: dict[str, str] | None = None,
        stop: Stop | None = None,
        on_output: Callable[[str], None] | None = None,
    ) -> Ended:
        """Run a line of the shell in it."""
        words = self.sandbox.wrapped(["bash", "-c", text], self.root, frozenset(openings))
        given = self.sandbox.environment(without_secrets(os.environ)) | (environment or {})
        given |= {"OUTSIDE": str(self.outside)}
        return Command(
            words,
            self.root,
            timeout=timeout,
            environment=given,
            on_output=on_output,
            is_foreign=True,
        ).run(stop)


@contextmanager
def confined(
    folder: Path, monkeypatch: pytest.MonkeyPatch, way: str, *, has_network: bool = False
) -> Iterator[Confined]:
    """A workspace, a folder beside it, and a home with secrets, below ``folder``."""
    root, outside, home = folder / "project", folder / "outside", folder / "home"
    for each in (root, outside, home / ".ssh"):
        each.mkdir(parents=True)
    (outside / "file").write_text("theirs\n")
    (home / ".ssh" / "id_rsa").write_text("SECRET KEY\n")
    (home / ".netrc").write_text("SECRET PASSWORD\n")
    (home / "notes").write_text("no secret\n")
    monkeypatch.setenv("HOME", str(home))
    sandbox = Sandbox([root], offer=WAYS[way], has_network=has_network)
    try:
        yield Confined(root, outside, home, sandbox)
    finally:
        sandbox.close()
