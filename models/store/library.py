"""The models on this machine: those in the hub's cache, in our own folder, and those pointed at."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final

import platformdirs

from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.errors import BadModelFile, GemmaLocalError
from gemma_local.models.given_path import given_path
from gemma_local.models.pair import DRAFTER_FOLDER, check_pair, find_drafter
from gemma_local.models.store.checksum import OnBytes
from gemma_local.models.store.disk import check_space, write_problem
from gemma_local.models.store.errors import NoSuchModel, StoreError
from gemma_local.models.store.file_record import FileRecord, fingerprint, write_json
from gemma_local.models.store.hub_cache import HubCache
from gemma_local.models.store.model_file import ModelFile, Origin, read_header
from gemma_local.models.store.placing import place
from gemma_local.models.store.split import first_part, part_names, stem
from gemma_local.models.target import inspect_target

_ADDED: Final = "added.json"
_FILES: Final = "files"


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a file was found, before it has a name."""

    path: Path
    origin: Origin
    where: str
    title: str


class Library:
    """The models of one folder, which also has our own copies and what is known about files.

    Files are told apart by what is in them, never by their names.
    """

    def __init__(self, folder: Path | None = None, cache: HubCache | None = None) -> None:
        """``folder`` is ours in the user's data folder unless given."""
        self.folder = (
            folder or platformdirs.user_data_path("gemma-local", appauthor=False) / "models"
        )
        self.cache = cache or HubCache()
        self.verified = FileRecord(self.folder / "verified.json")
        """SHA-256 (or git's checksum) of files that were hashed."""
        self._headers = FileRecord(self.folder / "headers.json")
        self._pairs = FileRecord(self.folder / "pairs.json")

    @property
    def files(self) -> Path:
        """Where our own copies lie."""
        return self.folder / _FILES

    def models(self) -> list[ModelFile]:
        """Every file, also those that cannot be used, in the order of their names. Of the same
        file in several places, one."""
        places: dict[Path, _Place] = {}
        for found in self._places():
            first = found.path.with_name(first_part(found.path.name))
            # A later part is listed only where its model is not: it is of no use then.
            if first == found.path or not first.is_file():
                places.setdefault(found.path.resolve(), found)
        names = _names(list(places.values()))
        entries = [
            ModelFile(
                name=names[found],
                path=found.path,
                origin=found.origin,
                where=found.where,
                header=read_header(found.path, self._headers),
            )
            for found in places.values()
        ]
        self._headers.flush()
        return sorted(entries, key=lambda entry: entry.name.casefold())

    def look_at(self, path: Path, name: str = "", where: str = "") -> ModelFile:
        """What a file would be as a model of the library, which does not take it in. ``name`` and
        ``where`` are what to call it and the place where it lies."""
        header = read_header(path, self._headers)
        self._headers.flush()
        return ModelFile(name or stem(path.name), path, "added", where or str(path.parent), header)

    def find(self, name: str) -> ModelFile:
        """The model with this name, or the one at this path, or the only one whose name begins so
        or that has this size (``E2B``). Raises NoSuchModel."""
        entries = self.models()
        typed = name.casefold()
        path = given_path(name)
        for match in (
            [entry for entry in entries if entry.name.casefold() == typed],
            [e for e in entries if path.exists() and e.path.resolve() == path.resolve()],
            [entry for entry in entries if entry.name.casefold().startswith(typed)],
            [e for e in entries if e.is_gemma4 and e.header.size_label.casefold() == typed],
        ):
            if len(match) == 1:
                return match[0]
            if match:
                raise NoSuchModel(
                    f"{name!r} may be {len(match)} models "
                    f"({', '.join(entry.name for entry in match[:5])}); give more of the name"
                )
        near = get_close_matches(name, [entry.name for entry in entries], n=1, cutoff=0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise NoSuchModel(f"there is no model {name!r}{hint} (gemma-local models list shows all)")

    def drafters(
        self, models: Iterable[ModelFile], entries: Sequence[ModelFile]
    ) -> dict[str, Path | None]:
        """By name, a drafter that fits each of ``models``: one beside it, else the smallest of the
        library; None where there is none.

        ``entries`` are those of `models`. Reading the headers of a pair takes tenths of a second,
        so the answers are kept for as long as there are the same files.
        """
        known = [entry.path for entry in entries if entry.header.kind == "drafter"]
        everywhere = fingerprint(known)
        beside: dict[Path, str] = {}
        found: dict[str, Path | None] = {}
        for model in models:
            found[model.name] = None
            if not model.is_gemma4:
                continue
            folder = model.path.parent
            if folder not in beside:
                beside[folder] = fingerprint(_beside(folder))
            around = everywhere + beside[folder]
            kept = self._pairs.get(model.path)
            if not isinstance(kept, list) or kept[0] != around:
                fitting = _fitting(model.path, known)
                kept = [around, None if fitting is None else str(fitting)]
                self._pairs.put(model.path, kept, later=True)
            found[model.name] = None if kept[1] is None else Path(kept[1])
        self._pairs.flush()
        return found

    def drafter_for(self, model: ModelFile, entries: Sequence[ModelFile]) -> Path | None:
        """As `drafters`, for one model."""
        return self.drafters([model], entries)[model.name]

    # ------------------------------------------------------------------------------- changes

    def add(self, path: Path, *, name: str = "", copy: bool = False,
            on_bytes: OnBytes | None = None) -> ModelFile:  # fmt: skip
        """Take a file in: by reference, or as a copy with all its parts.

        Args:
            path: a GGUF file, of a split model the first part.
            name: what to call it, where its file name says nothing; the name must be free.
            on_bytes: hears of what is copied.

        Raises:
            BadModelFile: it is none that could be used.
            StoreError: it cannot be written.
        """
        path = given_path(path).absolute()
        header = read_header(path, self._headers)
        if header.kind == "unusable":
            raise BadModelFile(header.problem)
        if copy:
            parts = [path.with_name(part) for part in part_names(path.name)]
            check_space(self.files, sum(part.stat().st_size for part in parts))
            for part in parts:
                target = self.files / part.name
                if target.exists():
                    raise StoreError(
                        f"{target} exists; delete that model first, or rename the file"
                    )
            for part in parts:
                self.verified.put(self.files / part.name, place(part, self.files, on_bytes))
            path = self.files / path.name
        else:
            added = self._added()
            added[str(path)] = name
            self._save_added(added)
        wanted = path.resolve()
        return next(entry for entry in self.models() if entry.path.resolve() == wanted)

    def remove(self, model: ModelFile) -> int:
        """Delete a model of the hub's cache or of our own folder, or forget one that a person keeps
        elsewhere. Returns the bytes that this frees. Raises StoreError."""
        for path in model.paths:
            self.verified.forget(path)
        try:
            if model.origin == "hub":
                return self.cache.delete(model.paths)
            if model.origin == "store":
                sizes = [path.stat().st_size for path in model.paths]
                for path in model.paths:
                    path.unlink()
                return sum(sizes)
        except OSError as error:
            raise write_problem(error, model.path.parent) from error
        added = {path: name for path, name in self._added().items() if Path(path) != model.path}
        self._save_added(added)
        return 0

    # -------------------------------------------------------------------------------- inside

    def _places(self) -> Iterator[_Place]:
        for path in sorted(self.files.glob("*.gguf")):
            yield _Place(path, "store", str(self.files), stem(path.name))
        for cached in self.cache.models():
            title = stem(Path(cached.file).name)
            yield _Place(cached.path, "hub", f"{cached.repository}@{cached.commit[:8]}", title)
        for text, name in self._added().items():
            path = Path(text)
            yield _Place(path, "added", str(path.parent), name or stem(path.name))

    def _added(self) -> dict[str, str]:
        try:
            content = json.loads((self.folder / _ADDED).read_text("utf-8"))
            return {str(path): str(name) for path, name in content["files"].items()}
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, AttributeError, TypeError) as error:
            raise StoreError(
                f"{self.folder / _ADDED}, the list of added models, cannot be read ({error}). "
                "Repair or delete it; the models themselves are untouched."
            ) from error

    def _save_added(self, added: dict[str, str]) -> None:
        try:
            write_json(self.folder / _ADDED, {"version": 1, "files": added})
        except OSError as error:
            raise write_problem(error, self.folder) from error


