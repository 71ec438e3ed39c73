"""The template of test files renders Gemma 4's layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from jinja2 import Environment

from tests.ggufs.chat_template import chat_template


def render(edge: bool, messages: Sequence[Mapping[str, object]], **more: object) -> str:
    template = Environment(trim_blocks=True, lstrip_blocks=True).from_string(chat_template(edge))
    return template.render(messages=messages, bos_token="<bos>", add_generation_prompt=True, **more)


ASK = [{"role": "user", "content": " hi "}]


def test_turns() -> None:
    history = [
        {"role": "system", "content": "Be brief."},
        *ASK,
        {"role": "assistant", "content": "Hello"},
        {"role": "user", "content": "and you?"},
    ]
    assert render(True, history) == (
        "<bos><|turn>system\nBe brief.<turn|>\n<|turn>user\nhi<turn|>\n"
        "<|turn>model\nHello<turn|>\n<|turn>user\nand you?<turn|>\n<|turn>model\n"
    )


def test_thinking_off_primes_large_models_only() -> None:
    plain = "<bos><|turn>user\nhi<turn|>\n<|turn>model\n"
    assert render(True, ASK) == plain
    assert render(False, ASK) == plain + "<|channel>thought\n<channel|>"
    thinking = "<bos><|turn>system\n<|think|>\n<turn|>\n<|turn>user\nhi<turn|>\n<|turn>model\n"
    assert render(True, ASK, enable_thinking=True) == thinking
    assert render(False, ASK, enable_thinking=True) == thinking


def test_a_tool_round_stays_in_one_model_turn() -> None:
    call = {"function": {"name": "read", "arguments": {"path": "a b", "mode": "r"}}}
    history: list[Mapping[str, object]] = [
        *ASK,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "name": "read", "content": "text"},
    ]
    tool = {"function": {"name": "read", "description": "Reads"}}
    assert render(True, history, tools=[tool]) == (
        '<bos><|turn>system\n<|tool>declaration:read{description:<|"|>Reads<|"|>}<tool|><turn|>\n'
        "<|turn>user\nhi<turn|>\n<|turn>model\n"
        '<|tool_call>call:read{mode:<|"|>r<|"|>,path:<|"|>a b<|"|>}<tool_call|>'
        '<|tool_response>response:read{value:<|"|>text<|"|>}<tool_response|>'
    )
