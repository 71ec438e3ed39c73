"""One prompt, one answer, in every form of output, through a real engine."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.app.running import FAST, STORY, Command
from tests.app.test_report import KEYS
from tests.ggufs import NAN, Pair, build, byte_tokens, script

GREEDY = ("--temperature", "0")


def test_text_is_the_answer_and_nothing_else(command: Command, story: Pair) -> None:
    # The model comes from the environment here.
    done = command.run("-p", "tell me", *FAST, GEMMA_LOCAL_MODEL=str(story.target))
    assert (done.returncode, done.stdout, done.stderr) == (0, STORY.text + "\n", "")


def test_auto_in_the_environment_is_what_it_is_in_the_file(command: Command) -> None:
    done = command.run("-p", "x", GEMMA_LOCAL_MODEL="auto")
    assert done.returncode == 3
    assert "there is no model yet" in done.stderr


def test_json_has_all_keys_and_counts_right(command: Command, story: Pair) -> None:
    said = command.json("--model", story.target, "-p", "x", *FAST, *GREEDY, "--draft", 4)
    assert set(said) == KEYS
    expected = story.expected(4, 10_000)
    assert said["text"] == STORY.text
    assert said["finish_reason"] == "stop"
    assert (said["drafted"], said["accepted"]) == (expected.drafted, expected.accepted)
    assert said["acceptance"] == pytest.approx(expected.rate, abs=1e-6)
    assert said["accepted_by_position"] == expected.accepted_by_position
    assert said["drafted_by_position"] == expected.drafted_by_position
    assert said["passes"] == expected.passes
    assert said["emitted_tokens"] == len(STORY.tokens) - 1
    assert said["prompt_tokens"] == said["prefilled_tokens"] + said["reused_tokens"]
    assert said["exact"] is False
    assert said["lenience"] == 0
    assert (said["model"], said["drafter"]) == (str(story.target), str(story.drafter))
    assert isinstance(said["seed"], int)
    assert said["decode_seconds"] >= said["llama_seconds"] > 0


@pytest.mark.parametrize("options", [["--draft", "off"], ["--drafter", "none"]])
def test_drafting_can_be_left_out(command: Command, story: Pair, options: list[str]) -> None:
    said = command.json("--model", story.target, "-p", "x", *FAST, *options)
    assert (said["text"], said["drafter"], said["drafted"]) == (STORY.text, None, 0)
    assert said["acceptance"] is None


def test_a_target_alone_says_so_once(command: Command, story: Pair, tmp_path: Path) -> None:
    alone = shutil.copy(story.target, tmp_path / "alone.gguf")
    done = command.run("--model", alone, "-p", "x", *FAST)
    assert (done.returncode, done.stdout) == (0, STORY.text + "\n")
    assert done.stderr.count("\n") == 1
    assert "no drafter for alone.gguf" in done.stderr
    named = command.json("--model", alone, "--drafter", story.drafter, "-p", "x", *FAST)
    assert named["drafter"] == str(story.drafter)


def test_the_stream_tells_what_happens_and_ends_with_all_keys(
    command: Command, story: Pair
) -> None:
    done = command.run("--model", story.target, "-p", "x", *FAST, "--output", "stream-json")
    assert (done.returncode, done.stderr) == (0, "")
    events = [json.loads(line) for line in done.stdout.splitlines()]
    kinds = list(dict.fromkeys(event["type"] for event in events))
    assert [kind for kind in kinds if kind != "stats"] == [
        *("loading", "ready", "prefill", "delta", "done"),
    ]
    ready = next(event for event in events if event["type"] == "ready")
    assert ready["pid"] > 0
    assert ready["model"] == str(story.target)
    deltas = [event for event in events if event["type"] == "delta"]
    assert "".join(delta["text"] for delta in deltas) == STORY.text
    assert all(len(delta["tokens"]) == len(delta["drafted"]) for delta in deltas)
    last = events[-1]
    assert set(last) == KEYS | {"type"}
    assert last["text"] == STORY.text
    assert sum(sum(delta["drafted"]) for delta in deltas) in {
        last["accepted"],
        last["accepted"] - 1,
    }


def test_the_prompt_is_what_was_given_and_standard_input(command: Command, story: Pair) -> None:
    def tokens(*more: object, stdin: str = "") -> int:
        ask = ("--model", story.target, *FAST, "--max-tokens", 1, "--output", "json")
        done = command.run(*ask, *more, stdin=stdin)
        assert done.returncode == 0, done.stderr
        return int(json.loads(done.stdout)["prompt_tokens"])

    whole = tokens("-p", "read the file", stdin="hello test\n")
    assert tokens(stdin="read the file\n\nhello test\n") == whole
    assert tokens("-p", "read the file\n\nhello test", "--system", "say it", stdin=" \n") > whole
    # BOS and two words.
    assert tokens("-p", " the file", "--raw") == 3


def test_nothing_to_answer(command: Command, story: Pair) -> None:
    for arguments in (["-p", " "], []):
        done = command.run("--model", story.target, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "nothing to answer" in done.stderr


def test_bytes_that_are_no_text_do_no_harm(command: Command, story: Pair) -> None:
    done = command.run("--model", story.target, *FAST, stdin=b"\xff\xfe\x00 \x80")
    assert (done.returncode, done.stdout) == (0, STORY.text + "\n")


def test_stats_go_to_standard_error(command: Command, story: Pair) -> None:
    ask = ("--model", story.target, "-p", "x", *FAST, "--stats")
    done = command.run(*ask, "--draft", 3)
    assert done.stdout == STORY.text + "\n"
    speed, positions = done.stderr.splitlines()
    assert "tokens/s" in speed
    assert "tokens per pass" in speed
    assert "exact" not in speed
    assert positions.startswith("accepted by position")
    # How far to draft is left open: what was decided is told as well.
    speed, *lines = command.run(*ask).stderr.splitlines()
    assert "tokens/s" in speed
    assert any(line.startswith("passes by length of the draft  ") for line in lines)
    assert "decided in" in lines[-1]
    lenient = command.run(*ask, "--lenience", "0.1")
    assert "not exact (lenience 0.1)" in lenient.stderr


def test_stop_texts_and_length_end_the_answer(command: Command, story: Pair) -> None:
    ask = ("--model", story.target, "-p", "x", *FAST)
    stopped = command.json(*ask, "--stop", "nothing", "--stop", "word3 word4")
    assert (stopped["finish_reason"], stopped["text"]) == ("stop_string", "Once word0 word1 word2 ")
    short = command.json(*ask, "--max-tokens", 3)
    assert (short["finish_reason"], short["text"]) == ("length", "Once word0 word1")


def test_the_same_seed_gives_the_same_text(command: Command, endless: Pair) -> None:
    ask = ("--model", endless.target, "-p", "x", *FAST, "--max-tokens", 40)
    first = command.json(*ask)
    assert command.json(*ask, "--seed", first["seed"], "--draft", 5)["text"] == first["text"]
    assert command.json(*ask, "--seed", first["seed"] + 1)["text"] != first["text"]


def test_characters_that_span_tokens_arrive_whole(command: Command, ggufs: Path) -> None:
    spec = script(["caf", *byte_tokens("é"), " ", *byte_tokens("日本"), "\n"])
    pair = build("dense", spec, ggufs / "utf8")
    done = command.run("--model", pair.target, "-p", "x", *FAST, PYTHONIOENCODING="ascii")
    # The answer ends its line by itself, so none is added.
    assert (done.returncode, done.stdout) == (0, "café 日本\n")


@pytest.mark.parametrize(
    ("kind", "text"), [("nan", "fine until here"), ("loop", "Again and again")]
)
def test_an_answer_that_goes_wrong_is_said(
    command: Command, ggufs: Path, kind: str, text: str
) -> None:
    specs = {
        "nan": script(["fine", " until", " here"], end=NAN),
        "loop": script(["Again", " and", " again"], loop_to=1),
    }
    pair = build("dense", specs[kind], ggufs / kind)
    ask = ("--model", pair.target, "-p", "x", *FAST, *GREEDY)
    done = command.run(*ask, "--output", "json")
    said = json.loads(done.stdout)
    assert (done.returncode, said["finish_reason"]) == (6, kind)
    assert said["text"].startswith(text)
    assert done.stderr.startswith("gemma-local: the answer stops here")
    assert done.stderr.count("\n") == 1


def test_a_full_context_is_said(command: Command, endless: Pair) -> None:
    done = command.run("--model", endless.target, "-p", "x", *FAST, "--ctx", 64)
    assert done.returncode == 0
    assert "context of 64 tokens is full" in done.stderr
