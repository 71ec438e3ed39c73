"""What a person has allowed or forbidden for good, in words that they can read and write.

``run: pytest *`` allows pytest with any arguments, ``edit: src/**`` changing what lies below src,
``!run: rm *`` forbids rm. Of a line with several commands each must be allowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, Literal

from gemma_local.models.errors import GemmaLocalError

RuleKind = Literal["read", "edit", "run"]

_KINDS: Final[dict[str, RuleKind]] = {"read": "read", "edit": "edit", "run": "run"}
_RULE: Final = re.compile(r"\s*(?P<not>!?)\s*(?P<kind>[^:\s]*)\s*(?P<colon>:?)\s*(?P<pattern>.*)")
_SEVERAL: Final = re.compile(r"\s+&&\s+")


class BadRule(GemmaLocalError):
    """A rule that makes no sense; the sentence says which, and where."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule. Of a command each word is a pattern, and a last "*" stands for any more words, or
    none. Of a path "*" stands for a part of a name, and "**" for any folders."""

    kind: RuleKind
    pattern: str
    forbids: bool = False

    def __str__(self) -> str:
        return f"{'!' if self.forbids else ''}{self.kind}: {self.pattern}"

    def fits_path(self, path: str) -> bool:
        """Whether it speaks of a file, or of all files of a pattern."""
        return self.pattern == "*" or _path_pattern(self.pattern).fullmatch(path) is not None

    def fits_words(self, words: Sequence[str]) -> bool:
        """Whether it speaks of a command of these words."""
        patterns = self.pattern.split()
        is_open = patterns[-1] == "*"
        if is_open:
            patterns.pop()
        if len(words) < len(patterns) or (len(words) > len(patterns) and not is_open):
            return False
        return all(map(fnmatchcase, words, patterns))


class Rules:
    """The rules that hold, those for this session included."""

    def __init__(self, written: Iterable[str] = ()) -> None:
        """Raises BadRule, which says the number of the rule."""
        self._rules: list[Rule] = []
        for number, text in enumerate(written, 1):
            self._rules += _parsed(text, f"rule {number}, ")

    def __iter__(self) -> Iterator[Rule]:
        return iter(self._rules)

    def allow(self, text: str) -> None:
        """Add a rule for this session. Raises BadRule."""
        self._rules += [rule for rule in parse_rule(text) if rule not in self._rules]

    def path_is_allowed(self, kind: RuleKind, path: str) -> bool:
        """Whether a rule allows it, and none forbids it."""
        return self._holds(kind, path, forbids=False) is not None

    def path_is_forbidden(self, kind: RuleKind, path: str) -> Rule | None:
        """The rule that forbids it."""
        return self._holds(kind, path, forbids=True)

    def command_is_allowed(self, words: Sequence[str]) -> bool:
        """Whether a rule allows a command of these words."""
        return any(
            rule.kind == "run" and not rule.forbids and rule.fits_words(words)
            for rule in self._rules
        )

    def command_is_forbidden(self, words: Sequence[str]) -> Rule | None:
        """The rule that forbids a command of these words."""
        return next(
            (
                rule
                for rule in self._rules
                if rule.kind == "run" and rule.forbids and rule.fits_words(words)
            ),
            None,
        )

    def _holds(self, kind: RuleKind, path: str, *, forbids: bool) -> Rule | None:
        for rule in self._rules:
            if rule.kind == kind and rule.forbids == forbids and rule.fits_path(path):
                return rule
        return None


def parse_rule(text: str) -> tuple[Rule, ...]:
    """The rules that ``text`` stands for: one, or one for each command if && is between them.

    Raises BadRule.
    """
    return tuple(_parsed(text, ""))


def remember(text: str, path: Path | None = None) -> None:
    """Write a rule into the settings file, behind those that are there.

    Raises BadRule, or BadSettings if the file cannot be changed.
    """
    # They read rules, too.
    from gemma_local.app import settings_file

    written = list(settings_file.load_settings(path, {}).agent.rules)
    new = [str(rule) for rule in parse_rule(text)]
    added = [rule for rule in new if rule not in written]
    if added:
        settings_file.remember("agent.rules", written + added, path)


def parse_allowed(text: str) -> tuple[str, ...]:
    """The rules that ``--allow`` names: "read,edit,run:pytest" is "read: *", "edit: *" and
    "run: pytest *".

    A comma only separates where a kind follows it. Raises BadRule.
    """
    rules = []
    for part in re.split(rf",\s*(?=(?:{'|'.join(_KINDS)})\s*(?::|,|\Z))", text):
        kind, colon, pattern = part.partition(":")
        pattern = pattern.strip()
        if kind.strip().startswith("!"):
            raise BadRule(f'--allow: "{part.strip()}" forbids; what is not allowed need not be')
        if colon and not pattern:
            raise BadRule(f'--allow: nothing stands behind "{part.strip()}"')
        if kind.strip() == "run" and pattern and not pattern.endswith("*"):
            pattern += " *"
        rules += [str(rule) for rule in _parsed(f"{kind.strip()}: {pattern or '*'}", "--allow: ")]
    return tuple(rules)


def _parsed(text: str, where: str) -> list[Rule]:
    found = _RULE.fullmatch(text)
    shown = f'{where}"{text}"'
    if found is None:
        raise BadRule(f"{shown} has several lines; write one rule on one line")
    kind = _KINDS.get(found["kind"])
    if kind is None:
        column = found.start("kind") + 1
        raise BadRule(
            f'{shown}, column {column}: there is no "{found["kind"]}"; begin with read:, edit: or'
            " run:"
        )
    pattern = found["pattern"].strip()
    if not found["colon"] or not pattern:
        column = found.end("kind") + 1
        raise BadRule(
            f'{shown}, column {column}: say what, as in "{kind}: '
            f'{"pytest *" if kind == "run" else "src/**"}"'
        )
    forbids = bool(found["not"])
    if forbids and kind == "read":
        raise BadRule(
            f"{shown}, column 1: reading cannot be forbidden by a rule, since commands read files"
            " as well; keep what must not be read outside of the workspace"
        )
    patterns = _SEVERAL.split(pattern) if kind == "run" else [pattern]
    return [
        Rule(kind, " ".join(one.split()) if kind == "run" else one, forbids) for one in patterns
    ]


def _path_pattern(pattern: str) -> re.Pattern[str]:
    parts = []
    for piece in re.split(r"(\*\*/?|\*|\?)", pattern):
        match piece:
            case "**/":
                parts.append("(?:.*/)?")
            case "**":
                parts.append(".*")
            case "*":
                parts.append("[^/]*")
            case "?":
                parts.append("[^/]")
            case _:
                parts.append(re.escape(piece))
    return re.compile("".join(parts), re.DOTALL)
