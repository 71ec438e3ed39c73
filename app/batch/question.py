"""One line of a batch's file: what is asked, and how it is to be answered."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from gemma_local.app.options import BatchOptions
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.message import Message, Role

_KEYS: Final = (
    *("prompt", "messages", "id", "system", "max_tokens", "temperature", "seed", "think"),
)
_ROLES: Final[dict[object, Role]] = {"system": "system", "user": "user", "assistant": "assistant"}


class BadQuestion(GemmaLocalError):
    """A line that cannot be answered as it stands. ``id`` is what it gave as its own."""

    def __init__(self, sentence: str, id: str | int | None = None) -> None:  # noqa: A002
        super().__init__(sentence)
        self.id = id


@dataclass(frozen=True, slots=True)
class Question:
    """``options`` are the batch's, with what the line has of its own."""

    id: str | int | None
    messages: tuple[Message, ...]
    options: BatchOptions


def digest(line: bytes) -> str:
    """What tells a line from another one."""
    return hashlib.blake2b(line.strip(), digest_size=12).hexdigest()


def read_question(line: bytes, options: BatchOptions) -> Question:
    """The question of a line. Raises BadQuestion."""
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise BadQuestion(f"this is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadQuestion('a line is an object such as {"prompt": "..."}')
    id_ = value.get("id")
    own_id = id_ if isinstance(id_, str | int) and not isinstance(id_, bool) else None
    try:
        return _question(value, own_id, options)
    except BadQuestion as error:
        raise BadQuestion(str(error), own_id) from None


def _question(
    value: Mapping[str, Any],
    id: str | int | None,  # noqa: A002
    options: BatchOptions,
) -> Question:
    unknown = [key for key in value if key not in _KEYS]
    if unknown:
        raise BadQuestion(f"there is no key {unknown[0]!r}; there are {', '.join(_KEYS)}")
    if value.get("id") is not None and id is None:
        raise BadQuestion('"id" must be a text or a whole number')
    messages = _messages(value)
    system = value.get("system", options.system)
    if system is not None and not isinstance(system, str):
        raise BadQuestion('"system" must be a text')
    if system and messages[0].role == "system":
        if "system" in value:
            raise BadQuestion('"system" and a first message of that role exclude each other')
    elif system:
        messages = (Message("system", system), *messages)
    return Question(id, messages, _own_options(value, options))


def _messages(value: Mapping[str, Any]) -> tuple[Message, ...]:
    if ("prompt" in value) == ("messages" in value):
        raise BadQuestion('give either "prompt" or "messages"')
    if "prompt" in value:
        prompt = value["prompt"]
        if not isinstance(prompt, str) or not prompt.strip():
            raise BadQuestion('"prompt" must be a text that is not empty')
        return (Message("user", prompt),)
    given = value["messages"]
    if not isinstance(given, list) or not given:
        raise BadQuestion('"messages" must be a list of {"role": ..., "content": ...}')
    messages = tuple(_message(item, number) for number, item in enumerate(given, start=1))
    if messages[-1].role != "user":
        raise BadQuestion("the last message must be the user's: it is what gets answered")
    if any(message.role == "system" for message in messages[1:]):
        raise BadQuestion("only the first message can be of the role system")
    return messages


def _message(item: object, number: int) -> Message:
    if not isinstance(item, dict) or set(item) != {"role", "content"}:
        raise BadQuestion(f'message {number} must be {{"role": ..., "content": ...}}')
    role, content = item["role"], item["content"]
    if not isinstance(role, str) or role not in _ROLES:
        raise BadQuestion(f"the role of message {number} must be system, user or assistant")
    if not isinstance(content, str):
        raise BadQuestion(f"the content of message {number} must be a text")
    return Message(_ROLES[role], content)


def _own_options(value: Mapping[str, Any], options: BatchOptions) -> BatchOptions:
    own: dict[str, Any] = {}
    for key, low, high in (("max_tokens", 1, 1 << 20), ("seed", 0, (1 << 63) - 1)):
        if key in value:
            number = value[key]
            if not _is_number(number, whole=True) or not low <= number <= high:
                raise BadQuestion(f'"{key}" must be a whole number from {low} to {high}')
            own[key] = number
    if "temperature" in value:
        temperature = value["temperature"]
        if not _is_number(temperature) or not 0 <= temperature <= 10:
            raise BadQuestion('"temperature" must be a number from 0 to 10')
        own["temperature"] = float(temperature)
    if "think" in value:
        think = value["think"]
        if think is True or think is False:
            own["think"] = 0 if think else None
        elif _is_number(think, whole=True) and think >= 1:
            own["think"] = think
        else:
            raise BadQuestion('"think" must be true, false or the most tokens of a thought')
    return replace(options, **own)


def _is_number(value: object, *, whole: bool = False) -> bool:
    kinds = int if whole else int | float
    return isinstance(value, kinds) and not isinstance(value, bool)
