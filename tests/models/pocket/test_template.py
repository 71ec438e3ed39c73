"""The template in the pocket target's file writes what the program writes by itself."""

from __future__ import annotations

import random
from importlib.resources import files
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment

from gemma_local.models.chat_format import render
from gemma_local.models.message import Message, Tool
from gemma_local.models.pocket.train.corpus import mix, tool_head
from gemma_local.models.pocket.train.corpus.sample import Sample
from gemma_local.models.prompt import Control, Text


def _as_chat(message: Message) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.calls:
        plain["tool_calls"] = [
            {"function": {"name": call.name, "arguments": dict(call.arguments)}}
            for call in message.calls
        ]
    if message.role == "tool":
        plain["name"] = message.tool
    return plain


def _as_function(tool: Tool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def _rendered(sample: Sample) -> str:
    source = files("gemma_local.models.pocket.train").joinpath("chat_template.jinja")
    environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(source.read_text("utf-8")).render(
        bos_token="<bos>",
        messages=[_as_chat(message) for message in sample.asked],
        tools=[_as_function(tool) for tool in sample.tools],
        enable_thinking=sample.thinking,
        add_generation_prompt=True,
    )


def _written(sample: Sample) -> str:
    rendering = render(sample.asked, tools=sample.tools, thinking=sample.thinking)
    pieces = [p for p in rendering.prompt if isinstance(p, Control | Text)]
    return "".join(p.token if isinstance(p, Control) else p.text for p in pieces)


def test_it_writes_the_same_prompts() -> None:
    rng = random.Random(8)
    seen = 0
    for _ in range(60):
        begin = tool_head.make_head(rng, "train")
        sample = mix.plain(rng) if rng.random() < 0.5 else mix.with_tools(rng, begin)
        if sample.thinking:
            # What it thought before is a matter that templates have no common word for.
            continue
        seen += 1
        assert _rendered(sample) == _written(sample)
    assert seen > 30
