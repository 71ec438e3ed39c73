"""Conversations about one workspace: several tasks in a row, on the same few files."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from gemma_local.models.message import Message
from gemma_local.models.pocket.train.corpus import workspace
from gemma_local.models.pocket.train.corpus.changing import (
    rename_session,
    replace_session,
    set_session,
)
from gemma_local.models.pocket.train.corpus.looking import (
    list_session,
    lookup_session,
    read_session,
)
from gemma_local.models.pocket.train.corpus.running import run_session
from gemma_local.models.pocket.train.corpus.sample import Sample, head
from gemma_local.models.pocket.train.corpus.tool_head import Head
from gemma_local.models.pocket.train.corpus.words import Split, file_name
from gemma_local.models.pocket.train.corpus.workspace import File

_Task = Callable[[random.Random, Split, Head, File], Sample]


def conversation(rng: random.Random, split: Split, begin: Head) -> Sample:
    """Two to five tasks with tools; what one changed, the next ones find changed."""
    files = _files(rng, split)
    opened = len(head(begin.system))
    messages: list[Message] = [*head(begin.system)]
    for _ in range(rng.choices((2, 3, 4, 5), (2, 3, 3, 2))[0]):
        chance = rng.random()
        if chance < 0.15:
            sample = list_session(rng, split, begin, files)
        elif chance < 0.35:
            sample = run_session(rng, split, begin)
        else:
            at = rng.randrange(len(files))
            sample = rng.choice(_tasks(files[at]))(rng, split, begin, files[at])
            files[at] = _after(files[at], sample)
        messages += sample.messages[opened:]
    return replace(sample, messages=tuple(messages))


def _files(rng: random.Random, split: Split) -> list[File]:
    """One to three files; those at the top are what a small project has."""
    makers = (workspace.settings_file, workspace.code_file, workspace.text_file)
    found: dict[str, File] = {}
    for maker in rng.choices(makers, (3, 2, 1), k=rng.randint(1, 3)):
        file = maker(rng, split)
        if rng.random() < 0.7:
            suffix = f".{file.path.rpartition('.')[2]}"
            file = replace(file, path=file_name(rng, split, (suffix,)))
        found[file.path] = file
    return list(found.values())


def _tasks(file: File) -> tuple[_Task, ...]:
    """What can be done with a file."""
    if not file.places:
        return (read_session, replace_session)
    if file.path.endswith(workspace.CODE):
        return (read_session, rename_session, replace_session)
    return (read_session, lookup_session, set_session, set_session)


def _after(file: File, sample: Sample) -> File:
    """A file as a session leaves it."""
    text = file.text
    for message in sample.messages:
        for call in message.calls:
            if call.name == "edit":
                count = -1 if call.arguments.get("all") else 1
                text = text.replace(str(call.arguments["old"]), str(call.arguments["new"]), count)
    lines = tuple(text.split("\n"))
    places = tuple((name, line) for name, line in file.places if name in lines[line])
    return File(file.path, lines, places)
