"""Opens terminals with the app in them, or with a shell; and looks at what the app left."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gemma_local.app.sessions.entry import Entry
from gemma_local.app.sessions.store import SessionStore
from gemma_local.app.tui.glyphs import UNICODE
from tests.app.running import FAST, Command
from tests.app.tui.end_to_end.screen import Screen
from tests.ggufs import Pair

PROMPT: Final = "prompt>"
"""What the shells say when they wait."""
POINT: Final = UNICODE.prompt
"""Where a person writes begins with it, and so does what they said."""
READY: Final = "of 8,192"
"""Stands in the status line once the model is loaded."""
STARTED: Final = ("--ctx", 8192, "--seed", 1, "--draft", 3)
_DISTURBED: Final = Path(__file__).with_name("disturbed.py")


@dataclass(frozen=True)
class Terminals:
    """All of them have the same home, and work in ``folder``."""

    command: Command
    folder: Path

    def app(
        self,
        pair: Pair,
        *options: object,
        size: tuple[int, int] = (80, 24),
        disturbed: bool = False,
        variables: Mapping[str, str] = MappingProxyType({}),
    ) -> Screen:
        """A terminal with nothing but gemma-local in it; ``disturbed``: the one that has keys for
        it. ``size`` in columns and lines, ``variables`` are those of its environment."""
        words = self.words(pair, *options)
        if disturbed:
            words[1:3] = [str(_DISTURBED)]
        return Screen(words, self.environment(variables), size=size, folder=self.folder)

    def shell(self, shell: Sequence[str]) -> Screen:
        """A terminal with a shell that a person types commands into."""
        return Screen(shell, self.environment({"PS1": f"{PROMPT} "}), folder=self.folder)

    def line(self, pair: Pair, *options: object) -> str:
        """What a person types to start gemma-local."""
        return shlex.join(self.words(pair, *options))

    def words(self, pair: Pair, *options: object) -> list[str]:
        return self.command.words("--model", pair.target, *FAST, *STARTED, *options)

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        usual = {"TERM": "xterm-256color", "LANG": "C.UTF-8"}
        environment = self.command.environment(**{**usual, **variables})
        for name in ("LC_ALL", "LC_CTYPE", "NO_COLOR", "TMUX", "SSH_CONNECTION", "COLORTERM"):
            if name not in variables:
                environment.pop(name, None)
        return environment

    @property
    def log(self) -> str:
        """What was logged."""
        place = self.command.home / "XDG_STATE_HOME" / "gemma-local" / "log" / "engine.log"
        return place.read_text(encoding="utf-8", errors="replace")

    @property
    def saved(self) -> list[Entry]:
        """The newest conversation in the store."""
        place = self.command.home / "XDG_DATA_HOME" / "gemma-local" / "sessions.sqlite3"
        with SessionStore.open(place) as store:
            sessions = store.list()
            return list(store.entries(sessions[0].id)) if sessions else []

    def until_kept(self, screen: Screen, look: Callable[[], str]) -> str:
        """Words that ``look`` saw of an answer while it came, once they are on the disk as well."""
        seen: list[str] = []
        kept: list[str] = []

        def is_kept() -> bool:
            # A moment at which only half of the lines were drawn may be among them.
            seen.append(look())
            saved = self.saved
            text = saved[-1].message.text if saved else ""
            kept.extend(words for words in seen if words and words in text)
            return bool(kept)

        screen.until(is_kept)
        return kept[-1]
