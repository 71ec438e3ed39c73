"""Chat templates of other models: the Jinja text inside a GGUF file, rendered as its maker meant.

The environment is the one that model makers test their templates with (transformers', which
llama-cpp-python follows): trimmed blocks, loop controls, ``raise_exception``, ``strftime_now``. It
is a sandbox, because the template comes with a file from the network.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, NoReturn

import jinja2
import jinja2.ext
from jinja2 import nodes
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from gemma_local.models.errors import BadModelFile
from gemma_local.models.gguf import read_gguf
from gemma_local.models.guest_messages import (
    ArgumentStyle,
    guest_messages,
    guest_tools,
    one_call_each,
    without_tools,
)
from gemma_local.models.guest_tokens import read_guest_tokens
from gemma_local.models.message import Message, Tool, ToolCall
from gemma_local.models.prompt import Markup
from gemma_local.models.special_texts import SpecialTexts
from gemma_local.models.untrusted_text import cut_pieces, marked

# What goes wrong inside a template surfaces as whatever its expressions raise.
_PROBLEMS: Final = (
    *(jinja2.TemplateError, TypeError, ValueError, ArithmeticError, LookupError),
    *(AttributeError, RecursionError, MemoryError),
)


class _Refused(Exception):
    """The template called ``raise_exception``."""


@dataclass(frozen=True)
class GuestTemplate:
    """The chat template of one file, with the texts of its BOS and EOS token.

    ``specials`` are the texts that the file's tokenizer takes for single tokens.
    """

    path: Path
    source: str
    bos_token: str
    eos_token: str
    specials: SpecialTexts = field(default_factory=lambda: SpecialTexts(()))

    def render(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        thinking: bool = False,
    ) -> str:
        """The text of the prompt for the model's next turn, control tokens included.

        Where a message spells a special token, the text has a cut (see ``untrusted_text``):
        ``pieces`` makes a prompt of it. A system message that the template refuses or leaves out
        is put before the first message of the user. Calls and results are written as text if the
        template knows no tools, and one after the other if it does not take several at once.

        Raises:
            BadModelFile: the template does not work or does not take these messages.
            ValueError: there are tools and the template knows none, see ``supports_tools``.
        """
        if tools and not self.supports_tools:
            raise ValueError("this chat template knows no tools; do not offer any")
        style = self._argument_style if _has_calls(messages) else None
        plain = list(messages) if style else without_tools(messages)
        single = one_call_each(plain)
        try:
            return self._with_system(plain, tools, thinking, style or "object")
        except _Refused as refusal:
            if single == plain:
                raise self._bad(f"refuses this conversation ({refusal})") from None
        try:
            return self._with_system(single, tools, thinking, style or "object")
        except _Refused as refusal:
            raise self._bad(f"refuses this conversation ({refusal})") from None

    def pieces(self, text: str) -> tuple[Markup, ...]:
        """A rendered text, or a part of one, as a prompt: no message's text becomes a marker."""
        return cut_pieces(text, self.specials)

    @property
    def supports_tools(self) -> bool:
        """Whether the template writes declarations of tools, calls and results."""
        return self._argument_style is not None

    @cached_property
    def supports_thinking(self) -> bool:
        """Whether it makes a difference to the prompt that the model shall think."""
        try:
            texts = [self._render([_QUESTION], (), on, "object") for on in (False, True)]
        except (BadModelFile, _Refused):
            return False
        return texts[0] != texts[1]

    @cached_property
    def _argument_style(self) -> ArgumentStyle | None:
        """What the template does with a tool, seen by trying; None if it leaves anything out."""
        styles: tuple[ArgumentStyle, ...] = ("object", "string")
        for style in styles:
            with suppress(BadModelFile, _Refused):
                if _PROBE.name not in self._render([_QUESTION], (_PROBE,), False, style):
                    return None
                text = self._render(_PROBE_LOOP, (_PROBE,), False, style)
                # Pasted into a text, an object shows Python's quotes.
                if all(word in text for word in _PROBE_WORDS) and "'probe_key'" not in text:
                    return style
        return None

    def _with_system(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        thinking: bool,
        style: ArgumentStyle,
    ) -> str:
        """The text, with the system message where the template lets it be read."""
        has_system = len(messages) > 1 and messages[0].role == "system"
        try:
            text = self._render(messages, tools, thinking, style)
            if not has_system or marked(messages[0].text, self.specials).strip() in text:
                return text
        except _Refused:
            if not has_system:
                raise
        # It was refused, or left out without a word.
        return self._render(_merge_system(messages), tools, thinking, style)

    def _render(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        thinking: bool,
        style: ArgumentStyle,
    ) -> str:
        try:
            return self._template.render(
                messages=guest_messages(messages, self.specials, style),
                bos_token=self.bos_token,
                eos_token=self.eos_token,
                add_generation_prompt=True,
                enable_thinking=thinking,
                raise_exception=_refuse,
                strftime_now=_strftime_now,
                tools=guest_tools(tools, self.specials),
                functions=None,
                function_call=None,
                tool_choice=None,
            )
        except _PROBLEMS as problem:
            first = str(problem).strip().split("\n")[0]
            raise self._bad(f"does not work ({first or type(problem).__name__})") from problem

    @cached_property
    def _template(self) -> jinja2.Template:
        return _environment().from_string(self.source)

    def _bad(self, what: str) -> BadModelFile:
        return BadModelFile(
            f"The chat template inside {self.path} {what}. Use --raw to have a text continued "
            "without a template, or another conversion of the model."
        )


_QUESTION: Final = Message("user", "probe question")
_PROBE: Final = Tool(
    "probe_tool",
    "probe description",
    {"type": "object", "properties": {"probe_key": {"type": "string"}}, "required": ["probe_key"]},
)
_PROBE_LOOP: Final = (
    _QUESTION,
    Message("assistant", calls=(ToolCall(_PROBE.name, {"probe_key": "probe argument"}),)),
    Message("tool", "probe result", tool=_PROBE.name),
)
_PROBE_WORDS: Final = ("probe_key", "probe argument", "probe result")


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
    tokens = read_guest_tokens(file)
    return GuestTemplate(path, source, tokens.bos, tokens.eos, tokens.specials)


def _has_calls(messages: Sequence[Message]) -> bool:
    return any(message.calls or message.role == "tool" for message in messages)


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
