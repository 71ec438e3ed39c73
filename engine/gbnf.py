"""Grammars as text (GBNF): read before llama.cpp does, because it survives few mistakes in them.

A bound like ``{3,1}`` or a rule that begins with itself behind parts that can be empty never ends
in llama.cpp, deep brackets overflow its stack, and its token terminals (``<[48]>``) stop the
process when characters of the same token were matched before. So grammars are checked here, and
token terminals are turned into characters that stand for tokens: see ``Gbnf.with_stand_ins``.
"""

from __future__ import annotations

import graphlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from gemma_local.models.errors import GemmaLocalError

LONGEST: Final = 1 << 20
_DEEPEST: Final = 50
_MOST_REPEATS: Final = 2000
_MOST_PATHS: Final = 100_000

_LEXEME: Final = re.compile(
    r"""(?P<space>(?:[ \t]|\#[^\r\n]*)+)
      | (?P<newline>[\r\n]+)
      | (?P<is>::=)
      | (?P<name>[A-Za-z0-9-]+)
      | (?P<literal>"(?:[^"\\]|\\.)*")
      | (?P<chars>\[\^?(?:[^\]\\]|\\.)*\])
      | (?P<token>!?<\[[0-9]{1,9}\]>)
      | (?P<bounds>\{\s*[0-9]{1,9}\s*(?:,\s*(?:[0-9]{1,9})?\s*)?\})
      | (?P<sign>[|().*+?])""",
    re.VERBOSE | re.DOTALL,
)


class BadGrammar(GemmaLocalError):
    """A grammar that cannot be used."""


@dataclass(frozen=True, slots=True)
class _Lexeme:
    kind: str
    text: str
    line: int


class Gbnf:
    """A grammar that llama.cpp can be given. ``tokens`` are the ids that it names."""

    def __init__(self, text: str, root: str = "root") -> None:
        """Raises BadGrammar."""
        if len(text) > LONGEST:
            raise BadGrammar(
                f"the grammar has {len(text)} characters and may have {LONGEST}; use a shorter one"
            )
        self._lexemes = list(_lexemes(text))
        self.tokens = frozenset(_id(each.text) for each in self._lexemes if each.kind == "token")
        _check(_Reader(self._lexemes).rules, root)

    def with_stand_ins(self, stand_ins: Mapping[int, str]) -> str:
        """The grammar with a character in place of each token that it names.

        ``!<[id]>`` becomes any character that stands for no token, and no class of characters
        contains one that does: a token can come where it is named and nowhere else.
        """
        every = "".join(f"\\x{ord(character):02x}" for character in stand_ins.values())
        if not every:
            return "".join(lexeme.text for lexeme in self._lexemes)
        return "".join(_replaced(lexeme, stand_ins, every) for lexeme in self._lexemes)


def _replaced(lexeme: _Lexeme, stand_ins: Mapping[int, str], every: str) -> str:
    text = lexeme.text
    if lexeme.kind == "token" and not text.startswith("!"):
        return f'"\\x{ord(stand_ins[_id(text)]):02x}"'
    if lexeme.kind == "token" or text == ".":
        return f"[^{every}]"
    if lexeme.kind == "chars" and text.startswith("[^"):
        return f"[^{every}{text[2:]}"
    return text


def _id(terminal: str) -> int:
    return int(terminal.strip("!<[]>"))


def _lexemes(text: str) -> Iterator[_Lexeme]:
    at, line = 0, 1
    while at < len(text):
        match = _LEXEME.match(text, at)
        if match is None:
            raise BadGrammar(f"the grammar cannot be read in line {line}: {text[at : at + 20]!r}")
        yield _Lexeme(match.lastgroup or "", match[0], line)
        line += match[0].count("\n")
        at = match.end()


_Alternatives = list[list[str]]
"""A rule: sequences of names of rules, "" for a character or a token."""


