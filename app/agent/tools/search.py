"""The tool that looks for a pattern in files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from gemma_local.app.agent.budget import HIT_SHOWN
from gemma_local.app.agent.files.hits import SECONDS, Hits, find
from gemma_local.app.agent.files.searcher import MOST_BYTES, Wish, unbraced
from gemma_local.app.agent.files.workspace import Place
from gemma_local.app.agent.tool import Effect, Result, Step, ToolProblem
from gemma_local.app.agent.tools.arguments import declared, text_of
from gemma_local.app.agent.tools.kit import Kit
from gemma_local.app.stop import Stop
from gemma_local.app.workspace.errors import TooLarge
from gemma_local.app.workspace.listing import check_size
from gemma_local.models.message import Tool as Declaration
from gemma_local.models.message import Value

_SPECIAL: Final = frozenset(r".^$*+?{}[]()|\\")
_LONGEST: Final = 1_000


class Search:
    """``search(pattern, path, glob)``."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def declaration(self) -> Declaration:
        """As the model reads it."""
        return declared(
            "search",
            f"Find lines in files. At most {self._kit.budget.hits} are shown, as path:line: text.",
            pattern=("string", "regular expression; lower case finds any case"),
            path=("string?", "file or folder, default: the workspace"),
            glob=("string?", "such as *.py"),
        )

    def step(self, arguments: Mapping[str, Value]) -> Step:
        """Raises ToolProblem."""
        pattern = text_of(arguments, "pattern")
        if not pattern:
            raise ToolProblem('"pattern" is empty. Give a word or a regular expression.')
        if len(pattern) > _LONGEST or "\n" in pattern:
            raise ToolProblem("A search looks at one line at a time. Give a part of one line.")
        place = self._kit.workspace.reading(text_of(arguments, "path", "."))
        globs = unbraced(text_of(arguments, "glob", "").strip())
        return _Searching(self._kit, place, pattern, tuple(filter(None, globs)))


@dataclass(frozen=True, slots=True)
class _Searching:
    kit: Kit
    place: Place
    pattern: str
    globs: tuple[str, ...]

    @property
    def effect(self) -> Effect:
        """Looking at many files."""
        where = "" if self.place.shown == "." else f" in {self.place.shown}"
        globs = f" ({', '.join(self.globs)})" if self.globs else ""
        rule = self.place.rule("read") if self.place.why else ""
        return Effect("read", f"{self.pattern}{where}{globs}", why=self.place.why, rule=rule)

    def carry_out(self, stop: Stop, on_output: Callable[[str], None]) -> Result:
        """Raises ToolProblem."""
        wish = self._wish()
        notes: list[str] = []
        try:
            hits = self._found(wish, stop)
            if hits.trouble:
                notes.append(f"no regular expression ({hits.trouble}): looked for it as it stands")
                hits = self._found(replace(wish, is_literal=True), stop)
            elif not hits.count and hits.is_whole and not _SPECIAL.isdisjoint(self.pattern):
                literal = self._found(replace(wish, is_literal=True), stop)
                if literal.count:
                    hits = literal
                    notes.append("nothing matches it as a regular expression: as it stands it does")
        except OSError as error:
            raise ToolProblem(f"The search could not be started: {error.strerror}.") from error
        return self._result(hits, notes)

    def _wish(self) -> Wish:
        path = self.place.path
        root = str(self.place.base or self.kit.workspace.folder)
        if not path.exists():
            raise ToolProblem(f"There is no {self.place.shown}. Search without a path.")
        if not path.is_dir():
            return Wish(str(path.parent), self.pattern, path.name, root=root)
        try:
            check_size(path)
        except TooLarge as error:
            raise ToolProblem(f"{self.place.shown} is too large. Give a folder in it.") from error
        return Wish(str(path), self.pattern, globs=self.globs, root=root)

    def _found(self, wish: Wish, stop: Stop) -> Hits:
        shows_secrets = bool(wish.name) and "secrets" in self.place.why
        return find(wish, self.kit.budget.hits, stop, shows_secrets=shows_secrets)

    def _result(self, hits: Hits, notes: list[str]) -> Result:
        base = self.place.path if self.place.path.is_dir() else self.place.path.parent
        above = self.kit.workspace.shown(base)
        prefix = "" if above == "." else f"{above.rstrip('/')}/"
        left = self.kit.budget.result_characters - HIT_SHOWN
        shown: list[str] = []
        for line in hits.lines:
            left -= len(prefix) + len(line) + 1
            if left < 0 and shown:
                break
            shown.append(prefix + line)
        if hits.hides_secrets:
            notes.append("files that may hold secrets were left out")
        if not hits.is_whole:
            notes.append(f"ended early, after {SECONDS:.0f} s or too many matches: narrow it down")
        return Result("\n".join([*shown, *self._ending(hits, len(shown), notes)]), _count(hits))

    def _ending(self, hits: Hits, shown: int, notes: list[str]) -> list[str]:
        count = _count(hits)
        if not hits.count:
            told = f'No match for "{self.pattern}"'
            if self.globs:
                told += f" in {', '.join(self.globs)}"
            notes.insert(0, f"not looked into: ignored, binary, over {MOST_BYTES // 10**6} MB")
            return [f"{told}. [{'; '.join(notes)}]"]
        if shown < hits.count:
            count += f", the first {shown} shown: narrow it down with path or glob"
        return [f"[{'; '.join([count, *notes])}]"]


def _count(hits: Hits) -> str:
    if not hits.count:
        return "no match"
    more = "" if hits.is_whole else "more than "
    matches = "match" if hits.count == 1 else "matches"
    files = len(hits.files)
    return f"{more}{hits.count:,} {matches} in {files:,} file{'s' if files != 1 else ''}"
