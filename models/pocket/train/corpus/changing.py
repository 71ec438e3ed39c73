"""Sessions in which the model changes files: sets, renames, replaces, writes."""

from __future__ import annotations

import random
from typing import Final

from gemma_local.models.pocket.train.corpus import workspace
from gemma_local.models.pocket.train.corpus.sample import Sample
from gemma_local.models.pocket.train.corpus.tool_head import Head
from gemma_local.models.pocket.train.corpus.tool_steps import ask, edit_step, session
from gemma_local.models.pocket.train.corpus.words import (
    Split,
    identifier,
    made_up,
    path,
    random_letters,
    word,
)


def set_session(
    rng: random.Random, split: Split, begin: Head, file: workspace.File | None = None
) -> Sample:
    """The model changes a value in a settings file."""
    file = file or workspace.settings_file(rng, split)
    key, at = rng.choice(file.places)
    old_line = file.lines[at]
    old = workspace.value_of(old_line, key)
    new = workspace.other_value(rng, split, old)
    new_line = old_line[: len(old_line) - len(old)] + new
    bare = new.strip('"') if rng.random() < 0.5 else new
    question = ask(rng, split, _SET, _SET_TEST, file=file.path, key=key, value=bare)
    report = rng.choice(("`{}` is now {} in `{}`.", "Done: `{}` is {} in `{}`."))
    return session(
        question,
        [
            (
                "read",
                {"path": file.path},
                workspace.shown(file, rng),
                "I read it before I change it.",
            ),
            edit_step(file, old_line, new_line),
        ],
        report.format(key, new, file.path),
        begin,
    )


_SET: Final = """
Set {key} to {value} in {file}.|Change {key} to {value} in {file}.|In {file}, set {key} to {value}.
Make {key} {value} in {file}.|{key} in {file} should be {value}.|Please set {key} in {file} to {value}.
Update {key} in {file} to {value}.|Change the value of {key} in {file} to {value}.|Edit {file}: {key} is {value}.
Put {value} as {key} into {file}.|In {file}, {key} must be {value}.|Switch {key} to {value} in {file}.
I want {key} to be {value} in {file}.|Can you change {key} to {value} in {file}?|In {file}, let {key} be {value}.
Give {key} the value {value} in {file}.|{file}: set {key} to {value}.|Use {value} for {key} in {file}.
Let {key} have the value {value} in {file}.|In {file}, update {key} to {value}.|Assign {value} to {key} in {file}.
In {file}, give {key} the value {value}.|The value of {key} in {file} must be {value}.|Write {value} for {key} into {file}.
"""
_SET_TEST: Final = """
Could you set {key} to {value} in {file}?|Please change {key} to {value} in {file}.|In {file}, change {key} to {value}.
"""


def rename_session(
    rng: random.Random, split: Split, begin: Head, file: workspace.File | None = None
) -> Sample:
    """The model renames a function in a file."""
    file = file or workspace.code_file(rng, split)
    old, _ = rng.choice(file.places)
    new = identifier(rng, split)
    while new == old:
        new = identifier(rng, split)
    question = ask(rng, split, _RENAME, _RENAME_TEST, file=file.path, old=old, new=new)
    return session(
        question,
        [
            (
                "read",
                {"path": file.path},
                workspace.shown(file, rng),
                "I read it before I change it.",
            ),
            edit_step(file, old, new, all_=True),
        ],
        f"I renamed `{old}` to `{new}` in `{file.path}`.",
        begin,
    )


_RENAME: Final = """
Rename {old} to {new} in {file}.|In {file}, rename {old} to {new}.|Rename the function {old} in {file} to {new}.
Call {old} in {file} {new} instead.|Please rename {old} to {new} in {file}.|Change the name {old} to {new} in {file}.
Give {old} in {file} the name {new}.|In {file}, {old} should be named {new}.|In {file}, call {old} {new}.
I want {old} renamed to {new} in {file}.|Let {old} be called {new} in {file}.|Can you rename {old} in {file} to {new}?
{old} in {file} should be called {new}.|Rename {old} into {new} in {file}.
In {file}, give {old} the name {new}.|In {file}, change the name of {old} to {new}.|Name {old} in {file} {new}.
The function {old} in {file} must be called {new}.|Make {new} the name of {old} in {file}.|In {file}, turn {old} into {new}.
"""
_RENAME_TEST: Final = (
    "Could you rename {old} to {new} in {file}?|In {file}, please rename {old} to {new}."
)


def replace_session(
    rng: random.Random, split: Split, begin: Head, file: workspace.File | None = None
) -> Sample:
    """The model replaces a line of a file."""
    file = file or workspace.any_file(rng, split)
    at = rng.choice([n for n, line in enumerate(file.lines) if line])
    old = file.lines[at]
    indent = old[: len(old) - len(old.lstrip())]
    new = old
    while new == old:
        new = indent + _another_line(rng, split)
    question = ask(
        rng, split, _REPLACE, _REPLACE_TEST, file=file.path, line=old.strip(), other=new.strip()
    )
    return session(
        question,
        [
            (
                "read",
                {"path": file.path},
                workspace.shown(file, rng),
                "I read it before I change it.",
            ),
            edit_step(file, old, new),
        ],
        rng.choice(
            (f"I replaced the line in `{file.path}`.", f"The line in `{file.path}` is changed.")
        ),
        begin,
    )


