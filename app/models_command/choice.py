"""Which files a word of a person stands for, as far as the catalogue knows."""

from __future__ import annotations

from dataclasses import dataclass

from gemma_local.app.errors import UsageError
from gemma_local.app.models_command.options import GetOptions
from gemma_local.app.own_catalog import own_catalog
from gemma_local.models.catalog import PublishedFile, Size, TargetFile, UnknownSize
from gemma_local.models.store.wanted import Snapshot, Wanted


@dataclass(frozen=True, slots=True)
class Choice:
    """The files of one model. ``target`` has all parts of a split one."""

    target: tuple[Wanted, ...]
    drafter: Wanted | None
    projector: Wanted | None
    snapshots: tuple[Snapshot, ...] = ()
    """What was looked up to make the choice, so that all comes from the same commits."""

    @property
    def wanted(self) -> tuple[Wanted, ...]:
        """All of them."""
        more = (self.drafter, self.projector)
        return (*self.target, *(file for file in more if file is not None))


def known_choice(options: GetOptions) -> Choice | None:
    """The choice for a size, a repository or a file of the catalogue; None for what is not in it.

    Raises:
        UsageError: it is no size and no repository, or a size has no projector.
    """
    if "/" not in options.what:
        if options.revision is not None:
            raise UsageError("--revision goes with a repository; give OWNER/NAME:FILE")
        try:
            size = own_catalog().size(options.what)
        except UnknownSize as error:
            raise UsageError(
                f"{error} A repository of the hub is given as OWNER/NAME or OWNER/NAME:FILE."
            ) from error
        return _choice(size, size.default, options)
    if options.revision is not None:
        return None
    repository, _, file = options.what.partition(":")
    for size in own_catalog().sizes:
        for target in size.targets:
            if target.repository == repository and file in ("", target.file):
                return _choice(size, target, options)
    return None


def known_checksums() -> frozenset[str]:
    """SHA-256 of every file of the catalogue."""
    files = [f for s in own_catalog().sizes for f in (*s.targets, *s.drafters, *s.projectors)]
    return frozenset(file.sha256 for file in files if file.sha256 is not None)


def _choice(size: Size, target: TargetFile, options: GetOptions) -> Choice:
    drafter = size.drafter_for(target) if options.drafter else None
    projector = size.projector_for(target) if options.projector else None
    if options.projector and projector is None:
        raise UsageError(f"no projector is known for {size.name}; leave --projector out")
    return Choice(
        _wanted(target).parts,
        None if drafter is None else _wanted(drafter),
        None if projector is None else _wanted(projector),
    )


def _wanted(file: PublishedFile) -> Wanted:
    return Wanted(file.repository, file.file, file.revision, file.bytes, file.sha256)