def _names(places: Sequence[_Place]) -> dict[_Place, str]:
    """A name for each: its title; where several have that, with the folder or repository; where
    this is not enough, with digits that follow from the path, so that they stay."""
    names = {place: place.title for place in places}
    for make in (_with_home, _with_digits):
        counts = Counter(name.casefold() for name in names.values())
        names = {
            place: make(place) if counts[name.casefold()] > 1 else name
            for place, name in names.items()
        }
    return names


def _with_home(place: _Place) -> str:
    home = place.where.partition("@")[0] if place.origin == "hub" else str(place.path.parent)
    return f"{place.title}@{Path(home).name}"


def _with_digits(place: _Place) -> str:
    digits = hashlib.sha256(str(place.path).encode("utf-8", "surrogateescape")).hexdigest()
    return f"{_with_home(place)}-{digits[:4]}"


def _beside(folder: Path) -> list[Path]:
    """What `find_drafter` looks at for a model in ``folder``."""
    folders = (folder, folder / DRAFTER_FOLDER)
    return sorted(path for place in folders for path in place.glob("*.gguf"))


def _fitting(model: Path, drafters: Sequence[Path]) -> Path | None:
    try:
        target = inspect_target(model)
    except GemmaLocalError:
        return None
    if (beside := find_drafter(target)) is not None:
        return beside.path
    fitting = []
    for path in drafters:
        try:
            drafter = inspect_drafter(path)
            check_pair(target, drafter)
        except GemmaLocalError:
            continue
        fitting.append((drafter.file_size, path))
    return min(fitting, default=(0, None))[1]
