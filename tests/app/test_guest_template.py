"""Templates as real models carry them, rendered to the text that their makers expect."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.models.errors import BadModelFile
from gemma_local.models.guest_template import GuestTemplate
from gemma_local.models.message import Message, Tool, ToolCall
from gemma_local.models.special_texts import SpecialTexts

CHATML = (
    "{% for message in messages %}{{'<|im_start|>' + message['role'] + '\\n' + message['content'] "
    "+ '<|im_end|>' + '\\n'}}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
)

LLAMA_3 = """\
{{- bos_token }}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if tools is not none %}
    {{- "Environment: ipython\\n" }}
{%- endif %}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n' }}
    {{- message['content'] | trim + '<|eot_id|>' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}
{%- endif %}
"""

MISTRAL = """\
{{ bos_token }}{% for message in messages %}
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}
{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}
{% endif %}
{% if message['role'] == 'user' %}
{{ '[INST] ' + message['content'] + ' [/INST]' }}
{% elif message['role'] == 'assistant' %}
{{ message['content'] + eos_token }}
{% endif %}
{% endfor %}"""

DEAF = "{% for m in messages if m.role != 'system' %}<{{ m.role }}>{{ m.content }}{% endfor %}"

SYSTEM = Message("system", "Be brief.")
FIRST = Message("user", "Hi")
TALK = [FIRST, Message("assistant", "Hello."), Message("user", "Bye")]


def rendered(source: str, messages: list[Message]) -> str:
    template = GuestTemplate(Path("guest.gguf"), source, "<s>", "</s>")
    return template.render(messages)


def test_chatml() -> None:
    assert rendered(CHATML, [SYSTEM, *TALK]) == (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n"
        "<|im_start|>assistant\nHello.<|im_end|>\n<|im_start|>user\nBye<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_llama_3() -> None:
    assert rendered(LLAMA_3, [SYSTEM, FIRST]) == (
        "<s><|start_header_id|>system<|end_header_id|>\n\nBe brief.<|eot_id|>"
        "<|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
        "<|start_header_id|>assistant<|end_header_id|>\n\n"
    )


def test_mistral() -> None:
    assert rendered(MISTRAL, TALK) == "<s>[INST] Hi [/INST]\nHello.</s>\n[INST] Bye [/INST]\n"


def test_a_refused_system_message_is_put_before_the_first_of_the_user() -> None:
    assert rendered(MISTRAL, [SYSTEM, FIRST]) == "<s>[INST] Be brief.\n\nHi [/INST]\n"


def test_a_system_message_that_gets_lost_is_put_there_as_well() -> None:
    assert rendered(DEAF, [SYSTEM, *TALK]) == ("<user>Be brief.\n\nHi<assistant>Hello.<user>Bye")


def test_loop_controls_generation_tags_and_json() -> None:
    source = (
        "{% for m in messages %}{% if loop.index > 2 %}{% break %}{% endif %}"
        "{% generation %}{{ m | tojson }}{% endgeneration %}{% endfor %}"
    )
    messages = [Message("user", "<é>"), *TALK]
    assert rendered(source, messages) == (
        '{"role": "user", "content": "<é>"}{"role": "user", "content": "Hi"}'
    )


def test_the_date_can_be_asked_for() -> None:
    assert rendered("{{ strftime_now('%Y') }}", [FIRST]).isdigit()


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("{% if %}", "does not work"),
        ("{{ nothing.at.all }}", "does not work"),
        ("{{ messages[7]['content'] + 1 }}", "does not work"),
        ("{{ 'a' + 1 }}", "does not work"),
        ("{{ ''.__class__.__mro__ }}", "does not work"),
        ("{{ raise_exception('not today') }}", r"refuses this conversation \(not today\)"),
    ],
)
@pytest.mark.parametrize("messages", [[FIRST], [SYSTEM, FIRST]])
def test_a_template_that_fails_is_one_sentence(
    source: str, why: str, messages: list[Message]
) -> None:
    with pytest.raises(BadModelFile, match=why) as problem:
        rendered(source, messages)
    assert "--raw" in str(problem.value)
    assert "\n" not in str(problem.value)


# In the manner of Hermes and Qwen: JSON in tags, results as the user's.
TAGGED = """\
{%- if tools %}
{{- '<|im_start|>system\\n' }}
{%- for tool in tools %}{{ tool | tojson }}{{ '\\n' }}{% endfor %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
{%- if message.role == 'tool' %}
{{- '<|im_start|>user\\n<tool_response>' + message.content + '</tool_response><|im_end|>\\n' }}
{%- else %}
{{- '<|im_start|>' + message.role + '\\n' + message.content }}
{%- for call in message.tool_calls or [] %}
{{- '<tool_call>{"name": "' + call.function.name + '", "arguments": ' }}
{{- call.function.arguments | tojson + '}</tool_call>' }}
{%- endfor %}
{{- '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{{- '<|im_start|>assistant\\n' }}
{%- if enable_thinking is false %}{{ '<think></think>' }}{% endif %}
"""
LOOP = [
    FIRST,
    Message("assistant", "I look.", calls=(ToolCall("ls", {"path": "a<b"}),)),
    Message("tool", tool="ls", result={"names": ["ä"]}),
]
LS = Tool("ls", "List", {"type": "object", "properties": {"path": {"type": "string"}}})


def guest(source: str, specials: tuple[str, ...] = ()) -> GuestTemplate:
    return GuestTemplate(Path("guest.gguf"), source, "<s>", "</s>", SpecialTexts(specials))


def test_a_tool_loop() -> None:
    template = guest(TAGGED)
    assert template.supports_tools and template.supports_thinking
    assert template.render(LOOP, tools=[LS], thinking=True) == (
        '<|im_start|>system\n{"type": "function", "function": {"name": "ls", "description": "List",'
        ' "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}\n'
        "<|im_end|>\n<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\nI look."
        '<tool_call>{"name": "ls", "arguments": {"path": "a<b"}}</tool_call><|im_end|>\n'
        '<|im_start|>user\n<tool_response>{"names": ["ä"]}</tool_response><|im_end|>\n'
        "<|im_start|>assistant\n"
    )
    assert template.render([FIRST]).endswith("assistant\n<think></think>")


@pytest.mark.parametrize(
    "arguments",
    [
        "call.function.arguments",
        "(call.function.arguments if call.function.arguments is string)",
        "(call.function.arguments ~ '')",
    ],
)
def test_arguments_are_text_where_the_template_wants_text(arguments: str) -> None:
    """Pasted into the text, an object would stand there in Python's notation, or not at all."""
    template = guest(TAGGED.replace("call.function.arguments | tojson", arguments))
    assert '"arguments": {"path": "a<b"}}' in template.render(LOOP, tools=[LS])


@pytest.mark.parametrize(
    "source",
    [
        CHATML,
        LLAMA_3,
        MISTRAL,
        TAGGED.replace("{{ tool | tojson }}", ""),
        TAGGED.replace("{{ tool | tojson }}", "{{ tool.function.name }}")
        .replace("call.function.arguments | tojson", "'{}'"),
        TAGGED.replace("message.role == 'tool'", "message.role == 'tool' and fail()"),
    ],
)  # fmt: skip
def test_without_tools_their_story_is_told_in_words(source: str) -> None:
    template = guest(source)
    assert not template.supports_tools
    with pytest.raises(ValueError, match="knows no tools"):
        template.render([FIRST], tools=[LS])
    text = template.render([*LOOP, Message("user", "And?")])
    assert 'I look.\nls({"path": "a<b"})' in text
    assert 'Result of ls: {"names": ["ä"]}\n\nAnd?' in text


# What was offered, who called, and whose result it is.
IDENTIFIERS = """\
{% if tools %}{{ tools | tojson }}{% endif %}{% for message in messages %}
{% for call in message.tool_calls or [] %}
{{ call.id }}={{ call.function.name }}{{ call.function.arguments | tojson }} {% endfor %}
{% if message.role == 'tool' %}
{{ message.name }}:{{ message.tool_call_id }}:{{ message.content }} {% endif %}
{% endfor %}"""


def test_results_find_their_calls() -> None:
    """Some templates refuse a result whose identifier is not that of a call, nine letters long."""
    calls = (ToolCall("b"), ToolCall("a"), ToolCall("b"))
    results = [Message("tool", "R", tool=name) for name in ("a", "b", "b", "c")]
    text = guest(IDENTIFIERS).render([FIRST, Message("assistant", calls=calls), *results])
    assert text.split() == [
        "call00000=b{}", "call00001=a{}", "call00002=b{}",
        "a:call00001:R", "b:call00000:R", "b:call00002:R", "c:call00000:R",
    ]  # fmt: skip


def test_several_calls_come_one_by_one_where_the_template_takes_one() -> None:
    source = "{% for m in messages %}{% if m.tool_calls and m.tool_calls | length > 1 %}"
    source += "{{ raise_exception('one at a time') }}{% endif %}{% endfor %}" + IDENTIFIERS
    calls = (ToolCall("b"), ToolCall("a"), ToolCall("b"))
    results = [Message("tool", f"{n}", tool=name) for n, name in enumerate(("a", "b", "c"))]
    messages = [FIRST, Message("assistant", calls=calls), *results, FIRST, LOOP[1], LOOP[2]]
    assert guest(source).render(messages).split() == [
        "call00000=b{}", "b:call00000:1", "call00001=a{}", "a:call00001:0", "call00002=b{}",
        "c:call00002:2", 'call00003=ls{"path":', '"a<b"}', 'ls:call00003:{"names":', '["ä"]}',
    ]  # fmt: skip
    refuses = "{% if messages | length > 3 %}{{ raise_exception('too long') }}{% endif %}"
    with pytest.raises(BadModelFile, match="too long"):
        guest(refuses + source).render(messages)
