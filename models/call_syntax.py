"""Gemma 4's syntax of a tool call, and what models write in its place.

The format (Google's function-calling page and the published chat templates)::

    call:name{key:<|"|>text<|"|>,other:3,flag:true,nested:{list:[1,null]}}

Keys are bare, strings stand between quote tokens and hold anything, nothing is escaped. What is
read beyond that was seen from real models: round brackets, quotes of JSON and Python, ``=`` for
``:``, bare strings, missing quotes, braces and end markers, JSON objects, and more. Every such
reading is named in ``repairs``; where two readings are possible there is none, only ``Malformed``.
"""

from __future__ import annotations

import re
from typing import Final, TypeAlias

from gemma_local.models.call_source import QUOTE, Source, ends_of, unescaped

Written: TypeAlias = "str | list[Written] | dict[str, Written]"
"""A value as it was written: numbers and other words are ``Bare``."""

_DEEPEST: Final = 100
_SPACE: Final = re.compile(r"\s*")
_KEY: Final = re.compile(r"""[^:={}\[\](),"'\n]+""")
_IS: Final = re.compile(r"\s*(?::=|=>|[:=])\s*")
_BARE_STOP: Final = re.compile(r"[,{}()\[\]]")
_NEXT_KEY: Final = r"""["']?[A-Za-z_][\w-]*["']?\s*[:=]"""
_AFTER_COMMA: Final = re.compile(rf"\s*(?:{_NEXT_KEY}|[}})\]]|\Z)")
_COMMA_AND_KEY: Final = re.compile(rf",\s*{_NEXT_KEY}")
_THEN_NEXT_KEY: Final = re.compile(rf"\s*,\s*{_NEXT_KEY}")
_LITERAL: Final = re.compile(
    r"(true|false|null|True|False|None|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)\s*(?=[,}\])])"
)
_ENDS_IN_KEY: Final = re.compile(r"[\w-]\s*[:=]\s*\Z")
_AFTER_VALUE: Final = re.compile(r"\s*(?:[,}\])]|\Z)")
_AFTER_KEY: Final = re.compile(r"\s*[:=]")
_MARKS: Final = ('"""', "'''", '\\"', "\\'", '"', "'", QUOTE)
_BRACES: Final = ("}", ")")
"""Closing brackets that models write for one another."""


class Malformed(Exception):
    """A call that cannot be read in one way only; ``str`` says why, for the model."""


class Bare(str):
    """A value that was written without quotes, such as ``30``, ``true`` or ``src/main.py``."""

    __slots__ = ()


