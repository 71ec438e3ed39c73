"""Messages on their way to the model: with files read, and what commands printed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from gemma_local.app.attachments import Attached, attach
from gemma_local.app.fences import code, fenced
from gemma_local.app.workspace.command import Ended

PRINTED_MOST: Final = 8_000
"""Characters of a command's output that go to the model: the beginning and, since errors come
last, rather more of the end."""
_HEAD: Final = 0.4


@dataclass(frozen=True, slots=True)
class Printed:
    """A command that the person ran, and how it ended."""

    command: str
    ended: Ended

    def for_model(self) -> str:
        """What the model reads of it."""
        output = self.ended.output.strip("\n")
        if len(output) > PRINTED_MOST:
            head, tail = int(PRINTED_MOST * _HEAD), int(PRINTED_MOST * (1 - _HEAD))
            left_out = len(output) - head - tail
            output = f"{output[:head]}\n[{left_out} characters left out]\n{output[-tail:]}"
        status = self.ended.status
        ending = "" if status == 0 else f" (exit status {status})"
        return f"I ran {code(self.command)}{ending}. It printed:\n{fenced(output)}"


def prepared(
    text: str, folder: Path, printed: list[Printed], *, may_read_secrets: bool = False
) -> Attached:
    """A message with the files that it mentions behind it, and before it what commands printed.

    Reads files: not for the thread that draws. Raises Unreadable, Sensitive.
    """
    attached = attach(text, folder, may_read_secrets=may_read_secrets)
    if not printed:
        return attached
    before = "".join(f"{run.for_model()}\n\n" for run in printed)
    shift = len(before)
    spans = ((0, shift), *((start + shift, end + shift) for start, end in attached.spans))
    return replace(attached, text=before + attached.text, spans=spans)
