"""Commands that run other commands: ``sudo rm``, ``timeout 60 make``, ``bash -c "..."``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from gemma_local.app.agent.run.command import CommandLine, SimpleCommand
from gemma_local.app.agent.run.command_line import parse
from gemma_local.app.agent.run.git_settings import settings_of
from gemma_local.app.agent.run.shell_reader import DEEPEST, MOST, TOO_DEEP, Word
from gemma_local.app.agent.run.tables import table

SHELLS: Final = frozenset(["sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"])

_MOST_WORDS: Final = 40
"""Of a command that runs what it is given, each word of which could be where that begins."""

_PLAIN: Final[dict[str, tuple[frozenset[str], int]]] = {
    # Name: the options that take the next word, and how many words stand before the command.
    "command": (frozenset(), 0),
    "builtin": (frozenset(), 0),
    "exec": (frozenset(["-a"]), 0),
    "nohup": (frozenset(), 0),
    "setsid": (frozenset(), 0),
    "env": (frozenset(["-u", "--unset", "-C"]), 0),
    "nice": (frozenset(["-n", "--adjustment"]), 0),
    "ionice": (frozenset(["-c", "-n", "--class", "--classdata"]), 0),
    "stdbuf": (frozenset(["-i", "-o", "-e"]), 0),
    "timeout": (frozenset(["-s", "-k", "--signal", "--kill-after"]), 1),
    "time": (frozenset(["-f", "-o"]), 0),
    "xargs": (
        frozenset(["-I", "-n", "-P", "-L", "-d", "-E", "-s", "-a", "--max-args", "--max-procs"])
        | frozenset(["--max-lines", "--delimiter", "--arg-file", "--replace"]),
        0,
    ),
}
_FLAGS: Final = frozenset(
    (
        *("--ctty", "--debug", "--exit", "--foreground", "--fork", "--ignore-environment"),
        *("--interactive", "--no-run-if-empty", "--null", "--preserve-status", "--verbose"),
        "--wait",
    )
)
"""Their long options that take nothing."""
_NOT_RUNNING: Final = {"command": ("-v", "-V"), "env": ("-C", "--chdir")}
_SPLIT: Final = re.compile(r"-[A-Za-z0]*S|--s")
"""How an option of env begins whose value is a command in one text."""

_EXECUTING: Final = frozenset(["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec"])
_UNKNOWN: Final = Word("...", is_known=False)


@dataclass(slots=True)
class _Inner:
    """Commands in a command. ``replaces``: they are all that it does."""

    commands: list[SimpleCommand] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    maybe: list[str] = field(default_factory=list)
    unclear: list[str] = field(default_factory=list)
    replaces: bool = False


def understood(text: str) -> CommandLine:
    """All commands of a line, also those that others would run; without those that do nothing but
    run another. Never fails."""
    first = parse(text)
    unclear = list(first.unclear)
    computes = first.computes
    found: list[SimpleCommand] = []
    waiting = [(command, 0) for command in reversed(first.commands)]
    while waiting:
        command, depth = waiting.pop()
        if depth > DEEPEST or len(found) > MOST:
            unclear.append(TOO_DEEP)
            break
        inner = _inner_of(command)
        if command.is_sure:
            unclear += inner.unclear
        if not inner.replaces:
            found.append(command)
        more = list(inner.commands)
        for source, is_sure in [(one, True) for one in inner.texts] + [
            (one, False) for one in inner.maybe
        ]:
            line = parse(source)
            if is_sure and command.is_sure:
                unclear += line.unclear
                computes |= line.computes
            more += [each if is_sure else replace(each, is_sure=False) for each in line.commands]
        waiting += [
            (each if command.is_sure else replace(each, is_sure=False), depth + 1)
            for each in reversed(more)
        ]
    return CommandLine(tuple(found), tuple(dict.fromkeys(unclear)), computes)


def _inner_of(command: SimpleCommand) -> _Inner:
    program, words = command.program, command.words
    if program in SHELLS:
        return _of_shell(command)
    if program == "eval":
        return _of_texts(words[1:])
    if program == "trap" and len(words) > 2:
        return _of_texts(words[1:2])
    if program == "git":
        return _Inner(maybe=[each.command for each in settings_of(command) if each.command])
    if program in ("find", "fd", "fdfind"):
        return _Inner(commands=_executed(command))
    if program in _PLAIN and (begin := _begin(program, words)) is not None:
        inside = words[begin:]
        if program == "xargs":
            inside = (*inside, _UNKNOWN) if inside else (Word("echo"), _UNKNOWN)
        names = [word.text.partition("=")[0] for word in words[1:begin] if "=" in word.text]
        variables = (*command.variables, *(name for name in names if name.isidentifier()))
        return _Inner([replace(command, words=inside, variables=variables)], replaces=bool(inside))
    if program in _PLAIN or program in table("habits")["runners"]["programs"]:
        unclear = ["it has too many words"] if len(words) > _MOST_WORDS else []
        if program == "env" and any(_SPLIT.match(word.text) for word in words):
            unclear.append("it runs a text that it takes apart")
        words = words[:_MOST_WORDS]
        more = (_UNKNOWN,) if program == "xargs" else ()
        return _Inner(
            [
                replace(command, words=(*words[index:], *more), redirections=(), is_sure=False)
                for index in range(1, len(words))
            ],
            maybe=[word.text for word in words[1:] if word.is_known and " " in word.text],
            unclear=unclear,
        )
    return _Inner()


def _begin(program: str, words: Sequence[Word]) -> int | None:
    """Where the command in a plain wrapper begins; None if that is not sure."""
    valued, before = _PLAIN[program]
    at = 1
    while at < len(words):
        word = words[at]
        if not word.is_known or word.text in _NOT_RUNNING.get(program, ()):
            return None
        if program == "env" and _SPLIT.match(word.text):
            return None
        if word.text == "--":
            at += 1
            break
        if program == "env" and "=" in word.text and not word.text.startswith("-"):
            at += 1
        elif word.text.startswith("--"):
            if not ("=" in word.text or word.text in valued or word.text in _FLAGS):
                # Not known here, or cut short: it may take the next word.
                return None
            at += 2 if word.text in valued else 1
        elif word.text.startswith("-") and word.text != "-":
            at += 2 if _takes_next(word.text, valued) else 1
        else:
            break
    at += before
    return min(at, len(words))


def _takes_next(option: str, valued: frozenset[str]) -> bool:
    """Whether the last of some letters takes the next word as its value: "-0n", but not "-n1"."""
    first = next((at for at, sign in enumerate(option) if f"-{sign}" in valued), 0)
    return 0 < first == len(option) - 1


def _of_shell(command: SimpleCommand) -> _Inner:
    """What a shell is told to run on its command line, or by its input."""
    words = command.words
    at = 1
    has_text = False
    while at < len(words):
        word = words[at]
        if not word.is_known:
            return _Inner(unclear=["it runs what is only known when it runs"])
        if word.text in ("-o", "+o", "-O", "+O", "--rcfile", "--init-file"):
            at += 2
            continue
        if word.text[:1] not in ("-", "+") or word.text == "-":
            break
        has_text |= word.text[:1] == "-" and word.text[1:2] != "-" and "c" in word.text
        at += 1
    if has_text:
        return _of_texts(words[at : at + 1])
    if at < len(words) and words[at].text not in ("-", "/dev/stdin"):
        # A script.
        return _Inner()
    texts = [command.text_in] if command.text_in else []
    for redirection in command.redirections:
        if redirection.sign == "<<<":
            inner = _of_texts([redirection.target])
            return replace(inner, texts=texts + inner.texts)
    if texts:
        return _Inner(texts=texts, replaces=True)
    if command.is_fed:
        return _Inner(unclear=["it runs what another command writes"])
    return _Inner()


def _of_texts(words: Sequence[Word]) -> _Inner:
    """Commands that are put together from words."""
    if not all(word.is_known for word in words):
        return _Inner(
            unclear=["it runs what is only known when it runs"],
            maybe=[word.text for word in words],
        )
    return _Inner(texts=[" ".join(word.text for word in words)], replaces=True)


def _executed(command: SimpleCommand) -> list[SimpleCommand]:
    """What find runs for each file."""
    found = []
    words = command.words
    for index, word in enumerate(words):
        if word.text in _EXECUTING:
            end = next(
                (at for at in range(index, len(words)) if words[at].text in (";", "+")), len(words)
            )
            inside = [_UNKNOWN if "{}" in one.text else one for one in words[index + 1 : end]]
            if command.program != "find" and _UNKNOWN not in inside:
                inside.append(_UNKNOWN)
            if inside:
                found.append(replace(command, words=tuple(inside), redirections=()))
    return found
