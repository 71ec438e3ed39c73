"""A small task as the desk does it."""

from __future__ import annotations

from collections.abc import Callable

from gemma_local.app.dialogue import Dialogue
from gemma_local.app.idle import Stopped
from gemma_local.app.quick_tasks import Source, TaskName
from gemma_local.app.stop import Stop
from gemma_local.app.task_run import do_task
from gemma_local.app.tui.ear import TaskEar
from gemma_local.app.tui.news import News, TaskDone
from gemma_local.app.unexpected import log_unexpected
from gemma_local.models.errors import GemmaLocalError


def do_task_job(
    dialogue: Dialogue,
    number: int,
    name: TaskName,
    source: Source,
    tell: Callable[[News], None],
    stop: Stop,
) -> None:
    """Do it, and tell what came of it as task ``number``."""
    ear = TaskEar(tell, number)
    try:
        task, text = do_task(dialogue, name, source, ear, stop)
    except Stopped:
        tell(TaskDone(number, "", "stopped"))
    except GemmaLocalError as error:
        tell(TaskDone(number, "", str(error)))
    except Exception as error:  # noqa: BLE001 - whatever it is
        # It must not look as if it went on.
        tell(TaskDone(number, "", log_unexpected(error)))
    else:
        tell(TaskDone(number, text, task.note))