class Parser:
    """Reads values at a place of a source. ``repairs`` grows as it goes.

    ``ended``: the call has its end marker, so what is missing before it was forgotten rather than
    not yet written.
    """

    def __init__(self, source: Source, *, ended: bool) -> None:
        self.source = source
        self.ended = ended
        self.repairs: list[str] = []
        self._closers: list[str] = []

    def arguments(self) -> tuple[dict[str, Written], list[Written]]:
        """What stands in the outermost brackets, at whose opening one the source is: values by
        key, and values without one.

        Raises Malformed.
        """
        opening = self.source.peek()
        if opening == "(":
            self._repair("round brackets")
        positional: list[Written] = []
        named = self._pairs(")" if opening == "(" else "}", positional)
        if not named and len(positional) == 1 and isinstance(positional[0], dict):
            self._repair("doubled brackets")
            return positional[0], []
        if positional and opening != "(":
            raise Malformed("a value has no key")
        return named, positional

    def space(self) -> None:
        self.source.take(_SPACE)

    # ----------------------------------------------------------------------------- containers

    def _pairs(self, closer: str, positional: list[Written] | None = None) -> dict[str, Written]:
        pairs: dict[str, Written] = {}
        self._open(closer)
        while not self._closes(closer):
            start = self.source.place
            key = self._key()
            if key is None:
                if positional is None:
                    raise Malformed("a value has no key")
                self.source.go(start)
                positional.append(self.value(closer))
            else:
                value = self.value(closer)
                if pairs.setdefault(key, value) != value:
                    raise Malformed(f'"{key}" is given twice')
            self._separate(closer)
        return pairs

    def _items(self, closer: str) -> list[Written]:
        if closer == ")":
            self._repair("round brackets")
        items: list[Written] = []
        self._open(closer)
        while not self._closes(closer):
            items.append(self.value(closer, in_list=True))
            self._separate(closer, keys=False)
        return items

    def _open(self, closer: str) -> None:
        if len(self._closers) >= _DEEPEST:
            raise Malformed("its arguments are nested too deeply")
        self._closers.append(closer)
        self.source.skip()

    def _closes(self, closer: str) -> bool:
        self.space()
        found = self.source.peek()
        while found == ",":
            self._repair("extra comma")
            self.source.skip()
            self.space()
            found = self.source.peek()
        if found == "":
            self._repair(f'missing "{closer}"')
        elif _fits(found, closer):
            if found != closer:
                self._repair(f'"{found}" for "{closer}"')
            self.source.skip()
        else:
            return False
        self._closers.pop()
        return True

    def _separate(self, closer: str, *, keys: bool = True) -> None:
        self.space()
        found = self.source.peek()
        if found == ",":
            self.source.skip()
            self.space()
            after = self.source.peek()
            if after in ("", "]", *_BRACES):
                self._repair("extra comma")
        elif found and not _fits(found, closer):
            # Never after a bare value: that would have gone on to here.
            start = self.source.place
            if not keys or self._key() is None:
                raise Malformed(f"{_shown(found)} stands where a comma or {closer} should")
            self.source.go(start)
            self._repair("missing comma")

    def _key(self) -> str | None:
        """A key with what stands between it and its value; None if there is none here."""
        found = self.source.peek()
        repair = ""
        if found == QUOTE:
            self.source.skip()
            key = self.source.rest_of_segment()
            if self.source.is_last:
                return None
            self.source.skip()
            repair = "quoted key"
        elif (mark := self._mark()) is not None:
            text, start = self.source.text, self.source.at + len(mark)
            end = text.find(mark, start)
            if end < 0 or not _AFTER_KEY.match(text, end + len(mark)):
                return None
            key = unescaped(text[start:end], mark)
            self.source.at = end + len(mark)
            repair = "quoted key"
        else:
            match = self.source.take(_KEY)
            if match is None:
                return None
            key = match[0].strip()
        sign = self.source.take(_IS)
        if sign is None or not key:
            return None
        if repair:
            self._repair(repair)
        if sign[0].strip() != ":":
            self._repair(f'"{sign[0].strip()}" for ":"')
        return key

    # --------------------------------------------------------------------------------- values

    def value(self, closer: str = "", *, in_list: bool = False) -> Written:
        """The value here, inside brackets that end with ``closer``. Raises Malformed."""
        self.space()
        found = self.source.peek()
        if found == QUOTE:
            self.source.skip()
            return self._string()
        if found == "{":
            return self._pairs("}")
        if found in ("[", "("):
            return self._items("]" if found == "[" else ")")
        if (mark := self._mark()) is not None:
            return self._quoted(mark)
        return self._bare(closer, in_list)

    def _string(self) -> str:
        """The content of a string whose opening quote token was read."""
        content = self.source.rest_of_segment()
        if self.source.is_last:
            return self._unclosed(content)
        self.source.skip()
        return content

    def _quoted(self, mark: str) -> str:
        """A string in other quotes than quote tokens."""
        self._repair("other quotes")
        text, start = self.source.text, self.source.at + len(mark)
        escaped = []
        for end, is_escaped in ends_of(text, mark, start, _AFTER_VALUE):
            if is_escaped and mark[0] != "\\":
                escaped.append(end)
                continue
            if any(_THEN_NEXT_KEY.match(text, at + len(mark)) for at in escaped):
                raise Malformed("a backslash before a quote leaves open where a string ends")
            self.source.at = end + len(mark)
            return self._content(text[start:end], mark)
        if len(escaped) == 1:
            # A Windows path that ends in a backslash.
            self.source.at = escaped[0] + len(mark)
            return self._content(text[start : escaped[0]], mark)
        self.source.at = start
        content = self.source.rest_of_segment()
        if self.source.is_last:
            return self._content(self._unclosed(content), mark)
        self.source.skip()
        return self._content(content, mark)

    @staticmethod
    def _content(text: str, mark: str) -> str:
        return text if mark == QUOTE else unescaped(text, mark)

    def _unclosed(self, content: str) -> str:
        """The content of a string without an end: all but the brackets that it swallowed."""
        if _COMMA_AND_KEY.search(content):
            raise Malformed("a string has no closing quote")
        closers = r"\s*".join(map(re.escape, reversed(self._closers)))
        swallowed = re.search(rf"{closers}\s*\Z", content) if closers else None
        if swallowed is not None:
            content = content[: swallowed.start()]
        elif not self.ended or content.rstrip().endswith(("]", *_BRACES)):
            raise Malformed("its last string has no closing quote")
        self._repair("missing closing quote")
        return content

    def _bare(self, closer: str, in_list: bool) -> str:
        """A value without quotes: up to the bracket that closes what it is in, or up to a comma
        that has another item or key behind it."""
        literal = self.source.take(_LITERAL)
        if literal is not None:
            return Bare(literal[1])
        text, start = self.source.text, self.source.at
        end, depth = len(text), 0
        for stop in _BARE_STOP.finditer(text, start):
            sign = stop[0]
            if sign in "{[(":
                depth += 1
            elif sign in "}])":
                if depth:
                    depth -= 1
                elif _fits(sign, closer):
                    end = stop.start()
                    break
            elif not depth and (in_list or _AFTER_COMMA.match(text, stop.end())):
                end = stop.start()
                break
        word = text[start:end].strip()
        self.source.at = end
        if end == len(text) and not self.source.is_last:
            # The quote token behind it is the end of a string that has no beginning.
            if not word or depth or _ENDS_IN_KEY.search(word):
                raise Malformed("a quote stands where none should")
            self.source.skip()
            self._repair("missing opening quote")
            return word
        if not word:
            raise Malformed("a key has no value")
        if end == len(text) and (depth or not self.ended):
            raise Malformed("its last value has no end")
        if word.count('"') % 2 or "\n" in word or word.startswith("`"):
            raise Malformed("a text without quotes leaves open where it ends")
        return Bare(word)

    def _mark(self) -> str | None:
        """The kind of quotes that begin here, other than quote tokens."""
        text, at = self.source.text, self.source.at
        return next((mark for mark in _MARKS if text.startswith(mark, at)), None)

    def _repair(self, what: str) -> None:
        if what not in self.repairs:
            self.repairs.append(what)


def _fits(found: str, closer: str) -> bool:
    return found == closer or (found in _BRACES and closer in _BRACES)


def _shown(sign: str) -> str:
    return QUOTE if sign == QUOTE else f"{sign!r}"
