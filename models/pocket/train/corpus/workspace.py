"""Made-up files of a workspace, and the ways in which tools show them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gemma_local.models.pocket.train.corpus.helpers import helpers
from gemma_local.models.pocket.train.corpus.words import (
    NOUNS,
    PEOPLE,
    Split,
    file_name,
    folder_name,
    identifier,
    made_up,
    path,
    pick,
    random_letters,
    word,
)

CODE: Final = (".py",)
SETTINGS: Final = (".toml", ".ini", ".cfg", ".conf", ".env")
TEXTS: Final = (".md", ".txt", ".rst")
OTHERS: Final = (".json", ".csv", ".yaml", ".html", ".sh", ".js")


@dataclass(frozen=True, slots=True)
class File:
    """A file. ``places`` are pairs of a name in it and the line (from 0) where it is set."""

    path: str
    lines: tuple[str, ...]
    places: tuple[tuple[str, int], ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def value(rng: random.Random, split: Split) -> str:
    """A value as a settings file has it."""
    kind = rng.random()
    if kind < 0.3:
        # Ports and limits are round, or say a digit twice.
        round_ = rng.randint(1, 99) * 10 ** rng.randint(1, 4)
        twice = int(str(rng.randint(1, 99)) * 2)
        small, large = rng.randint(10, 99), rng.randint(100, 99999)
        return str(rng.choice((rng.randint(0, 9), small, large, round_, twice)))
    if kind < 0.4:
        return rng.choice(("true", "false"))
    if kind < 0.5:
        return f"{rng.randint(0, 9)}.{rng.randint(0, 99)}"
    if kind < 0.6:
        return f'"{random_letters(rng)}"'
    if kind < 0.7:
        return f'"{folder_name(rng, split)}/{file_name(rng, split, OTHERS)}"'
    return f'"{word(rng, split)}"'


def other_value(rng: random.Random, split: Split, before: str) -> str:
    """A new value of the same sort as the one before, mostly."""
    while True:
        if before in ("true", "false"):
            return "true" if before == "false" else "false"
        new = value(rng, split)
        is_text = before.startswith('"')
        if new != before and new.startswith('"') == is_text and new not in ("true", "false"):
            return new


def settings_file(rng: random.Random, split: Split) -> File:
    """``key = value`` lines, perhaps below a header."""
    lines: list[str] = []
    places: list[tuple[str, int]] = []
    if rng.random() < 0.5:
        lines.append(f"[{word(rng, split)}]")
    sign = rng.choice((" = ", " = ", " = ", "=", ": "))
    seen: set[str] = set()
    for _ in range(rng.randint(2, 5)):
        key = identifier(rng, split)
        if key in seen:
            continue
        seen.add(key)
        places.append((key, len(lines)))
        lines.append(f"{key}{sign}{value(rng, split)}")
    suffixes = (".yaml", ".yml") if sign == ": " else SETTINGS
    return File(path(rng, split, suffixes), tuple(lines), tuple(places))


def code_file(rng: random.Random, split: Split) -> File:
    """One or two small functions, perhaps with a constant above."""
    lines: list[str] = []
    places: list[tuple[str, int]] = []
    if rng.random() < 0.35:
        name = identifier(rng, split).upper()
        lines += [f"{name} = {value(rng, split)}", ""]
    for number in range(rng.choice((1, 1, 2))):
        helper = rng.choice([h for h in helpers() if len(h.body) <= 3])
        name = identifier(rng, split)
        if number:
            lines.append("")
        places.append((name, len(lines)))
        lines += helper.code(name, helper.parameters).split("\n")
    return File(path(rng, split, CODE), tuple(lines), tuple(places))


def text_file(rng: random.Random, split: Split) -> File:
    """A heading and a sentence or two."""
    noun, other = pick(rng, NOUNS, split), word(rng, split)
    title = f"{noun.capitalize()} {other}"
    sentences = (
        f"The {noun} is kept in {folder_name(rng, split)}.",
        f"Ask {pick(rng, PEOPLE, split)} about the {other}.",
        f"Run it with {made_up(rng, split)} --{word(rng, split)}.",
        f"Version {rng.randint(0, 9)}.{rng.randint(0, 20)} of the {noun}.",
        f"The {other} must be {word(rng, split)}.",
    )
    chosen = rng.sample(sentences, rng.randint(1, 3))
    lines = [f"# {title}", "", *chosen] if rng.random() < 0.7 else [title, *chosen]
    return File(path(rng, split, TEXTS), tuple(lines))


def any_file(rng: random.Random, split: Split) -> File:
    """A file of one of the three sorts."""
    return rng.choice((settings_file, code_file, text_file))(rng, split)


def shown(file: File, rng: random.Random, limit: int = 0) -> str:
    """What ``read`` returns: the lines with their numbers, here and there in another way. Of a long
    file only ``limit`` lines, if one is given."""
    lines = file.lines[: limit or None]
    sign = "|" if rng.random() < 0.95 else rng.choice(("\t", ": "))
    text = "\n".join(f"{number}{sign}{line}" for number, line in enumerate(lines, 1))
    if len(lines) < len(file.lines):
        count = len(lines)
        text += f"\n[lines 1-{count} of {len(file.lines)}; go on with offset={count + 1}]"
    return text


def listing(
    rng: random.Random, split: Split, place: str, known: Sequence[File] = ()
) -> tuple[str, list[str]]:
    """What ``list`` returns for a folder, and the names in it. ``known`` files are there for sure,
    with a test perhaps; others are made up where none is known."""
    suffixes = CODE * 3 + SETTINGS + TEXTS + OTHERS
    within: dict[str, list[str]] = {}
    if known:
        files = {file.path for file in known if "/" not in file.path}
        if rng.random() < 0.5:
            files.add(f"test_{word(rng, split)}.py")
        for file in known:
            folder, slash, name = file.path.partition("/")
            if slash:
                within.setdefault(f"{folder}/", []).append(name)
        folders = set(within)
    else:
        folders = {f"{folder_name(rng, split)}/" for _ in range(rng.choice((0, 1, 1, 2)))}
        files = {file_name(rng, split, suffixes) for _ in range(rng.randint(1, 4))}
    lines, count = [], len(files)
    # What nobody means when they ask for the files.
    left_out = set(rng.sample(_LEFT_OUT, rng.randint(1, 3))) if rng.random() < 0.4 else set()
    for folder in sorted({*folders, *left_out}):
        if folder in left_out or rng.random() < 0.1:
            lines.append(f"{folder} (empty or ignored)")
            continue
        inside = within.get(folder) or [
            file_name(rng, split, suffixes) for _ in range(rng.choice((1, 1, 2)))
        ]
        inside = sorted(set(inside))
        lines += [folder, *(f"  {name}  {_size(rng)}" for name in inside)]
        count += len(inside)
    lines += [f"{name}  {_size(rng)}" for name in sorted(files)]
    return "\n".join([f"{place}/ ({count} files)", *lines]), [*sorted(folders), *sorted(files)]


_LEFT_OUT: Final = (
    *(".git/", ".pytest_cache/", ".ruff_cache/", ".venv/", "__pycache__/", "build/", "dist/"),
    *("node_modules/", "target/", ".mypy_cache/"),
)


def _size(rng: random.Random) -> str:
    return rng.choice((f"{rng.randint(1, 999)} B", f"{rng.randint(1, 90)}.{rng.randint(0, 9)} kB"))


def value_of(line: str, key: str) -> str:
    """What a line of a settings file says of its key."""
    return line[len(key) :].lstrip(" =:")