def _another_line(rng: random.Random, split: Split) -> str:
    """A line of no kind in particular."""
    return rng.choice(
        (
            f"# {word(rng, split)} {word(rng, split)}",
            f"{identifier(rng, split)} = {workspace.value(rng, split)}",
            f"return {identifier(rng, split)}",
            f"{made_up(rng, split)} {word(rng, split)} {made_up(rng, split)}",
        )
    )


_REPLACE: Final = """
In {file}, replace `{line}` by `{other}`.|Replace `{line}` with `{other}` in {file}.|Change `{line}` to `{other}` in {file}.
In {file}, change the line `{line}` to `{other}`.|Edit {file}: instead of `{line}` it should say `{other}`.
Please replace `{line}` in {file} by `{other}`.|{file} should say `{other}` and not `{line}`.
Put `{other}` into {file} instead of `{line}`.|In {file}, write `{other}` instead of `{line}`.|Use `{other}` for `{line}` in {file}.
In {file}, substitute `{other}` for `{line}`.|Swap `{line}` for `{other}` in {file}.|Exchange `{line}` in {file} for `{other}`.
Let {file} have `{other}` where it has `{line}`.|In {file}, where it says `{line}`, put `{other}`.|`{line}` in {file} must become `{other}`.
In {file}, make `{line}` into `{other}`.|Take `{line}` out of {file} and put `{other}` there.|I want `{other}` in {file}, not `{line}`.
In {file}, have `{other}` rather than `{line}`.|Write `{other}` rather than `{line}` in {file}.|In {file}, `{other}` should stand where `{line}` stands.
In {file}, put `{other}` where `{line}` is.|Put `{other}` where `{line}` stands in {file}.|In {file}, set `{other}` in the place where `{line}` was.
In {file}, use `{other}` instead of `{line}`.|In {file}, take `{other}` for `{line}`.|In {file}, put `{other}` as the new text of `{line}`.
Get rid of `{line}` in {file}: write `{other}`.|Turn `{line}` into `{other}` in {file}.|Can you swap `{line}` in {file} for `{other}`?
"""
_REPLACE_TEST: Final = "Could you replace `{line}` by `{other}` in {file}?|In {file}, put `{other}` in place of `{line}`."


def write_session(rng: random.Random, split: Split, begin: Head) -> Sample:
    """The model writes a new file."""
    kind = rng.random()
    if kind < 0.6:
        text = rng.choice(
            (
                f"{word(rng, split)} {made_up(rng, split)} {word(rng, split)}",
                f"{identifier(rng, split)} = {workspace.value(rng, split)}",
                f"# {word(rng, split)}",
                f"print({workspace.value(rng, split)})",
                made_up(rng, split),
                random_letters(rng),
            )
        )
        suffixes = (*workspace.TEXTS, ".py", ".toml", ".csv", ".sh")
        where = path(rng, split, suffixes)
        question = ask(rng, split, _WRITE, _WRITE_TEST, file=where, text=text)
        content = text
    else:
        from gemma_local.models.pocket.train.corpus.helpers import helpers

        helper = rng.choice(helpers())
        name = identifier(rng, split)
        where = path(rng, split, (".py",))
        does = helper.does[-1] if split == "test" else rng.choice(helper.does[:-1])
        question = ask(rng, split, _WRITE_CODE, _WRITE_CODE_TEST, file=where, name=name, does=does)
        content = helper.code(name, helper.parameters)
    count = len(content.split("\n"))
    result = f"{where}: new file, +{count} -0"
    return session(
        question,
        [("write", {"path": where, "content": content}, result, "I write the file.")],
        rng.choice((f"I wrote `{where}`.", f"`{where}` is written.")),
        begin,
    )


_WRITE: Final = """
Create {file} with the text `{text}`.|Write `{text}` to {file}.|Make a file {file} that says `{text}`.
Write a file {file} that contains `{text}`.|Put `{text}` into a new file {file}.|Save `{text}` as {file}.
Create a file {file}: `{text}`|Please write {file} with `{text}` in it.|New file {file} with `{text}`.
Let {file} be a new file with `{text}`.|Add a file {file} with `{text}` in it.|Put the text `{text}` into {file}.
I need a file {file} that says `{text}`.|Write {file}: `{text}`|Store `{text}` in {file}.|Make {file} and write `{text}` into it.
"""
_WRITE_TEST: Final = (
    "Could you create {file} with `{text}` in it?|Please write `{text}` into a new file {file}."
)
_WRITE_CODE: Final = """
Write a function {name} that {does} into {file}.|Create {file} with a function {name} that {does}.
Put a function {name} that {does} into {file}.|Make {file} with a function {name} which {does}.
Write {file} with a function called {name} that {does}.|New file {file}: a function {name} that {does}.
"""
_WRITE_CODE_TEST: Final = "Could you write a function {name} that {does} into {file}?"
