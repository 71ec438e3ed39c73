"""What changes about a file besides its lines."""

from __future__ import annotations

from typing import Final

from gemma_local.app.agent.file_diff import FileDiff

NO_NEWLINE: Final = "no newline at the end"
_MARK: Final = "\ufeff"


def comparable(diff: FileDiff) -> tuple[list[str], list[str]]:
    """The lines of both texts, without byte order marks and line ends: what ``notes_of`` says is
    not said again line by line. Where both have line ends of two kinds, "\\r" stays in lines."""
    both_mixed = _ends(diff.before) == _ends(diff.after) == "mixed"
    return _lines(diff.before, both_mixed), _lines(diff.after, both_mixed)


def notes_of(diff: FileDiff) -> list[str]:
    """Sentences without a full stop; empty if there are only lines to show."""
    before, after = diff.before, diff.after
    if after is None:
        return ["deleted"]
    notes: list[str] = []
    if before is None:
        notes.append("new file" if after else "new file, empty")
    elif before == after:
        return ["no change"]
    else:
        if before.startswith(_MARK) != after.startswith(_MARK):
            change = "removed" if before.startswith(_MARK) else "added"
            notes.append(f"byte order mark {change}")
        ends_before, ends_after = _ends(before), _ends(after)
        if ends_before and ends_after and ends_before != ends_after:
            notes.append(f"line ends: {ends_before} become {ends_after}")
    had_newline = not before or _ends_with_newline(before)
    if after and not _ends_with_newline(after):
        notes.append("no newline at the end any more" if before and had_newline else NO_NEWLINE)
    elif after and not had_newline:
        notes.append("newline at the end added")
    return notes


def _ends_with_newline(text: str) -> bool:
    return text.endswith(("\n", "\r"))


def _ends(text: str | None) -> str:
    """The kind of line ends; empty without one."""
    text = text or ""
    both = text.count("\r\n")
    counts = {
        "CRLF": both,
        "LF": text.count("\n") - both,
        "CR": text.count("\r") - both if "\n" not in text else 0,
    }
    kinds = [name for name, count in counts.items() if count]
    return "mixed" if len(kinds) > 1 else "".join(kinds)


def _lines(text: str | None, keep_returns: bool) -> list[str]:
    text = (text or "").removeprefix(_MARK)
    if not keep_returns:
        text = text.replace("\r\n", "\n")
    if "\n" not in text:
        text = text.replace("\r", "\n")
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]
