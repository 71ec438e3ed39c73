"""The tool that writes a whole file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gemma_local.app.agent.files.reading import data_if_there, text_in
from gemma_local.app.agent.files.text_file import TextFile, digest_of
from gemma_local.app.agent.tool import Step, ToolProblem
from gemma_local.app.agent.tools.arguments import declared, text_of
from gemma_local.app.agent.tools.change import changed, check_placeholder, check_writable
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.models.message import Tool as Declaration
from gemma_local.models.message import Value

_MOST: Final = 1_000_000
_FENCED: Final = re.compile(r"\s*(`{3,}|~{3,})[\w+-]*\n(?P<inside>.*\n)\1\s*", re.DOTALL)
_MAY_BE_FENCED: Final = (".md", ".markdown", ".mdx", ".rst", ".txt", "")


class Write:
    """``write(path, content)``."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def declaration(self) -> Declaration:
        """As the model reads it."""
        return declared(
            "write",
            "Make a new file, or rewrite one of up to 150 lines that was read. Folders are made.",
            path=("string", ""),
            content=("string", "all of the file"),
        )

    def step(self, arguments: Mapping[str, Value]) -> Step:
        """Raises ToolProblem."""
        content = text_of(arguments, "content")
        if len(content) > _MOST:
            raise ToolProblem(f'"content" has {len(content):,} characters; at most {_MOST:,} go.')
        kit = self._kit
        place = kit.workspace.writing(text_of(arguments, "path"))
        check_writable(place)
        note = ""
        if place.path.suffix.lower() not in _MAY_BE_FENCED and (
            found := _FENCED.fullmatch(content)
        ):
            content, note = found["inside"], ", without the fence around it"
        data = data_if_there(place)
        before = None if data is None else text_in(data, place)
        known = "" if before is None else before.text
        if data:
            kit.seen.check(place.path, place.shown, digest_of(data), whole=True)
        check_placeholder(content, known)
        if before is None or not data:
            after = TextFile(content)
        else:
            if known.endswith("\n") and content and not content.endswith("\n"):
                content += "\n"
            after = before.rewritten(content)
            if after.encoding != before.encoding:
                note += f", now UTF-8 instead of {before.encoding.upper()}"
        return changed(kit, place, data, before, after, note=note, is_whole=True)
