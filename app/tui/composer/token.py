"""What the word at the cursor is the beginning of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["message", "command", "shell"]
"""What a text is: for the model, for the app, or for the shell."""

_COMMAND: Final = re.compile(r"/[A-Za-z][A-Za-z-]*(?=\s|\Z)")
_COMMAND_BEGUN: Final = re.compile(r"/([A-Za-z][A-Za-z-]*)?\Z")
_ARGUMENT_BEGUN: Final = re.compile(r"/([A-Za-z][A-Za-z-]*)\s+(\S*)\Z")
_FILE_BEGUN: Final = re.compile(r'(?<![^\s(\[{<"\'`,;])@(?:"([^"\n]*)|([^\s"]*))\Z')


@dataclass(frozen=True, slots=True)
class Token:
    """The columns from ``start`` to the cursor hold the beginning of a command's name, of its
    argument, or of a file's path. ``query`` is what is there of it; ``command`` whose argument."""

    kind: Literal["command", "argument", "file"]
    query: str
    start: int
    command: str = ""


def kind_of(text: str) -> Kind:
    """What ``text`` is. A path such as /etc/hosts is no command."""
    if text.startswith("!"):
        return "shell"
    return "command" if _COMMAND.match(text) else "message"


def is_lone_mark(text: str) -> bool:
    """Whether ``text`` is the "!" of a line for the shell without such a line."""
    return text.strip() == "!" and kind_of(text) == "shell"


def token_before(before: str, *, is_first_line: bool, is_shell: bool) -> Token | None:
    """The token that ``before``, the line up to the cursor, ends with."""
    if is_shell:
        return None
    if match := _FILE_BEGUN.search(before):
        return Token("file", match[1] if match[1] is not None else match[2], match.start())
    if is_first_line and (match := _COMMAND_BEGUN.match(before)):
        return Token("command", match[1] or "", 0)
    if is_first_line and (match := _ARGUMENT_BEGUN.match(before)):
        return Token("argument", match[2], match.start(2), match[1].lower())
    return None
