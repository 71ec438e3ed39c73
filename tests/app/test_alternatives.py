"""Several answers to one prompt: ``-p ... --n N``."""

from __future__ import annotations

import json

import pytest

from tests.app.running import FAST, STORY, Command
from tests.app.test_report import KEYS
from tests.ggufs import Pair, Random, build

PROMPT = "tell me " * 40


@pytest.fixture(scope="module")
def talker(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """A pair that says something else with every seed."""
    return build("dense", Random(), tmp_path_factory.mktemp("talker"))


def test_the_answers_are_numbered(command: Command, story: Pair) -> None:
    done = command.run("--model", story.target, "-p", "x", *FAST, "--n", 3)
    assert (done.returncode, done.stderr) == (0, "")
    parts = [f"--- {number} of 3 ---\n{STORY.text}\n" for number in (1, 2, 3)]
    assert done.stdout == "".join(parts)


def test_the_prompt_is_read_once_and_the_seeds_follow_on_one_another(
    command: Command, talker: Pair
) -> None:
    options = (
        *("--model", talker.target, "-p", PROMPT, *FAST, "--max-tokens", 12, "--exact", "on"),
        *("--temperature", 2),
    )
    done = command.run(*options, "--n", 4, "--seed", 40, "--output", "json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [one["alternative"] for one in found] == [1, 2, 3, 4]
    assert [one["seed"] for one in found] == [40, 41, 42, 43]
    assert all(set(one) == KEYS | {"alternative"} for one in found)
    assert len({one["text"] for one in found}) == 4
    read = [one["prefilled_tokens"] for one in found]
    assert read[0] == found[0]["prompt_tokens"]
    assert max(read[1:]) <= 32
    again = command.run(*options, "--n", 2, "--seed", 42, "--output", "json")
    assert [one["text"] for one in json.loads(again.stdout)] == [one["text"] for one in found[2:]]


def test_events_say_whose_they_are(command: Command, story: Pair) -> None:
    done = command.run(
        "--model", story.target, "-p", "x", *FAST, "--n", 2, "--output", "stream-json"
    )
    assert (done.returncode, done.stderr) == (0, "")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    for number in (1, 2):
        own = [event for event in events if event.get("alternative") == number]
        said = "".join(event["text"] for event in own if event["type"] == "delta")
        assert said == STORY.text
        assert own[-1]["type"] == "done" and own[-1]["text"] == STORY.text
    apart = {event["type"] for event in events if "alternative" not in event}
    assert apart == {"loading", "ready"}


def test_without_chance_a_word_is_said_about_it(command: Command, story: Pair) -> None:
    done = command.run("--model", story.target, "-p", "x", *FAST, "--n", 2, "--temperature", 0)
    assert done.returncode == 0
    assert "all answers are the same" in done.stderr
    assert done.stdout.count(STORY.text) == 2


@pytest.mark.parametrize("more", [["--continue"], ["--allow", "read"], ["--mode", "plan"]])
def test_what_does_not_go_together_is_refused(command: Command, more: list[str]) -> None:
    done = command.run("-p", "x", "--n", 2, *more)
    assert done.returncode == 2 and "--n" in done.stderr
