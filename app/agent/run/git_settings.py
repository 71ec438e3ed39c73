"""Settings that a git command brings along, such as ``git -c core.pager=less log``.

Many name a program, or stand for a whole command: an alias is another word for anything. Those few
that are known to be harmless are listed, since nobody knows all others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final

from gemma_local.app.agent.run.command import SimpleCommand
from gemma_local.app.agent.run.tables import table

_VALUED: Final = ("-C", "--git-dir", "--work-tree", "--namespace", "--super-prefix")
"""Options of git itself that take the next word; they cannot be cut short."""
_FROM_ENVIRONMENT: Final = "--config-env"
_PROGRAMS: Final = "--exec-path="


@dataclass(frozen=True, slots=True)
class GitSetting:
    """``name`` is in lower case, "" if it is only known when it runs, as ``value`` is with None;
    ``text`` is how it is written."""

    text: str
    name: str = ""
    value: str | None = None

    @property
    def is_harmless(self) -> bool:
        """Whether no program is named."""
        harmless: list[str] = table("danger")["free"]["settings_of_git"]
        given = [self.name] + ([] if self.value is None else [f"{self.name}={self.value}"])
        return bool(self.name) and any(
            fnmatchcase(one, pattern) for pattern in harmless for one in given
        )

    @property
    def command(self) -> str:
        """What may be run because of it; "" if that is not clear."""
        if self.value is None or self.is_harmless:
            return ""
        if self.name.startswith("alias.") and not self.value.startswith("!"):
            return f"git {self.value}"
        return self.value.removeprefix("!")


def settings_of(command: SimpleCommand) -> Iterator[GitSetting]:
    """Those of a git command; none of another. What stands behind git's own command, such as the
    "-c" of ``git commit -c HEAD``, is something else."""
    words = iter(command.arguments if command.program == "git" else ())
    for word in words:
        text = word.text
        if not word.is_known:
            yield GitSetting(text)
        elif text in ("-c", _FROM_ENVIRONMENT):
            given = next(words, None)
            if given is not None:
                is_plain = given.is_known and text == "-c"
                yield _setting(given.text, is_known=given.is_known, has_value=is_plain)
        elif text.startswith(f"{_FROM_ENVIRONMENT}="):
            yield _setting(text.partition("=")[2], is_known=True, has_value=False)
        elif text.startswith(_PROGRAMS):
            yield GitSetting(text)
        elif text in _VALUED:
            next(words, None)
        elif not text.startswith("-"):
            return


def _setting(text: str, *, is_known: bool, has_value: bool) -> GitSetting:
    name, _, value = text.partition("=")
    return GitSetting(text, name.lower() if is_known else "", value if has_value else None)
