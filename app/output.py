"""The three forms in which one answer reaches standard output."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final, Protocol

from gemma_local.app.agent.events import ToolEnded, ToolEvent, ToolOutput, ToolStarted
from gemma_local.app.agent.listener import AgentListener
from gemma_local.app.assistant import Answered
from gemma_local.app.launch import show_loading
from gemma_local.app.report import measurements
from gemma_local.app.terminal import note, printable, progress
from gemma_local.engine.messages import Delta, Event, Loading, Prefill, Ready, Stats
from gemma_local.models.reply import AnswerText, Part, ThoughtText

_WRITING: Final = threading.Lock()


class Output(AgentListener, Protocol):
    """Shows an answer, and the work that leads to it."""

    def ready(self, ready: Ready, pid: int | None) -> None:
        """The pair is loaded into the process ``pid``."""

    def done(self, report: Mapping[str, object]) -> None:
        """The answer is complete; ``report`` has the keys that ``app.report`` documents."""

    def broken_off(self) -> None:
        """The answer will not be complete; an error is about to be reported."""


def output_for(form: str) -> Output:
    """The output that ``--output FORM`` names."""
    match form:
        case "json":
            return JsonOutput()
        case "stream-json":
            return StreamOutput()
        case _:
            return TextOutput()


class TextOutput:
    """The answer as it comes, and nothing else; progress goes to standard error."""

    def __init__(self) -> None:
        self._last = "\n"
        self._thought_tokens = 0
        self._titles: dict[str, str] = {}

    def event(self, event: Event) -> None:
        _show_progress(event)

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        if text := answer_text(parts):
            progress.clear()
            sys.stdout.write(printable(text, sys.stdout))
            sys.stdout.flush()
            self._last = text[-1]
        elif any(isinstance(part, ThoughtText) for part in parts):
            self._thought_tokens += len(delta.tokens) if delta is not None else 0
            progress.show(f"thinking: {self._thought_tokens} tokens")

    def ready(self, ready: Ready, pid: int | None) -> None:
        progress.clear()

    def died(self, why: str) -> None:
        self._end_line()
        note(f"{why}; starting it again to finish the answer")

    def notice(self, sentence: str) -> None:
        self._end_line()
        note(sentence)

    def tool(self, event: ToolEvent) -> None:
        match event:
            case ToolStarted():
                self._titles[event.id] = f"{event.tool} {event.title}"
                progress.show(self._titles[event.id])
            case ToolEnded():
                progress.clear()
                self._end_line()
                title = self._titles.pop(event.id, "")
                line = f"{title}: {event.summary or event.outcome}"
                print(printable(line, sys.stderr), file=sys.stderr, flush=True)

    def answered(self, answered: Answered) -> None:
        if answered.calls:
            # What is said after the calls begins on a line of its own.
            self.broken_off()
            self._last = "\n"

    def told(self, texts: Sequence[str]) -> None:
        pass

    def _end_line(self) -> None:
        if self._last != "\n" and sys.stderr.isatty():
            sys.stderr.write("\n")

    def done(self, report: Mapping[str, object]) -> None:
        self.broken_off()

    def broken_off(self) -> None:
        progress.clear()
        if self._last != "\n":
            sys.stdout.write("\n")
        sys.stdout.flush()


class JsonOutput:
    """One object at the end."""

    def event(self, event: Event) -> None:
        _show_progress(event)

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        pass

    def ready(self, ready: Ready, pid: int | None) -> None:
        progress.clear()

    def died(self, why: str) -> None:
        note(f"{why}; starting it again to finish the answer")

    def notice(self, sentence: str) -> None:
        note(sentence)

    def tool(self, event: ToolEvent) -> None:
        if isinstance(event, ToolStarted):
            progress.show(f"{event.tool} {event.title}")

    def answered(self, answered: Answered) -> None:
        progress.clear()

    def told(self, texts: Sequence[str]) -> None:
        pass

    def done(self, report: Mapping[str, object]) -> None:
        progress.clear()
        write_json(report)

    def broken_off(self) -> None:
        progress.clear()


class StreamOutput:
    """One object a line, as things happen; ``type`` says what each is.

    ``loading`` (stage, fraction), ``ready`` (facts about the pair; pid is the engine's process),
    ``prefill`` (done, total, reused), ``delta`` (text of the answer, thought, tokens, drafted),
    ``stats`` (measurements so far), ``notice`` (a sentence for the person), ``restart`` (reason;
    deltas go on, none comes twice), then ``done`` with all keys of ``--output json``, or ``error``
    (error, exit_code).

    With tools, several answers come one after the other, each ended by ``answer`` (its
    finish_reason, the number of its calls, measurements). Calls follow: ``tool_call`` (id, tool,
    title, arguments), ``tool_output`` (id, text; what a command writes while it runs),
    ``approval_denied`` (id, reason) if it may not be done, and ``tool_result`` (id; outcome "ok",
    "failed", "refused" or "stopped"; summary; text, what the model reads of it; seconds; path,
    before and after of a changed file in diff, else null).

    With ``--n`` every event of an answer has ``alternative``, its number from 1 on.
    """

    def __init__(self, **marks: object) -> None:
        """``marks`` are keys that every object gets besides its own."""
        self._marks = marks

    def write(self, value: Mapping[str, object]) -> None:
        """One object."""
        write_json({**value, **self._marks})

    def event(self, event: Event) -> None:
        match event:
            case Loading():
                self.write({"type": "loading", "stage": event.stage, "fraction": event.fraction})
            case Prefill():
                counts = {"done": event.done, "total": event.total, "reused": event.reused}
                self.write({"type": "prefill", **counts})
            case Stats():
                self.write({"type": "stats", **measurements(event.tally)})

    def parts(self, parts: Sequence[Part], drafted: Sequence[bool], delta: Delta | None) -> None:
        thought = "".join(part.text for part in parts if isinstance(part, ThoughtText))
        text = answer_text(parts)
        if text or thought or delta is not None:
            tokens = list(delta.tokens) if delta is not None else []
            drafted = list(delta.drafted) if delta is not None else []
            said = {"text": text, "thought": thought}
            self.write({"type": "delta", **said, "tokens": tokens, "drafted": drafted})

    def ready(self, ready: Ready, pid: int | None) -> None:
        facts: dict[str, Any] = asdict(ready)
        facts["model"] = facts.pop("target")
        # The inside of the wire between the processes.
        del facts["markers"], facts["tokenizer"]
        self.write({"type": "ready", "pid": pid, **facts})

    def died(self, why: str) -> None:
        self.write({"type": "restart", "reason": why})
        note(f"{why}; starting it again to finish the answer")

    def notice(self, sentence: str) -> None:
        self.write({"type": "notice", "text": sentence})
        note(sentence)

    def tool(self, event: ToolEvent) -> None:
        match event:
            case ToolStarted():
                facts = {"id": event.id, "tool": event.tool, "title": event.title}
                self.write({"type": "tool_call", **facts, "arguments": dict(event.arguments)})
            case ToolOutput():
                self.write({"type": "tool_output", "id": event.id, "text": event.text})
            case ToolEnded():
                if event.outcome == "refused":
                    self.write({"type": "approval_denied", "id": event.id, "reason": event.body})
                facts = {"id": event.id, "outcome": event.outcome, "summary": event.summary}
                diff = event.diff
                change = diff and {"path": diff.path, "before": diff.before, "after": diff.after}
                seconds = round(event.seconds, 3)
                text = {"text": event.body, "seconds": seconds, "diff": change}
                self.write({"type": "tool_result", **facts, **text})

    def answered(self, answered: Answered) -> None:
        done = answered.done
        said = {"finish_reason": done.reason, "calls": len(answered.calls)}
        self.write({"type": "answer", **said, **measurements(done.tally)})

    def told(self, texts: Sequence[str]) -> None:
        pass

    def done(self, report: Mapping[str, object]) -> None:
        self.write({"type": "done", **report})

    def broken_off(self) -> None:
        pass


def answer_text(parts: Sequence[Part]) -> str:
    """What is new of the answer itself."""
    return "".join(part.text for part in parts if isinstance(part, AnswerText))


def write_json(value: Mapping[str, object]) -> None:
    """One object on a line of its own, at once. Any thread may write."""
    line = json.dumps(value, ensure_ascii=False) + "\n"
    with _WRITING:
        sys.stdout.write(line)
        sys.stdout.flush()


def _show_progress(event: Event) -> None:
    match event:
        case Loading():
            show_loading(event)
        case Prefill() if event.done < event.total:
            progress.show(f"reading the prompt: {event.done} of {event.total} tokens")
