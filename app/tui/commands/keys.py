"""Every key of the app: what it does, where, and what the person's settings make of it.

Why these: in VS Code's terminal Ctrl-P, Ctrl-F and F1 go to the editor, so each has a second key
with Alt; macOS takes Ctrl-Up, and its Terminal sends no Alt, so between the keys of a pair one
arrives. Ctrl-B is tmux's, Ctrl-A is screen's; Ctrl-I, -M, -H and -[ are Tab, Enter, Backspace and
Escape to every terminal. Alt with B or F is what many terminals send for Ctrl with Left or Right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Final, Literal

from textual.binding import Binding, BindingType

from gemma_local.app.errors import BadSettings
from gemma_local.app.tui.commands.key_names import normal, spelled

Where = Literal["Anywhere", "Writing", "Browsing", "Asked"]
"""In the chat whatever has the focus; where a message is written; in the transcript; when consent
is asked for."""


@dataclass(frozen=True, slots=True)
class Key:
    """What can be done with keys.

    ``action`` is its name in the settings, and the binding's id. ``does`` is Textual's action, the
    name if it is "". ``goes_first``: before the widget that has the focus. ``is_fixed``: the
    settings cannot change it, because a widget handles it itself or it must always work.
    """

    action: str
    keys: tuple[str, ...]
    summary: str
    where: Where = "Anywhere"
    does: str = ""
    goes_first: bool = False
    is_shown: bool = False
    is_fixed: bool = False


KEYS: Final[tuple[Key, ...]] = (
    Key("stop", ("escape",), "stop the answer", is_shown=True),
    Key(
        "interrupt",
        ("ctrl+c",),
        "copy what is selected, else clear the text, else stop; twice leaves",
        goes_first=True,
        is_fixed=True,
    ),
    Key("leave", ("ctrl+d",), "leave, when nothing is written", goes_first=True),
    Key("help", ("f1", "alt+h"), "keys and commands", goes_first=True, is_shown=True),
    Key(
        "palette",
        ("ctrl+p", "alt+p"),
        "find a command",
        does="app.command_palette",
        goes_first=True,
        is_shown=True,
    ),
    Key("mode", ("shift+tab",), "next mode: ask, edits, auto, plan", goes_first=True),
    Key("thoughts", ("ctrl+o",), "open or close thoughts", goes_first=True),
    Key("tint", ("ctrl+t",), "tint what the drafter proposed", goes_first=True),
    Key("stats", ("f2",), "speed, acceptance and memory", goes_first=True),
    Key("find", ("ctrl+f", "alt+s"), "search the conversation", goes_first=True),
    Key("browse", ("ctrl+up", "alt+up", "f4"), "go through the messages", goes_first=True),
    Key("page_up", ("pageup",), "scroll back", goes_first=True),
    Key("page_down", ("pagedown",), "scroll on", goes_first=True),
    Key("to_start", ("ctrl+home",), "to the beginning", goes_first=True),
    Key("to_end", ("ctrl+end",), "to the end", goes_first=True),
    Key("restart", ("f5",), "start the engine again, if it has ended", goes_first=True),
    Key(
        "suspend", ("alt+z",), "put the app aside; fg in the shell brings it back", goes_first=True
    ),
    Key("redraw", ("ctrl+l",), "draw the screen again", goes_first=True),
    Key("send", ("enter",), "send", "Writing", is_fixed=True),
    Key(
        "newline",
        ("ctrl+j", "alt+enter", "shift+enter"),
        "new line",
        "Writing",
        is_fixed=True,
    ),
    Key("complete", ("tab",), "take what is offered", "Writing", is_fixed=True),
    Key("earlier", ("up",), "earlier messages, from the first line", "Writing", is_fixed=True),
    Key("later", ("down",), "later messages, from the last line", "Writing", is_fixed=True),
    Key("history", ("ctrl+r",), "search what you wrote", "Writing"),
    Key("editor", ("ctrl+g",), "write in your editor", "Writing"),
    Key("show_paste", ("f3", "alt+v"), "show a paste in full", "Writing", is_fixed=True),
    Key("undo", ("ctrl+z",), "undo", "Writing", is_fixed=True),
    Key("redo", ("ctrl+y",), "redo", "Writing", is_fixed=True),
    Key("previous", ("up", "k"), "message before", "Browsing", is_fixed=True),
    Key("next", ("down", "j"), "message after", "Browsing", is_fixed=True),
    Key("open", ("enter", "space"), "open or close", "Browsing", is_fixed=True),
    Key("copy", ("c",), "copy the message", "Browsing", is_fixed=True),
    Key("copy_code", ("C",), "copy its last code; a digit: that block", "Browsing", is_fixed=True),
    Key("rewind", ("r",), "go back to before it", "Browsing", is_fixed=True),
    Key("branch", ("b",), "go on from it in a copy", "Browsing", is_fixed=True),
    Key("back", ("escape",), "back to writing", "Browsing", is_fixed=True),
    Key("put_aside", ("ctrl+z",), "put the app aside", "Browsing", "suspend", is_fixed=True),
    Key("once", ("y",), "yes, once", "Asked", is_fixed=True),
    Key("session", ("s",), "yes, in this session", "Asked", is_fixed=True),
    Key("always", ("a",), "yes, always", "Asked", is_fixed=True),
    Key("no", ("n", "escape"), "no; n asks for a reason", "Asked", is_fixed=True),
    Key("details", ("d",), "all of it, on the whole screen", "Asked", is_fixed=True),
)

_CHANGEABLE: Final = {key.action: key for key in KEYS if not key.is_fixed}
_MEET: Final[dict[Where, tuple[Where, ...]]] = {
    "Anywhere": ("Anywhere", "Writing", "Browsing", "Asked"),
    "Writing": ("Anywhere", "Writing"),
    "Browsing": ("Anywhere", "Browsing"),
    "Asked": ("Anywhere", "Asked"),
}
"""Where else a key would do two things at once."""


def chosen_keys(settings: Mapping[str, Sequence[str]]) -> tuple[Key, ...]:
    """The table with the keys of the settings' ``[keys]``, named as Textual does.

    Raises BadSettings: an action that is none or that cannot be changed, a key that is none or
    does not arrive, or one key for two actions.
    """
    given: dict[str, tuple[str, ...]] = {}
    for action, keys in settings.items():
        if action not in _CHANGEABLE:
            raise BadSettings(_unknown(action))
        given[action] = tuple(dict.fromkeys(normal(key, action) for key in keys))
    table = tuple(replace(key, keys=given.get(key.action, key.keys)) for key in KEYS)
    for key in table:
        if key.action in given and (clash := _clash(key, table)):
            other, name = clash
            raise BadSettings(
                f"[keys] {spelled(name)} would do two things: {key.action} ({key.summary}) and "
                f"{other.action} ({other.summary}); give one of them another key"
            )
    return table


def keymap(settings: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """What the settings change, for ``App.set_keymap``. Raises BadSettings."""
    return {
        key.action: ",".join(key.keys) for key in chosen_keys(settings) if key.action in settings
    }


def shown_key(action: str, table: Sequence[Key] = KEYS) -> str:
    """The key for an action that is best known, as people read it: "Ctrl-End"."""
    return spelled(next(key for key in table if key.action == action).keys[0])


def bindings(where: Where, *, also_fixed: Sequence[str] = ()) -> list[BindingType]:
    """The bindings of a place, for ``BINDINGS``; those that a widget handles itself are left out
    unless ``also_fixed`` names them."""
    return [
        binding(key.action)
        for key in KEYS
        if key.where == where and (not key.is_fixed or key.action in also_fixed)
    ]


def binding(action: str) -> Binding:
    """The binding of one action. The app itself needs that of "palette", or else Textual gives the
    palette a key that the settings cannot change."""
    key = next(key for key in KEYS if key.action == action)
    return Binding(
        ",".join(key.keys),
        key.does or key.action,
        key.summary,
        show=key.is_shown,
        priority=key.goes_first,
        id=key.action,
    )


def _clash(key: Key, table: Sequence[Key]) -> tuple[Key, str] | None:
    for other in table:
        # Escape and the like mean something else where a widget handles them by itself.
        if other.action == key.action or other.where not in _MEET[key.where]:
            continue
        for name in key.keys:
            if name in other.keys and not (name == "escape" and not key.goes_first):
                return other, name
    return None


def _unknown(action: str) -> str:
    if any(key.action == action for key in KEYS):
        return f"[keys] {action} cannot have another key; take it out"
    near = get_close_matches(action.lower(), _CHANGEABLE, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_CHANGEABLE)}"
    return f"[keys] has {action!r}, which nothing is called; {hint}"
