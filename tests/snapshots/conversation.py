"""What was said, in the scenes of a conversation."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from gemma_local.app.agent.consent import Proposal
from gemma_local.app.agent.events import Outcome, ToolEnded, ToolOutput, ToolStarted
from gemma_local.app.agent.file_diff import FileDiff
from gemma_local.app.context_window import ContextUse, Window
from gemma_local.app.plain_speed import Gain
from gemma_local.app.tui.status.status import Status
from gemma_local.app.tui.transcript.answer_item import AnswerItem
from gemma_local.app.tui.transcript.divider_item import DividerItem
from gemma_local.app.tui.transcript.item import Item
from gemma_local.app.tui.transcript.notice_item import NoticeItem
from gemma_local.app.tui.transcript.person_item import PersonItem
from gemma_local.app.tui.transcript.summary_item import SummaryItem
from gemma_local.app.tui.transcript.tool_item import ToolItem
from gemma_local.models.message import Message

STATUS: Final = replace(
    Status(model="E4B", pair="ready", label="exact").filled(
        ContextUse(Window(32768), 812, 1440, 3000, 6100)
    ),
    tokens_per_second=17.8,
    acceptance=0.69,
    tokens_per_pass=3.08,
    gain=Gain(38.2, 14.8, measured=True),
)
LIVE: Final = replace(
    STATUS,
    is_decoding=True,
    course=(14.1, 15.9, 17.2, 16.8, 18.4, 19.0, 18.2, 17.5, 17.8),
    queued=2,
)

BEFORE: Final = '''\
"""Readings of the weather stations."""

import csv
from pathlib import Path


def read(path: Path) -> list[float]:
    """The temperatures of a file, in degrees Celsius."""
    with path.open() as file:
        rows = csv.reader(file)
        return [float(row[2]) for row in rows]


def mean(values: list[float]) -> float:
    return sum(values) / len(values)
'''
AFTER: Final = BEFORE.replace(
    "        rows = csv.reader(file)\n        return [float(row[2]) for row in rows]\n",
    "        rows = csv.reader(file)\n"
    "        next(rows, None)\n"
    "        return [float(row[2]) for row in rows if row[2]]\n",
).replace(
    "    return sum(values) / len(values)\n",
    "    return sum(values) / len(values) if values else float('nan')\n",
)
CHANGE: Final = FileDiff("src/readings.py", BEFORE, AFTER)

_THOUGHT: Final = (
    "The first row holds names, so float() fails on it. An empty field fails, too. And an empty "
    "file divides by zero."
)
_ANSWER: Final = """\
`read` takes the row of names for numbers, and a station that was **silent** leaves an empty field:

```python
rows = csv.reader(file)
next(rows, None)  # the names
return [float(row[2]) for row in rows if row[2]]
```

| file | rows | silent | mean |
|:-----|-----:|-------:|-----:|
| `north.csv` | 8,760 | 12 | 7.4 °C |
| `south.csv` | 8,760 | 0 | 11.9 °C |
| `pass.csv` | 2,190 | 317 | -3.1 °C |

1. Skip the first row.
2. Leave empty fields out:
   - they are *not* zeros,
   - and `nan` would spoil the mean.
3. Say what the mean of nothing is; see [math.nan](https://docs.python.org/3/library/math.html).

> A reading that is missing is not a reading of zero.
"""
_FAILED: Final = (
    "============================= test session starts ==============================\n"
    "collected 14 items\n"
    "\n"
    "tests/test_readings.py ............\x1b[31mF\x1b[0m.                               [100%]\n"
    "\n"
    "    def test_an_empty_file() -> None:\n"
    "\x1b[31m>       assert mean([]) == 0.0\x1b[0m\n"
    "\x1b[31mE       assert nan == 0.0\x1b[0m\n"
    "\x1b[31m1 failed\x1b[0m, \x1b[32m13 passed\x1b[0m in 0.41s\n"
)


def question() -> Item:
    """With a file, whose text the model has read."""
    said = "Why does the mean of @src/readings.py fail on the new files?\n"
    text = f"{said}\n{BEFORE}"
    return PersonItem(text, [(len(said) + 1, len(text))], written=said, entry=1)


def answer() -> Item:
    """A thought, code, a table, lists and a quotation."""
    return AnswerItem.of(
        Message("assistant", _ANSWER, thought=_THOUGHT),
        entry=2,
        footer="17.8 tokens/s ⋅ acceptance 69% ⋅ 3.08 tokens per pass ⋅ exact",
        tokens=212,
        seconds=8.4,
        spans=[(5, 60), (90, 140), (200, 330), (420, 600)],
    )


def tools() -> list[Item]:
    """A turn in which files are read and changed, and a command fails."""
    changed = _tool("edit", "src/readings.py", "ok", diff=CHANGE)
    changed.toggle()
    failed = _tool("run", "pytest -q", "failed", "exit 1", _FAILED, seconds=1.24)
    failed.toggle()
    return [
        PersonItem("Mend it, and run the tests.", entry=3),
        _tool("read", "src/readings.py", "ok", "17 lines", BEFORE),
        _tool("find", "mean( in **/*.py", "ok", "3 matches in 2 files", "src/report.py:8"),
        changed,
        failed,
        _tool("run", "rm -rf build", "refused", "not now: I still need it"),
        AnswerItem.of(
            Message(
                "assistant",
                "One test expects `0.0` as the mean of nothing. I would rather change the test "
                "than the function: *no reading* is not *zero degrees*. Shall I?",
            ),
            entry=8,
            footer="16.2 tokens/s ⋅ acceptance 64% ⋅ 2.91 tokens per pass",
        ),
    ]


def running() -> list[Item]:
    """A command that goes on, and an answer that is coming."""
    item = ToolItem(ToolStarted("r", "run", "make docs"), clock=lambda: 100.0)
    item.write(ToolOutput("r", "".join(f"writing page {n} of 40\n" for n in range(1, 23))))
    return [item]


def coming() -> Item:
    """An answer in the middle of a table."""
    item = AnswerItem(clock=lambda: 100.0)
    item.feed_answer("Two stations are left:\n\n| station | height |\n|---|---|\n| north | 4")
    return item


def remarks() -> list[Item]:
    """What the app itself says."""
    return [
        SummaryItem("You asked about the mean of readings; a header row was the reason."),
        DividerItem("from here on: Gemma 4 E2B it"),
        NoticeItem("old output of tools became one line each: 3,110 tokens are free again"),
        NoticeItem("the engine died: it was killed. It is started again", "warning"),
        NoticeItem("there is no room for the answer: /compact makes some", "error"),
    ]


EDIT: Final = Proposal("p", "edit", "src/readings.py", diff=CHANGE, always="edit: src/*")
COMMAND: Final = Proposal(
    "p",
    "run",
    "rm -rf build",
    command="rm -rf build && make docs",
    folder="weather",
    why="deletes files",
    always="run: rm -rf *",
)


def _tool(
    name: str,
    title: str,
    outcome: Outcome,
    summary: str = "",
    body: str = "",
    *,
    diff: FileDiff | None = None,
    seconds: float = 0.0,
) -> ToolItem:
    item = ToolItem(ToolStarted("t", name, title), clock=lambda: 100.0)
    item.end(ToolEnded("t", outcome, summary, body, diff, seconds))
    return item
