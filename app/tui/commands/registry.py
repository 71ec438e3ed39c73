"""Every command that there is, and how a line becomes one.

Help, the palette and completion list what stands here; a target carries it out.
"""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Final

from gemma_local.app.agent.consent import MODES
from gemma_local.app.argument_values import draft_length, thinking
from gemma_local.app.best.wish import USAGE, parse_wish
from gemma_local.app.tui.commands import arguments
from gemma_local.app.tui.commands.arguments import beginning
from gemma_local.app.tui.commands.command import (
    Bind,
    Command,
    Invocation,
    UnknownCommand,
    alone,
    invoke,
    taking,
)
from gemma_local.app.tui.commands.target import CommandTarget, Setting

_LINE: Final = re.compile(r"/([A-Za-z][A-Za-z-]*)(?:\s+(.*))?", re.DOTALL)


def _theme_names() -> list[str]:
    # Here: the list is made when somebody asks for it.
    from textual.theme import BUILTIN_THEMES

    from gemma_local.app.tui.themes import theme_names

    return ["auto", *theme_names(BUILTIN_THEMES)]


def _themes(prefix: str) -> list[str]:
    return beginning(*_theme_names())(prefix)


def _or_tell(setting: Setting, bind: Bind) -> Bind:
    """Without an argument, say what ``setting`` is."""
    return lambda text: bind(text) if text else lambda target: target.tell(setting)


_GROUPS: Final = ("Conversation", "Model", "Texts", "Screen")

