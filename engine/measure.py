"""What llama.cpp itself would allocate for a pair, asked without loading it.

A second or two, most of it for the vocabularies. llama.cpp may throw and, with files that fit
nothing, abort, so a process of its own is asked (`planned_buffers`), and llama.cpp is not loaded
into this one. Answers are kept in a folder.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gemma_local.engine.environment import engine_environment
from gemma_local.engine.saved_states import file_identity
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.footprint import Use

_TIMEOUT: Final = 120
"""Seconds; a header on a slow disk takes a few."""
_FORM: Final = 1
"""Number of the form of kept answers; another one is asked again."""
REFUSED: Final = "refused"
"""The key of an answer that is a sentence: why there are no figures. An exit status would not do,
because what aborts or crashes has one, too, and on each system another."""


class NotMeasured(GemmaLocalError):
    """llama.cpp could not be asked, or gave no answer; the estimate has to do."""


@dataclass(frozen=True, slots=True)
class Buffers:
    """Bytes of one context's buffers, to about 5 kB."""

    compute_host: int
    compute_device: int
    caches: tuple[tuple[int, int], ...]
    """Cells of one sequence and bytes of each cache, that of the full layers first. Of a drafter
    nothing, because it reads its target's."""


@dataclass(frozen=True, slots=True)
class Measured:
    """The buffers of a pair."""

    target: Buffers
    drafter: Buffers | None


def measure(target: Path, drafter: Path | None, use: Use, folder: Path) -> Measured:
    """Ask llama.cpp, or the answer that it gave before in ``folder`` for the same files and use.

    Args:
        target, drafter: paths of the files.
        use: threads, the projector and the room for checkpoints do not matter here.
        folder: is made if it is missing. One that cannot be written to only costs time.

    Raises:
        NotMeasured: the files cannot be used, or the process died or took more than two minutes.
    """
    question = question_of(target, drafter, use)
    try:
        identity = [file_identity(path) for path in (target, drafter) if path is not None]
    except OSError as error:
        raise NotMeasured(f"{error.filename} cannot be read: {error.strerror}") from error
    key = json.dumps([_FORM, _library_identity(), identity, question])
    kept = folder / f"buffers-{hashlib.sha256(key.encode()).hexdigest()[:32]}.json"
    answer = _read_answer(kept)
    if answer is None:
        raw = _ask(question)
        answer = _parse(raw)
        if answer is None:
            if (why := _refusal(raw)) is not None:
                raise NotMeasured(why)
            raise NotMeasured("llama.cpp gave no readable answer about the memory that it needs")
        _keep(kept, raw)
    return answer


def question_of(target: Path, drafter: Path | None, use: Use) -> dict[str, Any]:
    """What the answer depends on, apart from what the files hold."""
    return {
        "target": str(target.resolve()),
        "drafter": str(drafter.resolve()) if drafter else None,
        "context": use.context,
        "sequences": use.sequences,
        "kv_type": use.kv_type,
        "ubatch": use.ubatch,
        "rows": use.rows,
        "gpu_layers": use.gpu_layers,
    }


def _library_identity() -> str:
    """What tells one build of llama.cpp from another, without loading it."""
    spec = importlib.util.find_spec("llama_cpp")
    if spec is None or spec.origin is None:
        raise NotMeasured("llama-cpp-python is not installed")
    files = sorted((Path(spec.origin).parent / "lib").glob("*llama.*"))
    builds = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    return f"{importlib.metadata.version('llama-cpp-python')} {builds}"


def _ask(question: Mapping[str, Any]) -> str:
    # -P: the person's working directory must not shadow our modules.
    program = (sys.executable, "-P", "-m", "gemma_local.engine.planned_buffers")
    try:
        done = subprocess.run(
            [*program, json.dumps(question)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT,
            env=engine_environment(),
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise NotMeasured(
            f"llama.cpp did not say within {_TIMEOUT} seconds how much memory it needs"
        ) from None
    except OSError as error:
        raise NotMeasured(f"the measuring process cannot be started: {error.strerror}") from error
    if done.returncode:
        raise NotMeasured(
            f"the process that asked llama.cpp for the memory it needs ended with status "
            f"{done.returncode}"
        )
    return done.stdout


def _read_answer(kept: Path) -> Measured | None:
    try:
        return _parse(kept.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def _keep(kept: Path, raw: str) -> None:
    # Only a convenience: a folder that cannot be written to must not cost the answer.
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        unfinished = kept.with_suffix(f".{os.getpid()}")
        unfinished.write_text(raw, encoding="utf-8")
        unfinished.replace(kept)
    except OSError:
        return


def _parse(raw: str) -> Measured | None:
    try:
        answer = json.loads(raw)
        target, drafter = (_buffers(answer[which]) for which in ("target", "drafter"))
    except (ValueError, TypeError, KeyError):
        return None
    return Measured(target, drafter) if target else None


def _refusal(raw: str) -> str | None:
    try:
        return str(json.loads(raw)[REFUSED])
    except (ValueError, TypeError, KeyError):
        return None


def _buffers(fields: Mapping[str, Any] | None) -> Buffers | None:
    if fields is None:
        return None
    caches = tuple((int(cells), int(size)) for cells, size in fields["caches"])
    return Buffers(int(fields["compute_host"]), int(fields["compute_device"]), caches)
