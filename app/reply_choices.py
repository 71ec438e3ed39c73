"""Three replies in what a model wrote, however it numbered them."""

from __future__ import annotations

import json
import re
from typing import Any, Final

MOST: Final = 3

_HEAD: Final = re.compile(
    r"^[ \t]{0,3}(?:[*_#>]{1,3}[ \t]*)*"
    r"(?:(?:option|reply|response|alternative|antwort|réponse|respuesta)[ \t]*#?)?[ \t]*"
    r"(?P<number>[1-9])[*_]{0,2}[ \t]*(?:[.):][*_]{0,2}|[-\u2013\u2014](?=[ \t]))[ \t]*",
    re.IGNORECASE | re.MULTILINE,
)
_BULLET: Final = re.compile(r"^[ \t]{0,3}[-*\u2022][ \t]+", re.MULTILINE)
_FENCE: Final = re.compile(r"^```[\w-]*\n(.*?)\n?```$", re.DOTALL)
_QUOTES: Final = {'"': '"', "\u201c": "\u201d", "\u201e": "\u201c", "\u00ab": "\u00bb"}


def reply_choices(answer: str) -> list[str]:
    """The replies, at most three; all of it as one reply if it cannot be told apart."""
    text = answer.strip()
    if fence := _FENCE.fullmatch(text):
        text = fence[1].strip()
    found = (
        _from_json(text)
        or _numbered(text)
        or _behind([*_BULLET.finditer(text)], text)
        or _paragraphs(text)
    )
    replies = [reply for reply in map(_bare, found) if reply]
    return replies[:MOST] or ([text] if text else [])


def _from_json(text: str) -> list[str]:
    """From an array of texts or of objects with a text, or an object that holds one."""
    if not text.startswith(("[", "{")):
        return []
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        value = lists[0] if lists else list(value.values())
    texts = []
    for item in value:
        if isinstance(item, dict):
            item = max((v for v in item.values() if isinstance(v, str)), key=len, default="")
        if isinstance(item, str):
            texts.append(item)
    return texts


def _numbered(text: str) -> list[str]:
    """The texts behind 1, 2 and 3, in this order; other numbers belong to the texts."""
    heads: list[re.Match[str]] = []
    for match in _HEAD.finditer(text):
        if int(match["number"]) == len(heads) + 1 and len(heads) < MOST:
            heads.append(match)
    return _behind(heads, text)


def _behind(heads: list[re.Match[str]], text: str) -> list[str]:
    """What stands behind each of ``heads``, up to the next."""
    ends = [match.start() for match in heads[1:]] + [len(text)]
    return [text[match.end() : end] for match, end in zip(heads, ends, strict=False)]


def _paragraphs(text: str) -> list[str]:
    """Paragraphs are replies if there are as many as were asked for."""
    parts = re.split(r"\n[ \t]*\n", text)
    return parts if len(parts) == MOST else []


def _bare(reply: str) -> str:
    """A reply without the quotes around it."""
    text = reply.strip()
    if len(text) > 1 and _QUOTES.get(text[0]) == text[-1] and text[0] not in text[1:-1]:
        text = text[1:-1].strip()
    return text
