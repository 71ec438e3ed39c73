"""Templates as real models carry them, rendered to the text that their makers expect."""

from __future__ import annotations

from pathlib import Path

import pytest

from gemma_local.models.chat_format import Message
from gemma_local.models.errors import BadModelFile
from gemma_local.models.guest_template import GuestTemplate

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
