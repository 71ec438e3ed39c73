"""Who decides about what."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from gemma_local.app.agent.consent import MODES, Mode
from gemma_local.app.agent.file_diff import FileDiff
from gemma_local.app.agent.permissions import Allowed, Asked, Denied, decide
from gemma_local.app.agent.rules import Rules
from gemma_local.app.agent.run.judgement import RunEffect, judged
from gemma_local.app.agent.run.surroundings import Surroundings
from gemma_local.app.agent.tool import Effect

ROOT = Path("/work-that-is-not-there")
ELSEWHERE = Path("/temporary-that-is-not-there")
READ = Effect("read", "a.py")
SECRET = Effect("read", ".env", why="may hold secrets")
OUTSIDE = Effect("read", "/etc/hosts", why="outside the workspace", rule="read: /etc/**")
EDIT = Effect("edit", "src/a.py", FileDiff("src/a.py", "1", "2"), rule="edit: src/**")
PLAN = Effect("plan", "3 steps")


def run(text: str, *, is_confined: bool = True) -> RunEffect:
    judgement = judged(text, Surroundings((ROOT,), ROOT, ELSEWHERE, is_confined=is_confined))
    return RunEffect(
        "run", text, command=text, why=judgement.why, rule=judgement.rule, judgement=judgement
    )


def letters(effect: Effect, *written: str) -> str:
    """What is decided in plan, ask, edits and auto: free, asked or no."""
    rules = Rules(written)
    names = {Allowed: "f", Asked: "a", Denied: "n"}
    modes: tuple[Mode, ...] = ("plan", "ask", "edits", "auto")
    return "".join(names[type(decide(effect, mode, rules))] for mode in modes)


@pytest.mark.parametrize(
    ("effect", "rules", "expected"),
    [
        (READ, [], "ffff"),
        (PLAN, [], "ffff"),
        (SECRET, [], "aaaa"),
        (SECRET, ["read: *"], "aaaa"),
        (OUTSIDE, [], "aaaa"),
        (OUTSIDE, ["read: /etc/**"], "ffff"),
        (OUTSIDE, ["read: /usr/**"], "aaaa"),
        (EDIT, [], "naff"),
        (EDIT, ["edit: src/**"], "nfff"),
        (EDIT, ["edit: docs/**"], "naff"),
        (EDIT, ["!edit: src/*.py"], "nnnn"),
        (run("ls -la"), [], "ffff"),
        (run("pytest -q"), [], "naaf"),
        (run("pytest -q"), ["run: pytest *"], "nfff"),
        (run("pytest -q", is_confined=False), [], "naaa"),
        (run("pytest -q", is_confined=False), ["run: pytest *"], "nfff"),
        (run("cd src && pytest | tail -3"), ["run: pytest *"], "nfff"),
        (run("pytest && make"), ["run: pytest *"], "naaf"),
        (run("x=$(cat a); pytest $((x))"), ["run: pytest *"], "naaf"),
        (run("x=$(cat a); echo $((x))"), [], "naaf"),
        (run("x=$(cat a); echo $((x))", is_confined=False), [], "naaa"),
        (run("pytest && make"), ["run: pytest *", "run: make *"], "nfff"),
        (run("pytest $(make)"), ["run: pytest *"], "naaf"),
        (run("pytest > src/a.py"), ["run: pytest *"], "naff"),
        (run("rm -rf src"), ["run: *"], "naaa"),
        (run("git push"), ["run: git push *"], "naaa"),
        (run("npm install x"), [], "naaa"),
        (run("npm install x"), ["run: npm install *"], "nfff"),
        (run("npm install x; rm -rf y"), ["run: npm install *", "run: rm *"], "naaa"),
        (run("make deploy"), ["run: make *", "!run: make deploy *"], "nnnn"),
        (run("x=$(make deploy)"), ["!run: make deploy *"], "nnnn"),
        (run("/usr/bin/make deploy"), ["!run: make deploy *"], "nnnn"),
        (run("bash -c 'make deploy'"), ["!run: make deploy *"], "nnnn"),
        (run("echo 'unclosed"), ["run: *"], "naaa"),
        (Effect("run", "of another kind"), ["run: *"], "naaa"),
    ],
)
def test_the_table(effect: Effect, rules: list[str], expected: str) -> None:
    assert letters(effect, *rules) == expected


def test_all_modes_are_in_the_table() -> None:
    assert set(MODES) == set(get_args(Mode)) == {"plan", "ask", "edits", "auto"}


def test_what_the_person_is_told() -> None:
    decision = decide(run("npm install x"), "auto", Rules())
    assert decision == Asked(
        "fetches packages from the network: npm install x", "run: npm install *"
    )
    assert decide(run("pytest"), "ask", Rules()) == Asked("", "run: pytest *")


def test_what_the_model_is_told() -> None:
    assert isinstance(decide(EDIT, "plan", Rules()), Denied)
    forbidden = decide(run("rm x"), "auto", Rules(["!run: rm *"]))
    assert isinstance(forbidden, Denied) and '"!run: rm *"' in forbidden.sentence


def test_nobody_is_there() -> None:
    def told(effect: Effect, *rules: str) -> str:
        decision = decide(effect, "ask", Rules(rules), is_interactive=False)
        return decision.sentence if isinstance(decision, Denied) else ""

    assert told(run("pytest -q"), "run: pytest *") == ""
    assert told(READ) == ""
    assert told(run("pytest -q")).startswith("Not done: pytest -q needs the person's consent")
    assert "(deletes files: src)" in told(run("rm -rf src"), "run: *")
    assert told(EDIT).startswith("Not done: src/a.py needs")
    assert len(told(run("pytest " + "x" * 500))) < 300
