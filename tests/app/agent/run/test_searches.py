"""A search through folders asks before it looks into a file that may hold secrets."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gemma_local.app.agent.permissions import Allowed, Asked, Denied, decide
from gemma_local.app.agent.rules import Rules
from gemma_local.app.agent.run.judgement import RunEffect, judged
from gemma_local.app.agent.run.surroundings import Surroundings

pytestmark = pytest.mark.skipif(os.name == "nt", reason="paths of POSIX")
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="no git here")


@pytest.fixture
def work(tmp_path: Path) -> Surroundings:
    """A repository with secrets: one that git ignores, one that it does not."""
    root = tmp_path.resolve() / "work"
    for path in (".env", "src/a.py", "src/tls/server.key", "docs/b.md", "node_modules/x/c.pem"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    (root / ".gitignore").write_text(".env\n")
    if shutil.which("git"):
        subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    return Surroundings((root,), root, tmp_path.resolve() / "temporary", is_confined=True)


@needs_git
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("grep -r x .", ".env and 1 more"),
        ("grep -rn x", ".env and 1 more"),
        ("grep -rnA3 x src", "src/tls/server.key"),
        ("grep -r -A 3 x src", "src/tls/server.key"),
        ("grep -re x src", "src/tls/server.key"),
        ("grep --recursive --regexp x src", "src/tls/server.key"),
        ("grep -d recurse x src", "src/tls/server.key"),
        ("grep -r x src docs", "src/tls/server.key"),
        ("grep -r x s*", "src/tls/server.key"),
        # Each command of a line counts as run in each folder of the line.
        ("cd src && grep -r x", ".env and 1 more"),
        ("grep -r --include='*.key' x .", "src/tls/server.key"),
        ("grep -r --exclude=.env x .", "src/tls/server.key"),
        ("env grep -r x src", "src/tls/server.key"),
        ("bash -c 'grep -r x src | head'", "src/tls/server.key"),
        ("grep -r src", ".env and 1 more"),
        ("rg x", "src/tls/server.key"),
        ("rg --hidden x", "src/tls/server.key"),
        ("rg -uu x", "src/tls/server.key and 1 more"),
        ("rg --hidden --no-ignore x", "src/tls/server.key and 1 more"),
        ("rg -g '!*.md' x", "src/tls/server.key"),
        ("git grep x", "src/tls/server.key"),
        ("git grep x -- 'src/*'", "src/tls/server.key"),
        ("diff -r src docs", "src/tls/server.key"),
        ("grep -r x docs", ""),
        ("grep x src/a.py", ""),
        ("grep x src/*.py", ""),
        ("grep -rn --include=*.py x .", ""),
        ("grep -rn --include='*.py' --include='*.md' x", ""),
        ("grep -r --exclude=.env --exclude='*.key' x .", ""),
        ("grep -r --exclude=.env --exclude-dir=tls x .", ""),
        ("cat src/a.py | grep x", ""),
        ("cat src/a.py | rg x", ""),
        ("rg x <src/a.py", ""),
        ("rg x docs", ""),
        ("rg -g '*.py' x", ""),
        ("rg -g '!*.key' x", ""),
        ("rg --files", ""),
        ("git grep x -- '*.py'", ""),
        ("git grep x docs", ""),
        ("ls -R .", ""),
        ("grep x /etc/hosts", ""),
        ("echo grep -r x .", ""),
    ],
)
def test_what_is_looked_into(work: Surroundings, text: str, named: str) -> None:
    judgement = judged(text, work)
    found = [reason.text for reason in judgement.reasons if "looks into" in reason.text]
    if not named:
        assert found == []
        return
    (why,) = found
    said = why.removeprefix("looks into what may hold secrets: ")
    names, _, more = said.partition(" and ")
    wanted, _, wanted_more = named.partition(" and ")
    assert more == wanted_more
    assert names == wanted or more
    assert not judgement.only_looks


def test_the_person_is_asked_in_every_mode(work: Surroundings) -> None:
    def decided(text: str, mode: str) -> object:
        judgement = judged(text, work)
        effect = RunEffect(
            "run", text, command=text, why=judgement.why, rule=judgement.rule, judgement=judgement
        )
        return decide(effect, mode, Rules(["run: grep *", "run: rm *"]))  # type: ignore[arg-type]

    for mode in ("plan", "ask", "edits", "auto"):
        asked = decided("grep -r x src", mode)
        assert isinstance(asked, Asked)
        assert asked == Asked("looks into what may hold secrets: src/tls/server.key")
        assert isinstance(decided("grep -r x docs", mode), Allowed)
    # What is more than a look is no matter for a plan.
    assert isinstance(decided("grep -r x src; rm a", "plan"), Denied)
