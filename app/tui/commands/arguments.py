"""What may stand behind a command's name. Each raises ArgumentTypeError with what would do."""

from __future__ import annotations

from argparse import ArgumentTypeError
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Final, Literal

from gemma_local.app.agent.consent import MODES, Mode
from gemma_local.app.argument_values import one_of, whole

MODE_WORDS: Final[dict[str, Mode]] = {mode: mode for mode in MODES}


@dataclass(frozen=True, slots=True)
class CopyWhat:
    """What to copy: the last answer, the ``number``-th block of code in it from 1 on (0: the
    last one), or the whole conversation."""

    kind: Literal["last", "code", "all"] = "last"
    number: int = 0


def copy_what(text: str) -> CopyWhat:
    """``code``, ``code N``, ``last`` or ``all``; nothing is the last answer."""
    match text.lower().split():
        case [] | ["last"]:
            return CopyWhat()
        case ["all"]:
            return CopyWhat("all")
        case ["code"]:
            return CopyWhat("code")
        case ["code", number]:
            return CopyWhat("code", whole(1, 9999)(number))
    raise ArgumentTypeError(f"give last, code, code N or all, not {text!r}")


def export_path(text: str) -> Path | None:
    """A file whose ending is one of a session's formats; nothing is None."""
    if not text:
        return None
    # Here: what writes sessions is needed when one is to be written.
    from gemma_local.app.sessions.exporting import ENDINGS

    path = Path(text.strip("\"'"))
    if path.suffix.lower() not in ENDINGS:
        raise ArgumentTypeError(f"give a file that ends in .md, .html or .json, not {text!r}")
    try:
        return path.expanduser()
    except RuntimeError as error:
        raise ArgumentTypeError(f"there is no home folder for {text!r}; give a path") from error


def switch(text: str) -> bool | None:
    """``on`` or ``off``; nothing is None."""
    return one_of("on", "off")(text.lower()) == "on" if text else None


def message_number(text: str) -> int | None:
    """The number of a message; nothing is None."""
    return whole(1, 1_000_000)(text) if text else None


def mode(text: str) -> Mode:
    """One of the modes."""
    return MODE_WORDS[one_of(*MODES)(text.lower())]


def one_line_text(text: str) -> str:
    """Text as one line."""
    return " ".join(text.split())


def among(names: Callable[[], Iterable[str]]) -> Callable[[str], str]:
    """A converter for one of many names, which says the nearest."""

    def convert(text: str) -> str:
        known = list(names())
        for name in known:
            if name.lower() == text.lower():
                return name
        near = get_close_matches(text.lower(), known, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
        raise ArgumentTypeError(f"there is no {text!r}; {hint}")

    return convert


def beginning(*words: str) -> Callable[[str], list[str]]:
    """Those of ``words`` that begin with what is typed, for completion."""

    def values(prefix: str) -> list[str]:
        return [word for word in words if word.lower().startswith(prefix.lower())]

    return values
