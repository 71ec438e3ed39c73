"""A session as Markdown that one can read as it stands.

What was said cannot run over into what follows: a message from the person is quoted, results are
in fences longer than any in them, and an answer's own fence that was left open is closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from gemma_local.app.fences import code, fenced
from gemma_local.app.sessions.entry import Entry, SessionInfo
from gemma_local.app.sessions.readable import arguments_text, ending, result_text, speaker

_FENCE: Final = re.compile(r" {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)")
_TAG: Final = re.compile(r"^( {0,3})(?=<[A-Za-z/!?])")


def as_markdown(info: SessionInfo, entries: Sequence[Entry]) -> str:
    """The session, thoughts folded away."""
    day = f"{info.created:%Y-%m-%d %H:%M} UTC"
    facts = " · ".join(part for part in (info.model, code(str(info.folder)), day) if part)
    parts = [f"# {_escaped(info.title)}", facts]
    if system := info.settings.get("system"):
        parts += ["## System", fenced(str(system))]
    for entry in entries:
        parts += _entry(entry)
    return "\n\n".join(parts) + "\n"


def contained(text: str) -> str:
    """Markdown that ends where it ends: an open fence is closed, and no line opens HTML."""
    lines, fence = [], ""
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if fence:
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
        elif match:
            fence = match[1]
        else:
            line = _TAG.sub(r"\1\\", line)
        lines.append(line)
    return "\n".join([*lines, fence] if fence else lines)


def _entry(entry: Entry) -> Iterator[str]:
    message, end = entry.message, ending(entry)
    name = code(message.tool) if message.role == "tool" and message.tool else ""
    yield f"## {f'Result of {name}' if name else speaker(entry)}"
    if message.thought:
        yield "<details><summary>Thought</summary>"
        yield fenced(message.thought, "text")
        yield "</details>"
    if message.role == "user" and entry.kind == "message":
        yield "\n".join(f"> {line}".rstrip() for line in message.text.split("\n"))
    elif message.role in ("tool", "system"):
        yield fenced(result_text(message), "text")
    elif message.text:
        yield contained(message.text)
    for call in message.calls:
        yield f"Calls {code(call.name)}:"
        if call.arguments:
            yield fenced(arguments_text(call), "text")
    if end:
        yield f"*({end})*"


def _escaped(line: str) -> str:
    return re.sub(r"([\\`*_\[\]<>#])", r"\\\1", line)
