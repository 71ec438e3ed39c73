"""What the model must know and cannot see, said at the end of the person's next message.

Never in what stands before: that would have to be read again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from gemma_local.app.agent.consent import Mode
from gemma_local.app.agent.tools.todo import TodoList
from gemma_local.app.sessions.entry import Entry

MODE: Final = "mode"
"""A key of ``Entry.info`` of a person's message: "plan" if it was given in plan mode."""

_PLAN_BEGINS: Final = (
    "Plan mode is on: look, and change nothing. Answer with a plan of short numbered steps: which"
    " files, what becomes of them, and how it is checked."
)
_PLAN_ENDS: Final = "Plan mode is off: changes may be made."
_RESTORED: Final = (
    "Restored to how they were before: {names}. What you know of these files may be out of date;"
    " read them again before you change them."
)
_LIST: Final = "Your list of steps:\n{todos}"


@dataclass(slots=True)
class Notes:
    """``todos`` is the model's list. ``is_planning``: the model was told last that it plans."""

    todos: TodoList
    is_planning: bool = False
    _restored: list[str] = field(default_factory=list)

    @classmethod
    def after(cls, entries: Iterable[Entry], todos: TodoList) -> Notes:
        """As they are in a conversation that was had before."""
        said = [entry for entry in entries if entry.message.role == "user"]
        return cls(todos, bool(said) and said[-1].info.get(MODE) == "plan")

    def restored(self, names: Iterable[str]) -> None:
        """Files were brought back to an earlier state."""
        self._restored += [name for name in names if name not in self._restored]

    def with_notes(
        self, text: str, mode: Mode, live: Sequence[Entry]
    ) -> tuple[str, dict[str, Any]]:
        """The message as the model reads it, and what is kept with it. ``live`` is what the model
        reads of the conversation so far."""
        notes = []
        if mode == "plan" and not self.is_planning:
            notes.append(_PLAN_BEGINS)
        elif mode != "plan" and self.is_planning:
            notes.append(_PLAN_ENDS)
        self.is_planning = mode == "plan"
        if self._restored:
            notes.append(_RESTORED.format(names=", ".join(self._restored)))
            self._restored.clear()
        if self.todos.items and self.todos.done < len(self.todos.items) and not _has_list(live):
            notes.append(_LIST.format(todos=self.todos))
        info = {MODE: mode} if self.is_planning else {}
        return "\n\n".join([text, *(f"[{note}]" for note in notes)]), info


def _has_list(live: Sequence[Entry]) -> bool:
    """Whether the model still reads its last list."""
    return any(call.name == "todo" for entry in live for call in entry.message.calls)
