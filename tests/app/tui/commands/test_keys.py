from __future__ import annotations

from typing import ClassVar, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.app import App
from textual.binding import Binding, BindingType
from textual.command import CommandPalette
from textual.widget import Widget

from gemma_local.app.errors import BadSettings
from gemma_local.app.tui.approval.card import ApprovalCard
from gemma_local.app.tui.commands.key_names import normal, spelled
from gemma_local.app.tui.commands.keys import KEYS, Where, binding, bindings, chosen_keys, keymap
from gemma_local.app.tui.composer.prompt_area import PromptArea
from gemma_local.app.tui.transcript.transcript import Transcript


def test_the_table_has_no_two_actions_for_a_key() -> None:
    for where in get_args(Where):
        here = [key for key in KEYS if key.where == where]
        names = [name for key in here for name in key.keys]
        assert len(names) == len(set(names))
    anywhere = {name for key in KEYS if key.where == "Anywhere" for name in key.keys}
    for key in KEYS:
        if key.where != "Anywhere":
            # Escape reaches whoever has the focus first.
            assert anywhere.isdisjoint(set(key.keys) - {"escape"})


def test_the_default_keys_are_good_ones() -> None:
    for key in KEYS:
        for name in key.keys:
            if not key.is_fixed:
                assert normal(name, key.action) == name


def test_what_the_settings_change() -> None:
    table = {key.action: key.keys for key in chosen_keys({"find": ["Ctrl-X", "F7"]})}
    assert table["find"] == ("ctrl+x", "f7")
    assert table["stats"] == ("f2",)
    assert keymap({"find": ["Ctrl-X", "F7"]}) == {"find": "ctrl+x,f7"}
    assert keymap({}) == {}


def test_two_actions_can_change_places() -> None:
    assert keymap({"find": ["ctrl+t"], "tint": ["ctrl+f"]}) == {
        "find": "ctrl+t",
        "tint": "ctrl+f",
    }


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (
            {"find": ["ctrl+t"]},
            (
                "[keys] Ctrl-T would do two things: find (search the conversation) and "
                "tint (tint what the drafter proposed); give one of them another key"
            ),
        ),
        ({"fnid": ["f9"]}, "[keys] has 'fnid', which nothing is called; did you mean find?"),
        ({"interrupt": ["f9"]}, "[keys] interrupt cannot have another key; take it out"),
        (
            {"find": ["x"]},
            "[keys] find: x is needed for writing; give one with ctrl or alt, or f5",
        ),
        (
            {"find": ["ctrl+i"]},
            "[keys] find: terminals send tab for ctrl+i; give another key",
        ),
        (
            {"find": ["ctrl+foo"]},
            "[keys] find: there is no key 'ctrl+foo'; write it like ctrl+x, alt+up or f5",
        ),
    ],
)
def test_what_makes_no_sense_is_said(settings: dict[str, list[str]], sentence: str) -> None:
    with pytest.raises(BadSettings) as caught:
        keymap(settings)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("ctrl+p", "Ctrl-P"),
        ("shift+tab", "Shift-Tab"),
        ("pageup", "Page Up"),
        ("escape", "Esc"),
        ("f1", "F1"),
        ("alt+question_mark", "Alt-?"),
        ("C", "C"),
        ("c", "c"),
        ("alt+ctrl+up", "Alt-Ctrl-Up"),
    ],
)
def test_keys_as_people_read_them(key: str, expected: str) -> None:
    assert spelled(key) == expected


@given(st.text(max_size=12) | st.sampled_from(["ctrl+", "alt+shift+"]).flatmap(
    lambda start: st.characters().map(lambda end: start + end)
))  # fmt: skip
def test_any_text_is_a_key_or_a_sentence(text: str) -> None:
    try:
        name = normal(text, "find")
    except BadSettings:
        return
    assert normal(name, "find") == name
    assert next(iter(Binding.make_bindings([Binding(name, "")]))).key == name


def keys_of(widget: type[Widget]) -> set[str]:
    """All keys that a kind of widget binds, those of its bases included."""
    found = [kind.__dict__.get("BINDINGS", ()) for kind in widget.__mro__]
    return {binding.key for some in found for binding in Binding.make_bindings(some)}


@pytest.mark.parametrize(
    ("where", "widget"),
    [("Writing", PromptArea), ("Browsing", Transcript), ("Asked", ApprovalCard)],
)
def test_the_keys_in_the_help_are_those_of_the_widgets(where: Where, widget: type[Widget]) -> None:
    # Enter and Tab, a text area takes as they come.
    listed = {name for key in KEYS if key.where == where for name in key.keys} - {"enter", "tab"}
    assert listed <= keys_of(widget)


async def test_the_palette_has_no_key_of_its_own() -> None:
    class WithPalette(App[None]):
        BINDINGS: ClassVar[list[BindingType]] = [binding("palette")]

    app = WithPalette()
    async with app.run_test() as pilot:
        app.set_keymap(keymap({"palette": ["f9"]}))
        await pilot.press("ctrl+p")
        assert len(app.screen_stack) == 1
        await pilot.press("f9")
        assert isinstance(app.screen, CommandPalette)


class Host(App[None]):
    """Does one thing: it keeps what was asked of it."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("Anywhere", also_fixed=["interrupt"])

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def __getattr__(self, name: str) -> object:
        actions = {key.action for key in KEYS} - {"palette"}
        if name.startswith("action_") and name.removeprefix("action_") in actions:
            return lambda: self.done.append(name.removeprefix("action_"))
        raise AttributeError(name)


async def test_the_keys_do_what_the_table_says() -> None:
    app = Host()
    async with app.run_test() as pilot:
        for key in KEYS:
            if key.where == "Anywhere" and key.action not in ("palette", "help"):
                await pilot.press(*key.keys)
                assert app.done == [key.action] * len(key.keys), key
                app.done.clear()
        app.set_keymap(keymap({"find": ["ctrl+t"], "tint": ["f9"]}))
        await pilot.press("ctrl+t", "f9", "ctrl+f")
        assert app.done == ["find", "tint"]
