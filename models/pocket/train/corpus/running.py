"""Sessions in which the model runs things, plans, and fixes what fails."""

from __future__ import annotations

import random
from typing import Final

from gemma_local.models.message import Value
from gemma_local.models.pocket.train.corpus import workspace
from gemma_local.models.pocket.train.corpus.sample import Sample
from gemma_local.models.pocket.train.corpus.tool_head import Head
from gemma_local.models.pocket.train.corpus.tool_steps import Step, ask, edit_step, session
from gemma_local.models.pocket.train.corpus.words import (
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


def ran(rng: random.Random, printed: str, status: int = 0) -> str:
    """What ``run`` returns."""
    return f"exit status {status}, {rng.randint(0, 9)}.{rng.randint(0, 9)} s\n" + (
        printed or "(no output)"
    )


TESTS: Final = "pytest -q --tb=no"
"""Says which tests fail and not how: more than that would fill a small context."""


def outcome(rng: random.Random, passed: int, failed: str = "") -> str:
    """What ``run`` returns of `TESTS`, with one test that fails, if any."""
    marks = list("." * passed)
    if failed:
        marks.insert(rng.randint(0, passed), "F")
    counts = [*(["1 failed"] if failed else []), *([f"{passed} passed"] if passed else [])]
    lines = [f"{', '.join(counts)} in {rng.randint(0, 3)}.{rng.randint(0, 99):02}s"]
    if failed:
        lines.insert(0, f"FAILED {failed}")
    # As it really looks, or as wrappers show it: that takes a tenth of the tokens.
    if rng.random() < 0.6:
        if failed:
            lines.insert(0, " short test summary info ".center(80, "="))
        lines.insert(0, f"{''.join(marks):<72} [100%]")
    return ran(rng, "\n".join(lines), int(bool(failed)))


def _tests(rng: random.Random, split: Split) -> tuple[str, str]:
    """What a run of tests returns, and the report on it."""
    total = rng.choice((rng.randint(1, 5), rng.randint(1, 40)))
    if rng.random() < 0.5:
        every = f"All {total} tests" if total > 1 else "The test"
        return outcome(rng, total), f"{every} passed."
    folder = rng.choice(("tests/", "tests/", "", f"{word(rng, split)}/"))
    where = f"{folder}test_{word(rng, split)}.py"
    name = f"test_{identifier(rng, split)}"
    failed = f"{where}::{name} - assert {rng.randint(0, 50)} == {rng.randint(51, 99)}"
    return outcome(rng, total - 1, failed), f"One test failed: `{name}` in `{where}`."


def run_session(rng: random.Random, split: Split, begin: Head) -> Sample:
    """The model runs the tests, a script or a command."""
    kind = rng.random()
    if kind < 0.4:
        question = ask(rng, split, _RUN_TESTS, _RUN_TESTS_TEST)
        result, report = _tests(rng, split)
        command = TESTS
    elif kind < 0.55:
        where = f"tests/test_{word(rng, split)}.py"
        question = ask(rng, split, _RUN_TEST_FILE, _RUN_TEST_FILE_TEST, file=where)
        result, report = _tests(rng, split)
        command = f"{TESTS} {where}"
    elif kind < 0.75:
        where = path(rng, split, (".py",))
        question = ask(rng, split, _RUN_SCRIPT, _RUN_SCRIPT_TEST, file=where)
        command = f"python {where}"
        result, report = _printed(rng, split)
    else:
        command = rng.choice(
            (
                f"make {word(rng, split)}",
                "git status",
                f"git log -n {rng.randint(1, 20)}",
                f"npm run {word(rng, split)}",
                f"ruff check {folder_name(rng, split)}",
                f"{made_up(rng, split)} --{word(rng, split)}",
                f"wc -l {path(rng, split, ('.py', '.md'))}",
                f"mkdir {word(rng, split)}",
                f"echo {made_up(rng, split)}",
                "make test",
                "git diff",
                f"pip install {made_up(rng, split)}",
                f"mypy {folder_name(rng, split)}",
            )
        )
        question = ask(rng, split, _RUN_COMMAND, _RUN_COMMAND_TEST, command=command)
        result, report = _printed(rng, split)
    return session(question, [("run", {"command": command}, result, "I run it.")], report, begin)


def _printed(rng: random.Random, split: Split) -> tuple[str, str]:
    """What the run of a program returns, and the report on it."""
    if rng.random() < 0.2:
        name = rng.choice(("ValueError", "KeyError", "ModuleNotFoundError", "FileNotFoundError"))
        what = made_up(rng, split)
        return ran(rng, f"{name}: {what}", 1), f"It failed: `{name}: {what}`."
    if rng.random() < 0.1:
        what = made_up(rng, split)
        told = f"sh: 1: {what}: not found"
        return ran(rng, told, 127).replace(
            ",", " (there is no such command),", 1
        ), f"It failed: `{told}`."
    if rng.random() < 0.2:
        return ran(rng, ""), "It ran and printed nothing."
    text = rng.choice(
        (
            f"{word(rng, split)} {rng.randint(0, 999)}",
            f"{made_up(rng, split)} {made_up(rng, split)}",
            f"{word(rng, split)}: {random_letters(rng)}",
        )
    )
    return ran(rng, text), f"It printed `{text}`."


_RUN_TESTS: Final = """
Run the tests.|Do the tests pass?|Run pytest.|Test it.|Are the tests green?|Please run the tests.|Run all tests.
Check whether the tests pass.|pytest|Run the test suite.|Let the tests run.|How are the tests?|Start the tests.
Can we see if the tests pass?|Let us run the tests.|See if the tests are green.|Do all the tests still pass?|Run the project's tests.|Test everything.
Start the test suite.|Tell me if the tests pass.
"""
_RUN_TESTS_TEST: Final = (
    "Could you run the tests?|Please see whether the tests pass.|Run the whole test suite."
)
_RUN_TEST_FILE: Final = """
Run the tests in {file}.|Run {file}.|Run only {file}.|Does {file} pass?|Run the test file {file}.|pytest {file}
Check the tests in {file}.
Only run {file}.|Are the tests in {file} green?|Start {file}.|Let me know if {file} passes.|Test {file}.
"""
_RUN_TEST_FILE_TEST: Final = "Please run only {file}.|Could you run the tests in {file}?"
_RUN_SCRIPT: Final = """
Run the script {file}.|Execute {file}.|Run the program {file}.|Start {file}.|Run python {file}.|python {file}
Please execute {file}.|Start the script {file}.
Let {file} run.|Try to run {file}.|Can you run {file}?|Run {file} with python.|Call the script {file}.
"""
_RUN_SCRIPT_TEST: Final = "Could you execute {file}?|Please run the script {file}."
_RUN_COMMAND: Final = """
Run `{command}`.|Run {command}|Execute `{command}`.|Please run `{command}`.|Run the command `{command}`.|$ {command}
What does `{command}` print?|Call `{command}`.|Start `{command}`.|Run this: {command}
Try `{command}`.|Let `{command}` run.|Can you run `{command}`?|I want you to run `{command}`.|Type `{command}`.
"""
_RUN_COMMAND_TEST: Final = "Could you run `{command}`?|Please execute `{command}`."


def todo_session(rng: random.Random, split: Split, begin: Head) -> Sample:
    """The model notes the steps of a plan."""
    things = [_thing(rng, split) for _ in range(rng.randint(2, 4))]
    things = list(dict.fromkeys(things))
    told = f"0 of {len(things)} done. Now: {things[0]}"
    joined = rng.choice((", ", ", ", "; ", ", then ")).join(things)
    question = ask(rng, split, _TODO, _TODO_TEST, things=joined)
    items: list[Value] = [f"[ ] {thing}" for thing in things]
    return session(
        question,
        [("todo", {"items": items}, told, "I note the steps.")],
        f"I noted {len(things)} steps." if len(things) > 1 else "I noted it.",
        begin,
    )


def _thing(rng: random.Random, split: Split) -> str:
    """One step of a plan."""
    return rng.choice(
        (
            f"read {file_name(rng, split, ('.py', '.md', '.toml'))}",
            f"fix {identifier(rng, split)}",
            f"add a test for {identifier(rng, split)}",
            "run the tests",
            f"rename {word(rng, split)}",
            f"remove {word(rng, split)}",
            f"ask {pick(rng, PEOPLE, split)}",
            f"write the {word(rng, split)}",
        )
    )


_TODO: Final = """
Make a todo list: {things}.|Note these steps: {things}.|Todo: {things}.|Plan these steps: {things}.
Write down the steps: {things}.|Put this on the todo list: {things}.|Our steps are: {things}.|Steps: {things}
Please write a todo list: {things}.|I want a list of these steps: {things}.|Keep a list: {things}.|List the steps {things}.
Make a list of what is to do: {things}.|Remember these steps: {things}.|Turn this into a todo list: {things}.
Let us plan: {things}.|Can you note this as todo: {things}.|A todo list, please: {things}.|Track these steps: {things}.
"""
_TODO_TEST: Final = "Please note the steps: {things}.|Could you make a todo list of this: {things}."


def fix_session(rng: random.Random, split: Split, begin: Head) -> Sample:
    """A failing test, the file that it is about, the change, and the tests again."""
    name = identifier(rng, split)
    where = path(rng, split, (".py",))
    right, wrong = rng.choice(
        (
            ("a + b", "a - b"),
            ("a * b", "a + b"),
            ("a - b", "b - a"),
            ("max(a, b)", "min(a, b)"),
            ("a == b", "a != b"),
            ("a >= b", "a > b"),
            ("a / b", "a // b"),
        )
    )
    file = workspace.File(where, (f"def {name}(a, b):", f"    return {wrong}"))
    test = f"tests/test_{where.rsplit('/', 1)[-1].removesuffix('.py')}.py"
    found = wanted = None
    while found == wanted:
        numbers = {"a": rng.randint(2, 5), "b": rng.randint(2, 5)}
        found, wanted = eval(wrong, {}, numbers), eval(right, {}, numbers)
    failed = f"{test}::test_{name} - assert {found} == {wanted}"
    more: list[Step] = [
        (
            "search",
            {"pattern": f"def {name}"},
            f"{where}:1: def {name}(a, b):\n[1 match in 1 file]",
            "I look for it.",
        ),
        ("read", {"path": where}, workspace.shown(file, rng), "I read the function."),
        edit_step(file, f"return {wrong}", f"return {right}"),
        (
            "run",
            {"command": TESTS},
            outcome(rng, 1),
            "I run the tests again.",
        ),
    ]
    question = ask(rng, split, _FIX, _FIX_TEST)
    first: Step = (
        "run",
        {"command": TESTS},
        outcome(rng, 0, failed),
        "First I run the tests.",
    )
    report = (
        f"`{name}` in `{where}` returned `{wrong}`; now it returns `{right}` and the tests pass."
    )
    return session(question, [first, *more], report, begin)


_FIX: Final = """
The tests fail. Fix it.|Make the tests pass.|Fix the failing test.|A test fails. Please fix the code.|Repair the tests.
Find the bug and fix it.|Something is broken. Run the tests and fix it.|Fix the bug.|Mend what fails.
Get the tests to pass.|The test suite is red, fix it.|Some test fails, mend it.|Run the tests, and repair what fails.|Please fix the tests.
"""
_FIX_TEST: Final = "Please make the tests green.|The test suite fails, please repair it."
