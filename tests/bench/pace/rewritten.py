"""A file of Python, and the same file with three changes."""

from __future__ import annotations

import shlex
from pathlib import Path

_ASKED = (
    "Rewrite this file: name the loop's limit, log every token, drop the comment. Show all of it."
)


def file(lines: int) -> list[str]:
    """The first lines of a module that every Python has."""
    return Path(shlex.__file__).read_text(encoding="utf-8").splitlines()[:lines]


def changed(lines: list[str]) -> list[str]:
    """A line replaced after a quarter, two put in after a half, one left out after three."""
    quarter = len(lines) // 4
    indent = " " * (len(lines[2 * quarter]) - len(lines[2 * quarter].lstrip()))
    return [
        *lines[:quarter],
        f"{lines[quarter].rstrip(':')}  # was unlimited before",
        *lines[quarter + 1 : 2 * quarter],
        f"{indent}if self.debug:",
        f'{indent}    print("read", self.token)',
        *lines[2 * quarter : 3 * quarter],
        *lines[3 * quarter + 1 :],
    ]


def question(lines: list[str], asked: str = _ASKED) -> str:
    """What a person writes."""
    return f"{asked}\n\n{fenced(lines)}"


def fenced(lines: list[str]) -> str:
    """As a block of Markdown."""
    return "\n".join(("```python", *lines, "```"))
