"""A small task, done by the pair that a conversation is had with."""

from __future__ import annotations

from collections.abc import Sequence

from gemma_local.app.dialogue import Dialogue
from gemma_local.app.idle import Stopped
from gemma_local.app.live_answer import Listener
from gemma_local.app.quick_tasks import QuickTask, Source, TaskName, carry_out, plan
from gemma_local.app.stop import Stop
from gemma_local.models.message import Message
from gemma_local.models.prompt import Text


def do_task(
    dialogue: Dialogue, name: TaskName, source: Source, listener: Listener, stop: Stop
) -> tuple[QuickTask, str]:
    """The task as it was planned for this model's context, and the text that came of it.

    Raises TooLong, NoResult, EngineFailed, ContextFull, Stopped.
    """
    assistant, window = dialogue.assistant, dialogue.ready.context

    def count(text: str) -> int:
        return dialogue.engine.count([(Text(text),)])[0]

    def ask(messages: Sequence[Message], most_tokens: int) -> str:
        if stop.is_asked:
            raise Stopped
        answered = assistant.aside(
            messages, listener, stop, most_tokens=most_tokens, temperature=task.temperature
        )
        if answered.done.reason == "cancelled":
            raise Stopped
        return answered.message.text if answered.message is not None else ""

    assistant.wake()
    task = plan(name, source, window, count)
    return task, carry_out(task, ask, window, count)
