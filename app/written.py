"""What a person wrote, and which parts of it they pasted."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Written:
    """A text in full. ``pastes`` are the parts of it that are shown as one short mark, as
    (start, end), in order and apart from each other."""

    text: str = ""
    pastes: tuple[tuple[int, int], ...] = ()

    def to_json(self) -> str:
        """One line of ASCII."""
        plain: dict[str, Any] = {"text": self.text}
        if self.pastes:
            plain["pastes"] = [list(span) for span in self.pastes]
        return json.dumps(plain)


def read_written(line: str | bytes) -> Written | None:
    """What ``Written.to_json`` wrote, None if it is damaged."""
    try:
        plain = json.loads(line)
        text, spans = plain["text"], [(start, end) for start, end in plain.get("pastes", ())]
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    edges = [edge for span in spans for edge in span]
    if not isinstance(text, str) or not all(type(edge) is int for edge in edges):
        return None
    is_sound = edges == sorted(edges) and all(0 <= edge <= len(text) for edge in edges)
    return Written(text, tuple(spans)) if is_sound else None


def file_stem(folder: Path) -> str:
    """A file's name for what was written in ``folder``: readable, and one of its own."""
    path = str(folder.resolve())
    name = "".join(c for c in folder.resolve().name if c.isalnum() or c in "-_")[:32]
    return (
        f"{name or 'root'}-{hashlib.sha256(path.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
    )
