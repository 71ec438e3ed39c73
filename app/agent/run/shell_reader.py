"""Reading a line of the shell, in the language of bash and POSIX shells.

It is read to know which programs it would run, not to run it: what could be a command is taken for
one. What is not understood is said, and then a person is asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

DEEPEST: Final = 40
"""Commands in commands, beyond which nobody reads them."""
MOST: Final = 300
"""Commands of one line that are looked at."""
TOO_DEEP: Final = "it is nested too deeply"
TOO_MANY: Final = "it has too many commands"

_META: Final = frozenset(" \t\n;&|()<>")
_GLOB: Final = frozenset("*?[")
_PROMPT_CALL: Final = re.compile(r"@P\}?\Z")
_NAME: Final = re.compile(r"[A-Za-z_$`]")
_COMPUTED: Final = re.compile(
    # The variable that another names; an element; a part from a place on.
    r"\$\{(?:!\w+(?![\w@*])|[#!]?\w+\[(?![@*]\]|\d+\])"
    r"|[\w@*#?$!-]+(?:\[[^\]]*\])?:(?![-=?+]).*[A-Za-z_$`])",
    re.DOTALL,
)
"""In braces, what the shell computes: arithmetic runs the commands that a variable's value has in
the index of an array."""


class NotUnderstood(Exception):
    """The line cannot be read, for the reason given in a few words."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word as a program would get it. ``is_known`` is false if that depends on something that is
    only known when it runs; then ``text`` has it as it is written. ``has_pattern``: it stands for
    the files that fit. ``is_quoted``: some of it is in quotes."""

    text: str
    is_known: bool = True
    has_pattern: bool = False
    is_quoted: bool = False


@dataclass(slots=True)
class Found:
    """What a reader finds on its way: the texts of commands inside of words, each with whether it
    is sure to be one; why the line is not wholly understood; and whether it ``computes`` with what
    is not known: then a variable's value may be run."""

    inner: list[tuple[str, bool]] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    computes: bool = False

    def add(self, text: str, *, is_sure: bool) -> None:
        """Take note of a command. Raises NotUnderstood if there are too many."""
        if len(self.inner) == MOST:
            raise NotUnderstood(TOO_MANY)
        self.inner.append((text, is_sure))


