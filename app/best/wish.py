"""What a person asks for: how many attempts at what, and how they are judged."""

from __future__ import annotations

import re
import shlex
from argparse import ArgumentTypeError
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gemma_local.app.argument_values import whole
from gemma_local.app.options import MOST_ATTEMPTS

if TYPE_CHECKING:
    # The command is listed before anybody reads files for it.
    from gemma_local.app.attachments import Attached

USAGE: Final = 'N [--judge "COMMAND"] TASK'

_LINE: Final = re.compile(r"(?P<count>\S+)(?:\s+(?P<rest>.*))?", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Wish:
    """``task`` is what the person wrote, ``attached`` the same with the files that it mentions,
    None where none are read. ``judge`` is the command that decides, "" for the one that the project
    is known by."""

    count: int
    task: str
    judge: str = ""
    attached: Attached | None = None

    @property
    def text(self) -> str:
        """What the model reads of the task."""
        return self.task if self.attached is None else self.attached.text

    @property
    def files(self) -> Sequence[tuple[int, int]]:
        """The parts of the text that came from files, as (start, end)."""
        return () if self.attached is None else self.attached.spans


def parse_wish(text: str) -> Wish:
    """What stands behind ``/best``, such as ``3 --judge "pytest -q" mend the parser``.

    Raises ArgumentTypeError with what would do.
    """
    found = _LINE.fullmatch(text.strip())
    if found is None:
        raise ArgumentTypeError(f"say how many attempts, and at what: {USAGE}")
    count, rest, judge = whole(2, MOST_ATTEMPTS)(found["count"]), (found["rest"] or "").strip(), ""
    if rest.startswith("--judge"):
        judge, rest = _first_word(rest.removeprefix("--judge").removeprefix("=").strip())
        if not judge.strip():
            raise ArgumentTypeError('--judge needs a command, such as --judge "pytest -q"')
    if not rest:
        raise ArgumentTypeError(f"say what is to be done: {USAGE}")
    return Wish(count, rest, judge.strip())


def _first_word(text: str) -> tuple[str, str]:
    """The first word, without quotes around it, and the rest. Raises ArgumentTypeError."""
    if text[:1] not in ("'", '"'):
        word, _, rest = text.partition(" ")
        return word, rest.strip()
    # As a shell would cut it, so that quotes within the command can be written.
    for end in range(1, len(text)):
        if text[end] == text[0] and (end + 1 == len(text) or text[end + 1].isspace()):
            try:
                [word] = shlex.split(text[: end + 1])
            except ValueError:
                continue
            return word, text[end + 1 :].strip()
    raise ArgumentTypeError(f"the command behind --judge has no closing {text[0]}")
