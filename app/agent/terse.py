"""Tools as the smallest model reads them: a sentence each, and arguments that are names alone.

The built-in pair was trained on exactly these declarations, and more words would only cost it time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from gemma_local.app.agent.tool import Step, Tool
from gemma_local.models.message import Tool as Declaration
from gemma_local.models.message import Value


class Terse:
    """A tool under a shorter declaration."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool

    @property
    def declaration(self) -> Declaration:
        """The tool's own, up to the end of its first sentence, without what arguments mean."""
        own = self._tool.declaration
        properties = {
            name: {key: value for key, value in schema.items() if key != "description"}
            for name, schema in own.parameters["properties"].items()
        }
        first = own.description.partition(". ")[0].rstrip(".")
        return replace(
            own, description=f"{first}.", parameters={**own.parameters, "properties": properties}
        )

    def step(self, arguments: Mapping[str, Value]) -> Step:
        """Raises ToolProblem."""
        return self._tool.step(arguments)
