"""A contest with everything real: an engine, a project, attempts that differ by their seeds."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from gemma_local.app import folders
from gemma_local.app.abreast import widen
from gemma_local.app.agent.consent import Mode
from gemma_local.app.agent.rules import Rules
from gemma_local.app.agent.terms import Terms
from gemma_local.app.best.contest import Contest, Result
from gemma_local.app.best.ground import Ground
from gemma_local.app.best.judge import Judge
from gemma_local.app.best.standing import Standing
from gemma_local.app.best.wish import Wish
from gemma_local.app.dialogue import Dialogue
from gemma_local.app.options import AnswerOptions
from gemma_local.app.saving import Saving
from gemma_local.app.stop import Stop
from tests.app.agent.working import Overheard
from tests.ggufs import Pair, Steps, build, call
from tests.ggufs.steps import either

APP = "def add(a, b):\n    return a - b\n"
CHECK = "from app import add\n\nassert add(2, 3) == 5\n"
PASSES = "python3 check.py"
RIGHT, WRONG = "return a + b", "return a * b"


def mender(folder: Path) -> Pair:
    """Reads app.py and mends it: rightly or wrongly, as the seed has it."""
    steps = Steps.of(
        ["I look.\n", call("read", path="app.py")],
        [call("edit", path="app.py", old="return a - b", new=either(RIGHT, WRONG))],
        ["It is mended."],
    )
    return build("edge", steps, folder / "menders")


@dataclass
class Heard:
    """What a contest told."""

    standings: list[Standing] = field(default_factory=list)
    sentences: list[str] = field(default_factory=list)


@dataclass
class Desk:
    """A conversation in a project, to hold contests in."""

    talk: Dialogue
    heard: Heard = field(default_factory=Heard)

    def best(
        self,
        count: int,
        *,
        judge: str = PASSES,
        task: str = "mend it",
        stop: Stop | None = None,
        hear: Callable[[Standing], None] = lambda standing: None,
    ) -> Result:
        """Have ``count`` attempts made and judged. ``hear`` is told first how each stands."""

        def tell(standing: Standing) -> None:
            self.heard.standings.append(standing)
            hear(standing)

        ground = Ground.of(self.talk)
        contest = Contest(
            ground,
            Wish(count, task, judge),
            Judge(judge, seconds=60),
            tell,
            self.heard.sentences.append,
        )
        return contest.run(Stop() if stop is None else stop)


@contextmanager
def desk(
    pair: Pair,
    *,
    seed: int = 0,
    mode: Mode = "ask",
    rules: tuple[str, ...] = (),
    at_once: int = 1,
    temperature: float | None = None,
    save: bool = False,
) -> Iterator[Desk]:
    """A conversation in the working folder, with an engine that can have ``at_once`` of them."""
    options = AnswerOptions(
        model=str(pair.target), threads=1, ctx=8_192, seed=seed, temperature=temperature, save=save
    )
    terms = Terms(mode, Rules(rules), tools="on")
    talk = Dialogue(options, heard := Overheard(), terms=terms, on_tools=heard)
    talk.prepare()
    widen(talk, at_once)
    with closing(Saving(options, print)) as saving:
        try:
            talk.open(saving)
            yield Desk(talk)
        finally:
            talk.close()


def git(folder: Path, *words: str) -> str:
    """What git says."""
    program = shutil.which("git")
    assert program is not None
    done = subprocess.run([program, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def state_of(repository: Path) -> dict[str, str]:
    """All of a repository that is the person's: what must not change by itself."""
    asked = {
        "status": ("status", "--porcelain=v2", "--branch", "--ignored"),
        "staged": ("diff", "--cached"),
        "changed": ("diff",),
        "stash": ("stash", "list"),
        "refs": ("for-each-ref",),
        "reflog": ("reflog",),
        "worktrees": ("worktree", "list", "--porcelain"),
        "settings": ("config", "--local", "--list"),
    }
    return {name: git(repository, *words) for name, words in asked.items()}


def left_behind() -> list[str]:
    """What lies where copies are made."""
    place = folders.attempts_path()
    return sorted(path.name for path in place.iterdir()) if place.exists() else []
