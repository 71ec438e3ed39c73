"""Puts together what a model with tools works with: its bench, and the agent at it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gemma_local.app.agent.loop import Agent, AnswerOnce
from gemma_local.app.agent.workbench import Workbench, workbench_for
from gemma_local.models.prompt import Text

if TYPE_CHECKING:
    from gemma_local.app.agent.listener import AgentListener
    from gemma_local.app.agent.terms import Terms
    from gemma_local.app.assistant import Assistant, MakeRequest
    from gemma_local.engine.client import Engine
    from gemma_local.engine.messages import Ready
    from gemma_local.models.target import TargetFacts


def bench_with(
    terms: Terms,
    engine: Engine,
    ready: Ready,
    target: TargetFacts,
    *,
    label: str,
    supports_tools: bool,
) -> Workbench | str:
    """A bench in the current folder, or why there is none; ``label`` is the session's."""
    return workbench_for(
        terms,
        Path.cwd(),
        ready.context,
        target,
        lambda text: engine.count([(Text(text),)])[0],
        label=label,
        supports_tools=supports_tools,
        sequences=ready.sequences,
    )


def agent_with(
    bench: Workbench,
    assistant: Assistant,
    engine: Engine,
    terms: Terms,
    listener: AgentListener,
    answer: AnswerOnce,
    make_request: MakeRequest,
    *,
    temperature: float,
    is_gemma4: bool,
) -> Agent:
    """The agent of an assistant's conversation, with helpers where it may have some."""
    if bench.task is not None:
        from gemma_local.app.agent.helpers import Helpers

        bench.task.helpers = Helpers(
            engine, assistant.conversation, make_request, bench, terms, is_gemma4=is_gemma4
        )
    return Agent(assistant, bench, terms, listener, answer, temperature=temperature)
