"""A short chat template in Gemma 4's layout, for the ``tokenizer.chat_template`` of test files."""

from __future__ import annotations

_BODY = """\
{{- bos_token -}}
{%- set first = messages[0] -%}
{%- set instructions = first['content'] if first['role'] in ['system', 'developer'] else '' -%}
{%- set history = messages[1:] if instructions else messages -%}
{%- if instructions or tools or enable_thinking -%}
{{- '<|turn>system\\n' -}}
{%- if enable_thinking -%}{{- '<|think|>\\n' -}}{%- endif -%}
{{- instructions | trim -}}
{%- for tool in tools or [] -%}
{{- '<|tool>declaration:' + tool['function']['name'] + '{description:<|"|>' -}}
{{- tool['function']['description'] + '<|"|>}<tool|>' -}}
{%- endfor -%}
{{- '<turn|>\\n' -}}
{%- endif -%}
{%- for message in history -%}
{%- if message['role'] == 'tool' -%}
{{- '<|tool_response>response:' + message['name'] -}}
{{- '{value:<|"|>' + message['content'] + '<|"|>}<tool_response|>' -}}
{%- else -%}
{{- '<|turn>' + ('model' if message['role'] == 'assistant' else message['role']) + '\\n' -}}
{{- message['content'] | trim -}}
{%- for call in message['tool_calls'] or [] -%}
{{- '<|tool_call>call:' + call['function']['name'] + '{' -}}
{%- for key, value in call['function']['arguments'] | dictsort -%}
{{- key + ':<|"|>' + value + '<|"|>' -}}{%- if not loop.last -%},{%- endif -%}
{%- endfor -%}
{{- '}<tool_call|>' -}}
{%- endfor -%}
{%- if not message['tool_calls'] -%}{{- '<turn|>\\n' -}}{%- endif -%}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt and messages[-1]['role'] != 'tool' -%}
{{- '<|turn>model\\n' -}}
"""

# Only the large models are primed with an empty thought when thinking is off.
_PRIMED = """\
{%- if not enable_thinking -%}{{- '<|channel>thought\\n<channel|>' -}}{%- endif -%}
"""


def chat_template(edge: bool) -> str:
    """Jinja source; ``edge`` is the E2B/E4B variant, which never primes an empty thought."""
    return _BODY + ("" if edge else _PRIMED) + "{%- endif -%}\n"
