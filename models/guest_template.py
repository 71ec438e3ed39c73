"""Chat templates of other models: the Jinja text inside a GGUF file, rendered as its maker meant.

The environment is the one that model makers test their templates with (transformers', which
llama-cpp-python follows): trimmed blocks, loop controls, ``raise_exception``, ``strftime_now``. It
is a sandbox, because the template comes with a file from the network.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NoReturn

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gemma_local.models.chat_format import Message
from gemma_local.models.errors import BadModelFile
from gemma_local.models.gguf import GgufFile, read_gguf
from gemma_local.models.lazy_array import LazyArray

# What goes wrong inside a template surfaces as whatever its expressions raise.
_PROBLEMS: Final = (
    *(jinja2.TemplateError, TypeError, ValueError, ArithmeticError, LookupError),
    *(AttributeError, RecursionError, MemoryError),
)

_DEFAULT_IDS: Final = {"llama": (1, 2), "gpt2": (11, 11)}
"""BOS and EOS of files that do not name them, per tokenizer, as llama.cpp assumes them."""


class _Refused(Exception):
    """The template called ``raise_exception``."""


@dataclass(frozen=True, slots=True)
class GuestTemplate:
    """The chat template of one file, with the texts of its BOS and EOS token."""

    path: Path
    source: str
    bos_token: str
    eos_token: str

    def render(self, messages: Sequence[Message]) -> str:
        """The text of the prompt for the model's next turn, control tokens included.

        A system message that the template refuses or leaves out is put before the first message
        of the user.

        Raises:
            BadModelFile: the template does not work or does not take these messages.
        """
        try:
            text = self._render(messages)
            return self._render(_merge_system(messages)) if _is_lost(messages, text) else text
        except _Refused as refusal:
            if messages[0].role != "system":
                raise self._bad(f"refuses this conversation ({refusal})") from None
            try:
                return self._render(_merge_system(messages))
            except _Refused as again:
                raise self._bad(f"refuses this conversation ({again})") from None

    def _render(self, messages: Sequence[Message]) -> str:
        try:
            template = _environment().from_string(self.source)
            return template.render(
                messages=[{"role": m.role, "content": m.text} for m in messages],
                bos_token=self.bos_token,
                eos_token=self.eos_token,
                add_generation_prompt=True,
                raise_exception=_refuse,
                strftime_now=_strftime_now,
                tools=None,
                functions=None,
                function_call=None,
                tool_choice=None,
            )
        except _PROBLEMS as problem:
            first = str(problem).strip().split("\n")[0]
            raise self._bad(f"does not work ({first or type(problem).__name__})") from problem

    def _bad(self, what: str) -> BadModelFile:
        return BadModelFile(
            f"The chat template inside {self.path} {what}. Use --raw to have a text continued "
            "without a template, or another conversion of the model."
        )


def read_guest_template(path: Path) -> GuestTemplate:
    """The template that a model file carries.

    Raises:
        BadModelFile: it carries none, or the file cannot be read.
    """
    file = read_gguf(path)
    source = file.metadata.get("tokenizer.chat_template")
    if not isinstance(source, str) or not source.strip():
        raise BadModelFile(
            f"{path} carries no chat template, so how to chat with it is unknown: it may not be "
            "trained for chatting. Use --raw to have a text continued."
        )
    model = str(file.metadata.get("tokenizer.ggml.model"))
    bos, eos = _DEFAULT_IDS.get(model, (-1, -1))
    return GuestTemplate(
        path,
        source,
        _token_text(file, "tokenizer.ggml.bos_token_id", bos),
        _token_text(file, "tokenizer.ggml.eos_token_id", eos),
    )


def _token_text(file: GgufFile, key: str, default: int) -> str:
    token = file.metadata.get(key, default)
    tokens = file.metadata.get("tokenizer.ggml.tokens")
    texts = tokens.decode() if isinstance(tokens, LazyArray) else tokens
    if not isinstance(token, int) or not isinstance(texts, tuple) or not 0 <= token < len(texts):
        return ""
    return str(texts[token])


def _is_lost(messages: Sequence[Message], text: str) -> bool:
    """Whether the template left the system message out without a word."""
    return messages[0].role == "system" and messages[0].text.strip() not in text


def _merge_system(messages: Sequence[Message]) -> list[Message]:
    system, first, *rest = messages
    return [Message("user", f"{system.text}\n\n{first.text}"), *rest]


class _GenerationTag(jinja2.ext.Extension):
    """``{% generation %}`` marks text for training and says nothing here."""

    tags = {"generation"}  # noqa: RUF012 - as jinja2 declares it

    def parse(self, parser: Parser) -> list[nodes.Node]:
        """Called by jinja2 at the tag: take what is inside as if the tag was not there."""
        parser.stream.skip(1)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _environment() -> ImmutableSandboxedEnvironment:
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[_GenerationTag, jinja2.ext.loopcontrols],
    )
    # Jinja's own filter escapes for HTML.
    environment.filters["tojson"] = _tojson
    return environment


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=separators,
        sort_keys=sort_keys,
    )


def _refuse(message: str) -> NoReturn:
    raise _Refused(message)


def _strftime_now(form: str) -> str:
    # Local time: templates tell the model which day it is for the person.
    return datetime.datetime.now().astimezone().strftime(form)