class Reader:
    """A place in a text that moves on as words are read."""

    def __init__(self, text: str, found: Found) -> None:
        self.text = text
        self.at = 0
        self._found = found
        self._depth = 0

    @property
    def is_at_end(self) -> bool:
        return self.at >= len(self.text)

    def looks_at(self, *beginnings: str) -> str:
        """The first of the beginnings that the rest has, "" if none."""
        return next((one for one in beginnings if self.text.startswith(one, self.at)), "")

    def skip_blanks(self) -> None:
        """Over blanks, line continuations and comments, up to the end of the line."""
        while not self.is_at_end:
            if self.text[self.at] in " \t":
                self.at += 1
            elif self.looks_at("\\\n"):
                self.at += 2
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return

    def line(self, *, joins: bool) -> str:
        """The rest of this line; moves on to the next. ``joins``: a line goes on behind a backslash
        at its end, as it does where the shell takes escapes for such."""
        pieces: list[str] = []
        while True:
            end = self.text.find("\n", self.at)
            piece = self.text[self.at : end if end >= 0 else len(self.text)]
            self.at = end + 1 if end >= 0 else len(self.text)
            backslashes = len(piece) - len(piece.rstrip("\\"))
            if not joins or end < 0 or backslashes % 2 == 0:
                return "".join([*pieces, piece])
            pieces.append(piece[:-1])

    def word(self) -> Word:
        """The word that begins here; empty if none does. Raises NotUnderstood."""
        begin, parts = self.at, _Parts()
        if self.looks_at("<(", ">("):
            self.at += 1
            self._take_substitution()
            parts.is_known = False
        while not self.is_at_end and (sign := self.text[self.at]) not in _META:
            if sign == "\\":
                self._escaped(parts)
            elif sign == "'":
                self._single(parts)
            elif sign == '"':
                self.at += 1
                self._double(parts, '"')
            elif sign in "$`":
                self._expansion(parts)
            else:
                parts.has_pattern |= sign in _GLOB
                parts.has_brace |= sign == "{"
                parts.pieces.append(sign)
                self.at += 1
        written = self.text[begin : self.at]
        if parts.has_brace and ("," in written or ".." in written):
            # It becomes several words.
            parts.is_known = False
        text = "".join(parts.pieces) if parts.is_known else written
        # The program "[" is no pattern.
        return Word(text, parts.is_known, parts.has_pattern and written != "[", parts.is_quoted)

    def read_expansions(self) -> None:
        """Read on to the end as in double quotes: the text of a here-document."""
        self._double(_Parts(), "")

    def find_possible(self, text: str) -> None:
        """Take note of what looks like commands in a quoted text: arithmetic, for one, runs them
        when such a text comes to it in a variable."""
        if "$(" in text or "`" in text:
            parts, inner = _Parts(), Found()
            try:
                Reader(text, inner)._double(parts, "")
            except NotUnderstood:
                inner.add(text, is_sure=False)
            for command, _ in inner.inner:
                self._found.add(command, is_sure=False)

    def _escaped(self, parts: _Parts) -> None:
        self.at += 1
        if self.looks_at("\n"):
            self.at += 1
            return
        parts.is_quoted = True
        parts.pieces.append(self.text[self.at : self.at + 1])
        self.at += 1

    def _single(self, parts: _Parts) -> None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise NotUnderstood("a quote is not closed")
        inside = self.text[self.at + 1 : end]
        parts.is_quoted = True
        parts.pieces.append(inside)
        self.find_possible(inside)
        self.at = end + 1

    def _double(self, parts: _Parts, closing: str) -> None:
        """Up to the closing quote, or to the end of the text without one."""
        parts.is_quoted = True
        outer, parts.is_inside_quotes = parts.is_inside_quotes, True
        while not self.is_at_end:
            sign = self.text[self.at]
            if sign == closing:
                self.at += 1
                parts.is_inside_quotes = outer
                return
            if sign == "\\":
                following = self.text[self.at + 1 : self.at + 2]
                if following != "\n":
                    parts.pieces.append(following if following in '$`"\\' else "\\" + following)
                self.at += 2
            elif sign in "$`":
                self._expansion(parts)
            else:
                parts.pieces.append(sign)
                self.at += 1
        if closing:
            raise NotUnderstood("a quote is not closed")

    def _expansion(self, parts: _Parts) -> None:
        if self.text[self.at] == "`":
            parts.is_known = False
            self._backquoted(is_inside_quotes=parts.is_inside_quotes)
            return
        following = self.text[self.at + 1 : self.at + 2]
        if self.looks_at("$\\\n"):
            # The shell takes the end of the line away before it looks what stands behind the $.
            raise NotUnderstood("a $ stands at the end of a line")
        if following == "[":
            raise NotUnderstood("it has arithmetic in square brackets")
        if following == "(":
            parts.is_known = False
            self.at += 1
            self._take_substitution()
        elif following == "{":
            parts.is_known = False
            self._braced()
        elif following == "'" and not parts.is_inside_quotes:
            # Escapes as in C.
            parts.is_known = False
            self._c_quoted()
        elif following == '"' and not parts.is_inside_quotes:
            self.at += 2
            self._double(parts, '"')
        elif following and (following.isalnum() or following in "_*@#?-$!"):
            parts.is_known = False
            self.at += 2
            while not self.is_at_end and (self.text[self.at].isalnum() or self.looks_at("_")):
                self.at += 1
        else:
            parts.pieces.append("$")
            self.at += 1

    def _take_substitution(self) -> None:
        """A command in parentheses, at the first of them."""
        if self.text[self.at - 1] != "$" or not self.skip_arithmetic():
            self._found.add(self.balanced(), is_sure=True)

    def skip_arithmetic(self) -> bool:
        """Over ``((...))``; false if what is here is something else."""
        start = self.at
        if not self.looks_at("(("):
            return False
        inside = self.balanced()
        if not _is_one_pair(inside):
            self.at = start
            return False
        self._found.computes |= _NAME.search(inside) is not None
        # What it holds is taken for a command as well: to find more is no harm.
        self._found.add(inside, is_sure=False)
        Reader(inside, self._found).read_expansions()
        return True

    def balanced(self) -> str:
        """What stands between the parenthesis here and the one that closes it."""
        begin = self.at + 1
        self.at += 1
        self._depth += 1
        if self._depth > DEEPEST:
            raise NotUnderstood(TOO_DEEP)
        depth = 1
        while not self.is_at_end:
            sign = self.text[self.at]
            if sign == "\\":
                self.at += 2
                continue
            if sign == "'" or self.looks_at("$'"):
                # Not with the quotes of the text around: they begin anew in here.
                self._c_quoted() if sign == "$" else self._single(_Parts())
                continue
            if sign == '"':
                self.at += 1
                self._skim_double()
                continue
            if sign == "#" and self.text[self.at - 1] in _META:
                self.skip_blanks()
                continue
            depth += (sign == "(") - (sign == ")")
            self.at += 1
            if not depth:
                self._depth -= 1
                return self.text[begin : self.at - 1]
        raise NotUnderstood("a parenthesis is not closed")

    def _skim_double(self) -> None:
        """Over a text in double quotes, without a look at what is in it: it is read later."""
        while not self.is_at_end:
            sign = self.text[self.at]
            if sign == "\\":
                self.at += 2
            elif sign == '"':
                self.at += 1
                return
            elif self.looks_at("$("):
                self.at += 1
                self.balanced()
            else:
                self.at += 1
        raise NotUnderstood("a quote is not closed")

    def _backquoted(self, *, is_inside_quotes: bool) -> None:
        end = self.at + 1
        escaped = ("`", "\\", "$", '"') if is_inside_quotes else ("`", "\\", "$")
        pieces = []
        while end < len(self.text) and self.text[end] != "`":
            if self.text[end] == "\\" and self.text[end + 1 : end + 2] in escaped:
                end += 1
            pieces.append(self.text[end : end + 1])
            end += 1
        if end >= len(self.text):
            raise NotUnderstood("a backquote is not closed")
        self._found.add("".join(pieces), is_sure=True)
        self.at = end + 1

    def _braced(self) -> None:
        """``${...}``, which may hold words of any kind."""
        begin = self.at
        self.at += 2
        while not self.is_at_end:
            sign = self.text[self.at]
            if sign == "}":
                written = self.text[begin : self.at]
                if _PROMPT_CALL.search(written):
                    self._found.unclear.append("it runs what a variable holds")
                self._found.computes |= _COMPUTED.match(written) is not None
                self.at += 1
                return
            if sign == "\\":
                self.at += 2
            elif sign == "'":
                self._single_or_not()
            elif sign == '"':
                self.at += 1
                self._double(_Parts(), '"')
            elif sign in "$`":
                self._expansion(_Parts())
            else:
                self.at += 1
        raise NotUnderstood("a brace is not closed")

    def _single_or_not(self) -> None:
        """Whether it quotes depends on what stands around the braces, and on what is in them."""
        end = self.text.find("'", self.at + 1)
        if end < 0 or set('}$`"\\') & set(self.text[self.at : end]):
            raise NotUnderstood("it has a quote in braces")
        self.at = end + 1

    def _c_quoted(self) -> None:
        begin = self.at + 2
        self.at = begin
        while not self.is_at_end:
            if self.text[self.at] == "\\":
                self.at += 2
            elif self.text[self.at] == "'":
                self.find_possible(self.text[begin : self.at])
                self.at += 1
                return
            else:
                self.at += 1
        raise NotUnderstood("a quote is not closed")


def _is_one_pair(text: str) -> bool:
    """Whether the parenthesis that ``text`` begins with is closed by its last character."""
    reader = Reader(text, Found())
    try:
        reader.balanced()
    except NotUnderstood:
        return False
    return reader.is_at_end


@dataclass(slots=True)
class _Parts:
    """A word while it is read."""

    pieces: list[str] = field(default_factory=list)
    is_known: bool = True
    has_pattern: bool = False
    has_brace: bool = False
    is_quoted: bool = False
    is_inside_quotes: bool = False
