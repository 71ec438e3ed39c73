"""Names of keys: as Textual knows them, and as people read them."""

from __future__ import annotations

import re
import string
from typing import Final

from textual.binding import Binding
from textual.keys import Keys

from gemma_local.app.errors import BadSettings

_KEY: Final = re.compile(r"((?:[A-Za-z]+[+-])*)(.+)", re.DOTALL)
_WORD: Final = re.compile("[a-z]+")
_MODIFIERS: Final = ("alt", "ctrl", "hyper", "meta", "shift", "super")
"""In the order in which Textual writes them."""
_NAMED: Final = frozenset(key.value for key in Keys if "+" not in key.value) | {"space"}


def _textual_name(name: str) -> str:
    """Textual's name of a character, such as "question_mark"; other names are as they are."""
    if name == ",":
        # It separates keys in a binding.
        return "comma"
    return next(iter(Binding.make_bindings([Binding(name, "")]))).key if len(name) == 1 else name


_PUNCTUATION: Final = {_textual_name(mark): mark for mark in string.punctuation}
_MEANT: Final = {"control": "ctrl", "c": "ctrl", "option": "alt", "esc": "escape",
                "return": "enter", "del": "delete"}  # fmt: skip
_SAME_AS: Final = {
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+h": "backspace",
    "ctrl+left_square_bracket": "escape",
    "ctrl+j": "a new line",
    "alt+b": "ctrl+left",
    "alt+f": "ctrl+right",
}
"""What terminals send for both."""

_TAKEN: Final = frozenset(
    {"enter", "tab", "backspace", "delete", "up", "down", "left", "right", "home", "end", "space"}
    | {"ctrl+c"}
)
"""What a person who writes cannot do without."""

_SPELLED: Final = {
    "escape": "Esc",
    "pageup": "Page Up",
    "pagedown": "Page Down",
}


def normal(key: str, action: str) -> str:
    """A key from the settings as Textual names it, such as "ctrl+x".

    Raises BadSettings if there is no such key, it would take a letter away from what is written,
    or terminals send another one for it. ``action`` is what it is meant for.
    """
    match = _KEY.fullmatch(key.strip())
    before, name = (match[1], match[2]) if match else ("", "")
    modifiers = [_MEANT.get(word, word) for word in _WORD.findall(before.lower())]
    # A capital is how people write it, as in Ctrl-P; Shift must be said.
    name = name.lower()
    name = _MEANT.get(name, name) if len(name) > 1 else name
    name = _textual_name(name)
    unknown = [modifier for modifier in modifiers if modifier not in _MODIFIERS]
    writes = len(name) == 1 or name in _PUNCTUATION
    if unknown or not (writes or name in _NAMED):
        raise BadSettings(
            f"[keys] {action}: there is no key {key!r}; write it like ctrl+x, alt+up or f5"
        )
    whole = "+".join([m for m in _MODIFIERS if m in modifiers] + [name])
    if whole in _SAME_AS:
        raise BadSettings(
            f"[keys] {action}: terminals send {_SAME_AS[whole]} for {whole}; give another key"
        )
    if whole in _TAKEN or (writes and not {"ctrl", "alt", "super"} & set(modifiers)):
        raise BadSettings(
            f"[keys] {action}: {whole} is needed for writing; give one with ctrl or alt, or f5"
        )
    return whole


def spelled(key: str) -> str:
    """A key as people read it: "Ctrl-P", "Page Up", "F1", "?"."""
    *modifiers, name = key.split("+")
    if name in _PUNCTUATION:
        name = _PUNCTUATION[name]
    elif len(name) > 1:
        name = _SPELLED.get(name, name.capitalize())
    elif modifiers:
        name = name.upper()
    return "-".join([*(modifier.capitalize() for modifier in modifiers), name])


def display(binding: Binding) -> str:
    """The key of a binding as a line with keys names it."""
    return binding.key_display or spelled(binding.key)
