"""Which commands a line of the shell consists of."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final

from gemma_local.app.agent.run.command import CommandLine, Redirection, SimpleCommand
from gemma_local.app.agent.run.shell_reader import (
    DEEPEST,
    MOST,
    TOO_DEEP,
    TOO_MANY,
    Found,
    NotUnderstood,
    Reader,
    Word,
)

LONGEST: Final = 10_000
"""Characters of a line that is read."""

_OPENING: Final = frozenset(["if", "then", "elif", "else", "while", "until", "do", "{", "!"])
_CLOSING: Final = frozenset(["fi", "done", "}", "esac"])
_OPERATORS: Final = (";;&", ";;", ";&", "&&", "||", "|&", "&", "|", ";")
_REDIRECTION: Final = re.compile(
    r"(?:\d+|\{\w+\})?(?P<sign>&>>|&>|<<<|<<-|<<|<>|<&|>>|>\||>&|<(?!\()|>(?!\())"
)
_ASSIGNMENT: Final = re.compile(r"(?P<name>[A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_IN: Final = re.compile(r"in(?![^\s;])")
_ELEMENT: Final = re.compile(r"\w*\[(?!\d+\])")
_KEEPING_ELEMENT: Final = re.compile(r"\{\w+\[(?!\d+\])[^{}]*\}[<>]")
"""An element of an array that is assigned to, and one that a redirection keeps its number in. Which
it is is computed."""
_COMPUTING: Final = frozenset(["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"])
"""Between double square brackets they compute what their operands hold."""


def parse(text: str) -> CommandLine:
    """Read a line, which may have several lines. Never fails."""
    if len(text) > LONGEST:
        return CommandLine((), ("it is too long to be looked through",))
    unclear: list[str] = []
    commands: list[SimpleCommand] = []
    computes = False
    waiting = [(text, True, 0)]
    while waiting:
        source, is_sure, depth = waiting.pop()
        if depth > DEEPEST:
            unclear.append(TOO_DEEP)
            break
        if len(commands) > MOST:
            unclear.append(TOO_MANY)
            break
        parser = _Parser(source)
        parser.run()
        commands += [
            command if is_sure else replace(command, is_sure=False) for command in parser.commands()
        ]
        if is_sure:
            unclear += parser.found.unclear
            computes |= parser.found.computes
        waiting += [
            (inner, is_sure and inner_sure, depth + 1) for inner, inner_sure in parser.found.inner
        ]
    return CommandLine(tuple(commands), tuple(dict.fromkeys(unclear)), computes)


@dataclass(slots=True)
class _Growing:
    words: list[Word] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)
    text_in: str = ""
    is_fed: bool = False

    @property
    def is_empty(self) -> bool:
        return not (self.words or self.variables or self.redirections)


class _Parser:
    """Goes through a text once. Parentheses and words such as "if" only say where a command can
    begin: which one it is that runs does not matter here."""

    def __init__(self, text: str) -> None:
        self.found = Found()
        self._reader = Reader(text, self.found)
        self._all: list[_Growing] = []
        self._now = _Growing()
        self._open = 0
        # For each "case" that is open, whether a pattern comes next.
        self._cases: list[bool] = []
        self._documents: list[tuple[_Growing, str, bool, bool]] = []

    def commands(self) -> list[SimpleCommand]:
        """What was found."""
        return [
            SimpleCommand(
                tuple(growing.words),
                tuple(growing.variables),
                tuple(growing.redirections),
                growing.text_in,
                growing.is_fed,
            )
            for growing in self._all
        ]

    def run(self) -> None:
        """Read all of it."""
        try:
            while self._step():
                pass
            if self._open or self._cases or self._documents:
                raise NotUnderstood("something in it is not closed")
        except NotUnderstood as error:
            self.found.unclear.append(str(error))
        except RecursionError:
            self.found.unclear.append(TOO_DEEP)
        with suppress(NotUnderstood):
            self._end()

    def _step(self) -> bool:
        reader = self._reader
        reader.skip_blanks()
        if reader.is_at_end:
            return False
        if reader.looks_at("\n"):
            self._end()
            reader.at += 1
            self._read_documents()
        elif self._cases and self._cases[-1]:
            self._pattern()
        elif found := _REDIRECTION.match(reader.text, reader.at):
            self._redirect(found)
        elif operator := reader.looks_at(*_OPERATORS):
            self._end(is_pipe=operator in ("|", "|&"))
            reader.at += len(operator)
            if operator in (";;&", ";;", ";&"):
                if not self._cases:
                    raise NotUnderstood("it has ;; outside of a case")
                self._cases[-1] = True
        elif reader.looks_at("("):
            self._open_parenthesis()
        elif reader.looks_at(")"):
            if not self._open:
                raise NotUnderstood("it has a parenthesis too many")
            self._end()
            self._open -= 1
            reader.at += 1
        else:
            self._word()
        return True

    def _end(self, *, is_pipe: bool = False) -> None:
        if not self._now.is_empty:
            if len(self._all) == MOST:
                raise NotUnderstood(TOO_MANY)
            self._all.append(self._now)
        self._now = _Growing(is_fed=is_pipe)

    def _open_parenthesis(self) -> None:
        reader, now = self._reader, self._now
        if now.is_empty:
            if not reader.skip_arithmetic():
                self._open += 1
                if self._open > DEEPEST:
                    raise NotUnderstood(TOO_DEEP)
                reader.at += 1
        elif not now.words and now.variables and reader.text[reader.at - 1] == "=":
            self._values()
        elif len(now.words) == 1:
            self.found.unclear.append("it defines a function")
            reader.at += 1
            reader.skip_blanks()
            if not reader.looks_at(")"):
                raise NotUnderstood("it has a parenthesis in a strange place")
            reader.at += 1
            self._now = _Growing()
        else:
            raise NotUnderstood("it has a parenthesis in a strange place")

    def _values(self) -> None:
        """The values of an array, which may be on several lines."""
        reader = self._reader
        reader.at += 1
        while True:
            reader.skip_blanks()
            if reader.looks_at(")"):
                reader.at += 1
                return
            start = reader.at
            if reader.looks_at("\n"):
                reader.at += 1
            else:
                self.found.computes |= _ELEMENT.match(reader.text, start) is not None
                reader.word()
            if reader.at == start:
                raise NotUnderstood("it has an array that is strange")

    def _word(self) -> None:
        reader, now = self._reader, self._now
        start = reader.at
        word = reader.word()
        if reader.at == start:
            raise NotUnderstood(f"it has {reader.text[start]!r} in a strange place")
        if not now.words:
            if not word.is_quoted and not now.variables and self._is_reserved(word.text):
                return
            if found := _ASSIGNMENT.match(reader.text, start, reader.at):
                now.variables.append(found["name"])
                self.found.computes |= _ELEMENT.match(found[0]) is not None
                return
        self.found.computes |= _KEEPING_ELEMENT.match(reader.text, start) is not None
        now.words.append(word)

    def _is_reserved(self, text: str) -> bool:
        """Take a word of the language; false if it is none."""
        if text in _OPENING or text in _CLOSING:
            if text == "esac":
                if not self._cases:
                    raise NotUnderstood("it has esac outside of a case")
                self._cases.pop()
            return True
        if text in ("for", "select"):
            self._skip_header()
        elif text == "case":
            self._case()
        elif text == "function":
            self.found.unclear.append("it defines a function")
            self._reader.skip_blanks()
            self._reader.word()
            self._reader.skip_blanks()
            if self._reader.looks_at("("):
                self._reader.balanced()
        elif text in ("time", "coproc"):
            self._reader.skip_blanks()
            if self._reader.looks_at("-p"):
                self._reader.word()
        elif text == "[[":
            self._condition()
        else:
            return False
        return True

    def _skip_header(self) -> None:
        """What stands between "for" and the end of the line; without "in" the name alone, behind
        which "do" may follow at once."""
        reader = self._reader
        reader.skip_blanks()
        if reader.skip_arithmetic():
            return
        reader.word()
        reader.skip_blanks()
        if not _IN.match(reader.text, reader.at):
            return
        while not reader.is_at_end and not reader.looks_at(";", "\n"):
            start = reader.at
            reader.word()
            if reader.at == start:
                raise NotUnderstood("it has a for that is strange")
            reader.skip_blanks()

    def _case(self) -> None:
        reader = self._reader
        reader.skip_blanks()
        reader.word()
        while reader.looks_at(" ", "\t", "\n", "\\\n", "#"):
            reader.skip_blanks()
            if reader.looks_at("\n"):
                reader.at += 1
        if reader.word().text != "in":
            raise NotUnderstood("it has a case that is strange")
        self._cases.append(True)

    def _pattern(self) -> None:
        """``a | b)``, or the end of the case."""
        reader = self._reader
        if reader.looks_at("("):
            reader.at += 1
        while True:
            reader.skip_blanks()
            start = reader.at
            word = reader.word()
            if word.text == "esac" and not word.is_quoted:
                self._cases.pop()
                return
            reader.skip_blanks()
            if reader.looks_at(")"):
                reader.at += 1
                self._cases[-1] = False
                return
            if reader.at == start or not reader.looks_at("|"):
                raise NotUnderstood("it has a case that is strange")
            reader.at += 1

    def _condition(self) -> None:
        """``[[ ... ]]``: words and signs, no commands."""
        reader = self._reader
        while not reader.is_at_end:
            reader.skip_blanks()
            if reader.looks_at("\n", "<", ">", "&", "|", "(", ")") and not reader.looks_at(
                "<(", ">("
            ):
                reader.at += 1
                continue
            start = reader.at
            word = reader.word()
            if word.text == "]]" and not word.is_quoted:
                return
            self.found.computes |= word.text in _COMPUTING
            if reader.at == start:
                break
        raise NotUnderstood("it has a condition that is not closed")

    def _redirect(self, found: re.Match[str]) -> None:
        reader = self._reader
        sign = found["sign"]
        reader.at = found.end()
        reader.skip_blanks()
        start = reader.at
        target = reader.word()
        if reader.at == start:
            raise NotUnderstood("it redirects to nowhere")
        if sign in ("<<", "<<-"):
            if not target.is_known:
                raise NotUnderstood("it has a here-document whose end is not clear")
            self._documents.append((self._now, target.text, target.is_quoted, sign == "<<-"))
        # Also keeps a command that is nothing but a redirection.
        self._now.redirections.append(Redirection(sign, target))

    def _read_documents(self) -> None:
        """The here-documents that begin behind the line that ended."""
        reader = self._reader
        for growing, closing, is_quoted, strips in self._documents:
            lines = []
            while True:
                if reader.is_at_end:
                    # The shell takes what there is; but perhaps it sees the end elsewhere.
                    self.found.unclear.append("it has a here-document that is not closed")
                    break
                line = reader.line(joins=not is_quoted)
                if (line.lstrip("\t") if strips else line) == closing:
                    break
                lines.append(line)
            growing.text_in += "\n".join(lines) + "\n"
            if not is_quoted:
                Reader(growing.text_in, self.found).read_expansions()
        self._documents = []
