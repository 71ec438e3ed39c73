"""The command line's grammar: every wrong value gets one sentence that names the option."""

from __future__ import annotations

import pytest

from gemma_local.app.arguments import parse_answer, parse_bench, parse_verify
from gemma_local.app.errors import UsageError
from gemma_local.app.options import AnswerOptions, BenchOptions, VerifyOptions

WRONG = [
    ("--draft 17", "--draft", "auto, off or a whole number from 0 to 16"),
    ("--draft -1", "--draft", "from 0 to 16"),
    ("--draft fast", "--draft", "'fast'"),
    ("--draft 3.5", "--draft", "whole number"),
    ("--output xml", "--output", "text, json or stream-json"),
    ("--exact yes", "--exact", "auto, on or off"),
    ("--ctx 0", "--ctx", "from 16"),
    ("--ctx big", "--ctx", "whole number"),
    ("--threads 0", "--threads", "from 1"),
    ("--gpu-layers -2", "--gpu-layers", "from -1"),
    ("--seed -1", "--seed", "from 0"),
    ("--temperature -0.1", "--temperature", "from 0 to 10"),
    ("--temperature nan", "--temperature", "'nan'"),
    ("--temperature inf", "--temperature", "from 0 to 10"),
    ("--top-k -1", "--top-k", "from 0"),
    ("--top-p 0", "--top-p", "above 0 and up to 1"),
    ("--top-p 1.1", "--top-p", "above 0 and up to 1"),
    ("--min-p 2", "--min-p", "from 0 to 1"),
    ("--repeat-penalty 0", "--repeat-penalty", "above 0"),
    ("--frequency-penalty 3", "--frequency-penalty", "from -2 to 2"),
    ("--presence-penalty x", "--presence-penalty", "from -2 to 2"),
    ("--lenience 1.5", "--lenience", "from 0 to 1"),
    ("--max-tokens 0", "--max-tokens", "from 1"),
    ("--stop=", "--stop", "empty"),
    ("--model=", "--model", "empty"),
    ("--prompt", "--prompt", "expected one argument"),
    ("--temp 1", "--temp", "no option"),
    ("hello", "'hello'", "give the prompt with -p"),
    ("--drafter none --draft 3", "--draft", "needs a drafter"),
    ("--threads 2 bench", "bench", "must come first"),
]


@pytest.mark.parametrize(("words", "named", "hint"), WRONG)
def test_a_wrong_option_is_named_with_what_to_give(words: str, named: str, hint: str) -> None:
    with pytest.raises(UsageError) as problem:
        parse_answer(words.split())
    sentence = str(problem.value)
    assert named in sentence
    assert hint in sentence
    assert "\n" not in sentence


def test_nothing_given_leaves_every_default() -> None:
    assert parse_answer([]) == AnswerOptions()
    assert parse_bench([]) == BenchOptions()
    assert parse_verify([]) == VerifyOptions()


def test_every_option_of_an_answer_arrives() -> None:
    words = (
        "-p hi --system be --raw --output json --stats --model m.gguf --drafter d.gguf --exact on "
        "--ctx 4096 --threads 2 --gpu-layers 0 --draft 4 --max-tokens 9 --stop a --stop b --seed 7 "
        "--temperature 0.5 --top-k 10 --top-p 0.9 --min-p 0.1 --repeat-penalty 1.1 "
        "--frequency-penalty 0.2 --presence-penalty -0.3 --lenience 0.25"
    )
    assert parse_answer(words.split()) == AnswerOptions(
        prompt="hi",
        system="be",
        raw=True,
        output="json",
        stats=True,
        model="m.gguf",
        drafter="d.gguf",
        exact="on",
        ctx=4096,
        threads=2,
        gpu_layers=0,
        draft=4,
        max_tokens=9,
        stop=["a", "b"],
        seed=7,
        temperature=0.5,
        top_k=10,
        top_p=0.9,
        min_p=0.1,
        repeat_penalty=1.1,
        frequency_penalty=0.2,
        presence_penalty=-0.3,
        lenience=0.25,
    )


@pytest.mark.parametrize(("word", "length"), [("auto", None), ("off", 0), ("0", 0), ("16", 16)])
def test_draft_lengths_have_names(word: str, length: int | None) -> None:
    assert parse_answer(["--draft", word]).draft == length


def test_a_prompt_may_begin_with_a_dash() -> None:
    assert parse_answer(["-p", "- one\n- two"]).prompt == "- one\n- two"
    assert parse_answer(["--prompt=--help"]).prompt == "--help"


def test_lists_of_draft_lengths_are_put_in_order() -> None:
    assert parse_bench(["--draft", "4, 2,2,8"]).draft == (2, 4, 8)
    assert parse_verify(["--draft", "3"]).draft == (3,)


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("--draft 1,,2", "--draft"),
        ("--draft 0", "from 1 to 16"),
        ("--kinds poems", "code, rewrite, summary"),
        ("--kinds code --raw-tokens 9", "exclude each other"),
        ("--tokens 1", "from 2"),
        ("--repeat 0", "from 1"),
        ("-p hi", "no option '-p'"),
    ],
)
def test_bench_refuses(words: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        parse_bench(words.split())
