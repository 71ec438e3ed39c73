"""The tool with which the model keeps a list of what is to be done."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from gemma_local.app.agent.tool import Effect, Result, Step, ToolProblem
from gemma_local.app.agent.tools.arguments import declared
from gemma_local.app.stop import Stop
from gemma_local.models.message import Tool as Declaration
from gemma_local.models.message import Value

State = Literal["open", "doing", "done"]

_MOST: Final = 50
_LONGEST: Final = 200
_ITEM: Final = re.compile(r"\s*(?:[-*+]\s+|\d{1,3}[.)]\s+)?(?:\[(?P<mark>.?)\]\s*)?(?P<text>.*)")
_STATES: Final[dict[str, State]] = {
    **dict.fromkeys("xX✓✔", "done"),
    **dict.fromkeys("~->/.oO", "doing"),
}
_MARKS: Final[dict[State, str]] = {"open": "[ ]", "doing": "[~]", "done": "[x]"}


@dataclass(frozen=True, slots=True)
class Item:
    """One thing to do."""

    text: str
    state: State = "open"

    def __str__(self) -> str:
        return f"{_MARKS[self.state]} {self.text}"


class TodoList:
    """The list as the model last gave it, for the screen and for a conversation that is compacted:
    the list is true even if the message that it came in is gone."""

    def __init__(self) -> None:
        self.items: tuple[Item, ...] = ()

    def __str__(self) -> str:
        return "\n".join(map(str, self.items))

    @property
    def done(self) -> int:
        """How many items are done."""
        return sum(item.state == "done" for item in self.items)


class Todo:
    """``todo(items)``: the whole list each time."""

    def __init__(self, todos: TodoList) -> None:
        self._todos = todos

    @property
    def declaration(self) -> Declaration:
        """As the model reads it."""
        return declared(
            "todo",
            "Keep a plan of three or more steps. Give the whole list each time.",
            items=("strings", "[ ] open, [~] doing, [x] done"),
        )

    def step(self, arguments: Mapping[str, Value]) -> Step:
        """Raises ToolProblem."""
        given = arguments.get("items")
        if isinstance(given, str):
            given = [*given.split("\n")]
        if not isinstance(given, list) or not all(isinstance(each, str) for each in given):
            raise ToolProblem('"items" must be a list of texts such as "[ ] write the test"')
        items = tuple(item for item in map(_item, map(str, given)) if item.text)
        if len(items) > _MOST:
            raise ToolProblem(f"The list has {len(items)} items; keep it to {_MOST}.")
        return _Planning(self._todos, items)


@dataclass(frozen=True, slots=True)
class _Planning:
    todos: TodoList
    items: tuple[Item, ...]

    @property
    def effect(self) -> Effect:
        """A list of the model's own."""
        return Effect("plan", f"{len(self.items)} steps")

    def carry_out(self, stop: Stop, on_output: Callable[[str], None]) -> Result:
        """Never fails."""
        self.todos.items = self.items
        done, count = self.todos.done, len(self.items)
        if not count:
            return Result("The list is empty now.", "empty")
        doing = next((item for item in self.items if item.state == "doing"), None)
        coming = doing or next((item for item in self.items if item.state == "open"), None)
        text = f"{done} of {count} done."
        text += f" Now: {coming.text}" if coming else " All is done."
        return Result(text, f"{done} of {count} done")


def _item(written: str) -> Item:
    found = _ITEM.fullmatch(" ".join(written.split()))
    assert found is not None
    return Item(found["text"][:_LONGEST], _STATES.get(found["mark"] or "", "open"))