COMMANDS: Final[tuple[Command, ...]] = (
    Command(
        "clear",
        "begin a new conversation",
        "Conversation",
        alone(lambda target: target.clear()),
        aliases=("new",),
        keywords=("reset", "start"),
    ),
    Command(
        "resume",
        "go on with an earlier conversation",
        "Conversation",
        taking(arguments.one_line_text, lambda target, session: target.resume(session)),
        argument="[SESSION]",
        aliases=("sessions",),
        keywords=("open", "history", "continue"),
    ),
    Command(
        "branch",
        "go on in a copy that ends before a message",
        "Conversation",
        taking(arguments.message_number, lambda target, number: target.branch(number)),
        argument="[N]",
        aliases=("fork",),
        keywords=("copy",),
    ),
    Command(
        "rewind",
        "go back to before a message",
        "Conversation",
        taking(arguments.message_number, lambda target, number: target.rewind(number)),
        argument="[N]",
        keywords=("undo", "back", "edit message"),
    ),
    Command(
        "retry",
        "have the last message answered again",
        "Conversation",
        alone(lambda target: target.retry()),
        keywords=("again", "regenerate", "repeat"),
    ),
    Command(
        "undo",
        "take back what the last turn did to files",
        "Conversation",
        alone(lambda target: target.undo()),
        keywords=("files", "revert", "restore"),
    ),
    Command(
        "redo",
        "do what was taken back again",
        "Conversation",
        alone(lambda target: target.redo()),
        keywords=("files",),
    ),
    Command(
        "continue",
        "go on with work that was stopped",
        "Conversation",
        alone(lambda target: target.go_on()),
        keywords=("proceed",),
    ),
    Command(
        "best",
        "several attempts at a task side by side; the best is offered",
        "Conversation",
        taking(parse_wish, lambda target, wish: target.best(wish)),
        argument=USAGE,
        aliases=("attempts",),
        keywords=("parallel", "try", "tests", "candidates"),
    ),
    Command(
        "compact",
        "make room: old messages become a summary",
        "Conversation",
        alone(lambda target: target.compact()),
        keywords=("compress", "context"),
    ),
    Command(
        "context",
        "what takes how much of the context",
        "Conversation",
        alone(lambda target: target.context()),
        keywords=("tokens", "window", "usage"),
    ),
    Command(
        "title",
        "name this conversation",
        "Conversation",
        taking(arguments.one_line_text, lambda target, title: target.title(title)),
        argument="TITLE",
        aliases=("rename",),
        while_busy=True,
    ),
    Command(
        "model",
        "change to another model",
        "Model",
        taking(arguments.one_line_text, lambda target, name: target.model(name)),
        argument="[MODEL]",
        aliases=("models",),
        keywords=("size", "download", "switch"),
        values=beginning("E2B", "E4B", "12B", "26B-A4B", "31B"),
    ),
    Command(
        "think",
        "let the model think first, at most N tokens",
        "Model",
        _or_tell("think", taking(thinking, lambda target, tokens: target.think(tokens))),
        argument="[on|off|N]",
        keywords=("reasoning",),
        values=beginning("on", "off", "512", "2048"),
    ),
    Command(
        "draft",
        "how many tokens the drafter proposes",
        "Model",
        _or_tell("draft", taking(draft_length, lambda target, length: target.draft(length))),
        argument="[auto|off|N]",
        keywords=("speculative", "mtp", "speed"),
        values=beginning("auto", "off", "1", "2", "3", "4", "6"),
    ),
    Command(
        "stats",
        "speed, acceptance and memory",
        "Model",
        alone(lambda target: target.stats()),
        keywords=("performance", "tokens per second"),
        while_busy=True,
    ),
    Command(
        "mode",
        "what the model may do without asking",
        "Model",
        _or_tell("mode", taking(arguments.mode, lambda target, mode: target.mode(mode))),
        argument=f"[{'|'.join(MODES)}]",
        keywords=("permissions", "approval", "plan"),
        while_busy=True,
        values=beginning(*MODES),
    ),
    Command(
        "summarize",
        "sum a text up",
        "Texts",
        taking(str, lambda target, text: target.quick_task("summarize", text)),
        argument="[TEXT|@FILE]",
        aliases=("summarise",),
        keywords=("shorten", "tldr"),
        values=beginning("clipboard"),
    ),
    Command(
        "proofread",
        "correct a text, and show what changed",
        "Texts",
        taking(str, lambda target, text: target.quick_task("proofread", text)),
        argument="[TEXT|@FILE]",
        keywords=("spelling", "grammar", "correct"),
        values=beginning("clipboard"),
    ),
    Command(
        "reply",
        "three answers to a message that you got",
        "Texts",
        taking(str, lambda target, text: target.quick_task("reply", text)),
        argument="[TEXT|@FILE]",
        keywords=("mail", "answer"),
        values=beginning("clipboard"),
    ),
    Command(
        "copy",
        "copy the last answer, its code, or everything",
        "Texts",
        taking(arguments.copy_what, lambda target, what: target.copy(what)),
        argument="[last|code [N]|all]",
        keywords=("clipboard", "yank"),
        while_busy=True,
        values=beginning("last", "code", "all"),
    ),
    Command(
        "export",
        "write the conversation to a file",
        "Texts",
        taking(arguments.export_path, lambda target, path: target.export(path)),
        argument="[FILE.md|.html|.json]",
        keywords=("save", "markdown", "download"),
        while_busy=True,
    ),
    Command(
        "edit",
        "write in your editor",
        "Texts",
        alone(lambda target: target.edit()),
        aliases=("editor",),
        keywords=("vim", "nano"),
        while_busy=True,
    ),
    Command(
        "find",
        "search the conversation",
        "Screen",
        taking(arguments.one_line_text, lambda target, words: target.find(words)),
        argument="[WORDS]",
        aliases=("search",),
        while_busy=True,
    ),
    Command(
        "thoughts",
        "open or close the model's thoughts",
        "Screen",
        taking(arguments.switch, lambda target, shown: target.thoughts(shown)),
        argument="[on|off]",
        aliases=("thinking",),
        keywords=("reasoning",),
        while_busy=True,
        values=beginning("on", "off"),
    ),
    Command(
        "tint",
        "tint what the drafter proposed",
        "Screen",
        taking(arguments.switch, lambda target, on: target.tint(on)),
        argument="[on|off]",
        keywords=("colour", "accepted"),
        while_busy=True,
        values=beginning("on", "off"),
    ),
    Command(
        "theme",
        "change the colours",
        "Screen",
        _or_tell(
            "theme",
            taking(arguments.among(_theme_names), lambda target, name: target.theme(name)),
        ),
        argument="[NAME]",
        keywords=("dark", "light", "appearance"),
        while_busy=True,
        values=_themes,
    ),
    Command(
        "help",
        "keys and commands",
        "Screen",
        alone(lambda target: target.help()),
        keywords=("shortcuts", "bindings"),
        while_busy=True,
    ),
    Command(
        "suspend",
        "put the app aside; fg in the shell brings it back",
        "Screen",
        alone(lambda target: target.suspend()),
        keywords=("background", "shell", "job"),
        while_busy=True,
    ),
    Command(
        "exit",
        "leave",
        "Screen",
        alone(lambda target: target.exit()),
        aliases=("quit",),
        keywords=("close",),
        while_busy=True,
    ),
)
"""In the order in which they are listed."""

_BY_NAME: Final = {name: command for command in COMMANDS for name in command.names}


def command_named(name: str) -> Command | None:
    """The command of a name, one of its other names included."""
    return _BY_NAME.get(name.lower())


def parse(line: str) -> Invocation | UnknownCommand | None:
    """What a line orders; None if it is a message. Raises BadArgument.

    Only a word alone directly behind the slash can be a command: "/etc/hosts" is a message.
    """
    match = _LINE.fullmatch(line.rstrip())
    if match is None:
        return None
    name, argument = match[1].lower(), match[2] or ""
    command = command_named(name)
    if command is None:
        near = [other for other in _BY_NAME if other.startswith(name)]
        near = near or get_close_matches(name, _BY_NAME, n=1, cutoff=0.6)
        return UnknownCommand(name, near[0] if near else "")
    return invoke(command, argument)


def dispatch(invocation: Invocation, target: CommandTarget) -> None:
    """Have ``target`` carry out an order. Raises what it raises."""
    invocation.action(target)


def completions(name: str, prefix: str) -> list[str]:
    """The values that can stand behind a command's name and begin with ``prefix``."""
    command = command_named(name)
    return command.values(prefix) if command is not None else []


def by_group() -> dict[str, list[Command]]:
    """The commands under their headings."""
    return {group: [command for command in COMMANDS if command.group == group] for group in _GROUPS}