class _Reader:
    """Reads rules as far as it takes to know where they can begin. Groups and repetitions become
    rules of their own, as in llama.cpp."""

    def __init__(self, lexemes: list[_Lexeme]) -> None:
        self.rules: dict[str, _Alternatives] = {}
        self._lexemes = [lexeme for lexeme in lexemes if lexeme.kind != "space"]
        self._at = 0
        self._skip_newlines()
        while self._peek() is not None:
            name = self._take("name")
            self._take("is")
            self._skip_newlines()
            self.rules[name.text] = self._alternatives(0)
            if self._peek() is not None:
                self._take("newline")
                self._skip_newlines()

    def _peek(self) -> _Lexeme | None:
        return self._lexemes[self._at] if self._at < len(self._lexemes) else None

    def _take(self, kind: str) -> _Lexeme:
        lexeme = self._peek()
        if lexeme is None or lexeme.kind != kind:
            raise self._unexpected()
        self._at += 1
        return lexeme

    def _unexpected(self) -> BadGrammar:
        lexeme = self._peek()
        if lexeme is None:
            return BadGrammar("the grammar ends in the middle of a rule")
        return BadGrammar(f"the grammar has {lexeme.text!r} out of place in line {lexeme.line}")

    def _skip_newlines(self) -> None:
        while (lexeme := self._peek()) is not None and lexeme.kind == "newline":
            self._at += 1

    def _alternatives(self, depth: int) -> _Alternatives:
        if depth > _DEEPEST:
            raise BadGrammar(f"the grammar has more than {_DEEPEST} brackets in one another")
        found = [self._sequence(depth)]
        while self._is("|"):
            self._at += 1
            self._skip_newlines()
            found.append(self._sequence(depth))
        return found

    def _is(self, sign: str) -> bool:
        lexeme = self._peek()
        return lexeme is not None and lexeme.kind == "sign" and lexeme.text == sign

    def _sequence(self, depth: int) -> list[str]:
        parts: list[str] = []
        last: str | None = None
        while True:
            if depth:
                self._skip_newlines()
            lexeme = self._peek()
            if lexeme is None or lexeme.kind in ("newline", "is") or lexeme.text in ("|", ")"):
                return parts
            if lexeme.kind == "bounds" or (lexeme.kind == "sign" and lexeme.text in "*+?"):
                if last is None:
                    raise self._unexpected()
                self._at += 1
                parts[-1] = last = self._repeated(last, lexeme)
                continue
            self._at += 1
            if lexeme.text == "(":
                self._skip_newlines()
                last = self._add(self._alternatives(depth + 1))
                if not self._is(")"):
                    raise self._unexpected()
                self._at += 1
            elif lexeme.kind == "name":
                last = lexeme.text
            elif lexeme.kind == "literal":
                last = None if lexeme.text == '""' else ""
            else:
                last = ""
            if last is not None:
                parts.append(last)

    def _repeated(self, part: str, lexeme: _Lexeme) -> str:
        least, most = _bounds(lexeme)
        name = self._add([[part], []])
        if most != 1:
            self.rules[name][0].append(name)
        return name if least == 0 else self._add([[part, name]])

    def _add(self, alternatives: _Alternatives) -> str:
        name = f"({len(self.rules)}"
        self.rules[name] = alternatives
        return name


def _bounds(lexeme: _Lexeme) -> tuple[int, int | None]:
    if lexeme.kind != "bounds":
        return {"*": (0, None), "+": (1, None), "?": (0, 1)}[lexeme.text]
    numbers = [int(number) if number.strip() else None for number in lexeme.text[1:-1].split(",")]
    least, most = numbers[0] or 0, numbers[-1]
    if max(least, most or 0) > _MOST_REPEATS or (most is not None and most < least):
        raise BadGrammar(
            f"the grammar repeats {lexeme.text} in line {lexeme.line}; the second number must not "
            f"be smaller than the first, nor any larger than {_MOST_REPEATS}"
        )
    return least, most


def _check(rules: Mapping[str, _Alternatives], root: str) -> None:
    """Raise BadGrammar if a rule is missing or begins with itself."""
    used = {root, *(part for rule in rules.values() for parts in rule for part in parts if part)}
    missing = sorted(used - rules.keys())
    if missing:
        raise BadGrammar(f"the grammar has no rule {missing[0]!r}")
    empty = _can_be_empty(rules)
    begins = {name: list(_beginnings(rule, empty)) for name, rule in rules.items()}
    paths: dict[str, int] = {}
    try:
        for name in graphlib.TopologicalSorter(begins).static_order():
            paths[name] = 1 + sum(paths[part] for part in begins[name])
    except graphlib.CycleError as error:
        names = [name for name in error.args[1] if not name.startswith("(")]
        raise BadGrammar(
            f"the grammar's rule {names[0] if names else root!r} can begin with itself, or repeats "
            "something that can be empty; write it so that a character comes first"
        ) from None
    if max(paths.values()) > _MOST_PATHS:
        raise BadGrammar("the grammar can begin in too many ways; use a simpler one")


def _can_be_empty(rules: Mapping[str, _Alternatives]) -> set[str]:
    users: dict[str, set[str]] = {}
    for name, rule in rules.items():
        for part in {part for parts in rule for part in parts if part}:
            users.setdefault(part, set()).add(name)
    empty: set[str] = set()
    waiting = list(rules)
    while waiting:
        name = waiting.pop()
        if name not in empty and any(all(p in empty for p in parts) for parts in rules[name]):
            empty.add(name)
            waiting += users.get(name, ())
    return empty


def _beginnings(rule: _Alternatives, empty: set[str]) -> Iterator[str]:
    """The rules that a rule can begin with, as often as it can."""
    for parts in rule:
        for part in parts:
            if part:
                yield part
            if part not in empty:
                break
