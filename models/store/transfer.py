"""Models on a medium, for a machine without a network: an export, and its way into the library.

An export is a folder with the files and ``gemma-local-models.json``, which has the size and
SHA-256 of each. It is written last, so that an export without it was not finished.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from gemma_local.models.store.checksum import OnBytes, sha256_of
from gemma_local.models.store.disk import check_file_size, check_space, write_problem
from gemma_local.models.store.errors import BadTransfer
from gemma_local.models.store.file_record import FileRecord, write_json
from gemma_local.models.store.placing import place

MANIFEST: Final = "gemma-local-models.json"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Exported:
    """One file of an export."""

    file: str
    bytes: int
    sha256: str
    model: str
    """The model whose part it is, as it was called where it came from."""


def export_models(
    sources: Sequence[tuple[str, Path]], folder: Path, on_bytes: OnBytes | None = None
) -> list[Exported]:
    """Copy files into ``folder``; an export that is there already grows by them.

    Args:
        sources: each file with the name of the model that it belongs to.
        folder: made if it does not exist.
        on_bytes: hears of every piece.

    Raises:
        BadTransfer: two files would have the same name.
        StoreError: there is no room, or the file system does not hold files of that size.
    """
    names = [path.name for _, path in sources]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadTransfer(
            f"two of these models are files with the name {twice[0]}; export them into folders of "
            "their own"
        )
    there = {file.file: file for file in read_export(folder)} if _manifest(folder).exists() else {}
    sizes = {path: path.stat().st_size for _, path in sources}
    for path, size in sizes.items():
        check_file_size(folder, path.name, size)
    check_space(folder, sum(sizes.values()))
    for model, path in sources:
        digest = place(path, folder, on_bytes)
        there[path.name] = Exported(path.name, sizes[path], digest, model)
    files = sorted(there.values(), key=lambda file: file.file)
    try:
        write_json(
            _manifest(folder),
            {"version": _VERSION, "files": [asdict(file) for file in files]},
        )
    except OSError as error:
        raise write_problem(error, folder) from error
    return [there[path.name] for _, path in sources]


def read_export(folder: Path) -> list[Exported]:
    """What an export says it has. Raises BadTransfer."""
    manifest = _manifest(folder)
    try:
        content: Any = json.loads(manifest.read_text("utf-8"))
        files = [
            Exported(str(f["file"]), int(f["bytes"]), str(f["sha256"]), str(f["model"]))
            for f in content["files"]
        ]
        version = content["version"]
    except FileNotFoundError as error:
        raise BadTransfer(
            f"{folder} is no export: there is no {MANIFEST} in it. Make one with `gemma-local "
            "models export`; single files are taken in with `gemma-local models add`."
        ) from error
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadTransfer(f"{manifest} cannot be read ({error}); make the export anew") from error
    if version != _VERSION:
        raise BadTransfer(
            f"{folder} was exported by another version of gemma-local; update this one"
        )
    for file in files:
        if Path(file.file).name != file.file or file.file in ("", ".", ".."):
            raise BadTransfer(f"{manifest} names {file.file!r}, which lies outside of the export")
    return files


def import_models(
    folder: Path, target: Path, verified: FileRecord, on_bytes: OnBytes | None = None
) -> list[Path]:
    """Copy the files of an export into ``target``, each checked against its checksum on the way.

    Files that are in ``target`` already, with the same checksum, are left as they are.

    Returns:
        The paths of all of them in ``target``.

    Raises:
        BadTransfer: it is no export, a file is missing, or another file has its name in ``target``.
        WrongContent: a file's content is not what was exported. Those before it stay.
        StoreError: there is no room, or something cannot be read.
    """
    files = read_export(folder)
    missing = [file.file for file in files if not (folder / file.file).is_file()]
    if missing:
        raise BadTransfer(
            f"{folder} lacks {', '.join(missing[:3])}, which belongs to the export; copy all of it"
        )
    new = [file for file in files if not (target / file.file).exists()]
    for file in files:
        path = target / file.file
        if file not in new and (verified.get(path) or sha256_of(path)) != file.sha256:
            raise BadTransfer(
                f"{path} exists and is another file; delete that model first (gemma-local models "
                "rm)"
            )
    check_space(target, sum(file.bytes for file in new))
    for file in new:
        digest = place(folder / file.file, target, on_bytes, sha256=file.sha256)
        verified.put(target / file.file, digest)
    return [target / file.file for file in files]


def _manifest(folder: Path) -> Path:
    return folder / MANIFEST
