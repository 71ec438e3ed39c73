"""Settings as the defaults of options: what the command line says goes first."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from gemma_local.app.arguments import parse_answer, parse_bench, parse_verify
from gemma_local.app.options import AnswerOptions, BenchOptions, VerifyOptions
from gemma_local.app.settings import Settings
from gemma_local.app.settings_environment import from_environment
from gemma_local.app.settings_file import load_settings
from gemma_local.app.settings_options import TABLES, filled, with_settings
from gemma_local.app.settings_variables import variable_of
from gemma_local.app.settings_words import allowed, model_of
from tests.app.running import FAST, Command
from tests.ggufs import Pair


def settings(**tables: dict[str, object]) -> Settings:
    return Settings.model_validate(tables)


def test_a_setting_with_the_name_of_an_option_is_one() -> None:
    options = {field.name for field in fields(AnswerOptions)}
    for table in TABLES:
        model = model_of(table)
        assert model is not None
        assert set(model.model_fields) <= options


def test_settings_that_nobody_has_set_change_nothing() -> None:
    assert filled(AnswerOptions(), Settings(), ()) == AnswerOptions()
    assert filled(BenchOptions(), Settings(), ()) == BenchOptions()


def test_every_setting_reaches_its_option() -> None:
    found = filled(
        AnswerOptions(),
        settings(
            model={
                "model": "E4B",
                "drafter": "d.gguf",
                "ctx": 4096,
                "threads": 3,
                "gpu_layers": 7,
                "kv_type": "q8_0",
            },
            answer={"system": "Be brief.", "think": 200, "max_tokens": 9, "stop": ["x"]},
            conversations={"save": False},
            drafting={"draft": 4, "exact": "on", "lenience": 0.25},
            sampling={
                "temperature": 0.5,
                "top_k": 10,
                "top_p": 0.9,
                "min_p": 0.1,
                "seed": 7,
                "repeat_penalty": 1.1,
                "frequency_penalty": 0.2,
                "presence_penalty": -0.3,
            },
            agent={"max_calls": 12, "mode": "auto"},
        ),
        (),
    )
    assert found == AnswerOptions(
        model="E4B",
        drafter="d.gguf",
        ctx=4096,
        threads=3,
        gpu_layers=7,
        kv_type="q8_0",
        system="Be brief.",
        think=200,
        max_tokens=9,
        stop=["x"],
        save=False,
        draft=4,
        exact="on",
        lenience=0.25,
        temperature=0.5,
        top_k=10,
        top_p=0.9,
        min_p=0.1,
        seed=7,
        repeat_penalty=1.1,
        frequency_penalty=0.2,
        presence_penalty=-0.3,
        max_calls=12,
    )


@pytest.mark.parametrize(
    ("table", "name", "word", "value"),
    [
        ("answer", "think", "on", 0),
        ("answer", "think", "off", None),
        ("drafting", "draft", "off", 0),
        ("drafting", "draft", "auto", None),
        ("model", "ctx", "auto", 0),
        ("model", "gpu_layers", "auto", -1),
        ("model", "model", "auto", None),
        ("sampling", "temperature", "auto", None),
        ("drafting", "exact", "off", "off"),
    ],
)
def test_words_mean_what_they_mean_on_the_command_line(
    table: str, name: str, word: str, value: object
) -> None:
    found = filled(AnswerOptions(), Settings.model_validate({table: {name: word}}), ())
    assert getattr(found, name) == value


def test_the_command_line_goes_first() -> None:
    def fill(options: AnswerOptions, given: object) -> AnswerOptions:
        return filled(options, chosen, given)  # type: ignore[arg-type]  # it is a dict of them

    chosen = settings(
        sampling={"temperature": 0.5, "seed": 7},
        conversations={"save": False},
        drafting={"draft": "off"},
    )
    found = parse_answer(["--temperature", "0", "--save", "--draft", "auto"], fill)
    assert (found.temperature, found.seed, found.save, found.draft) == (0, 7, True, None)


def test_who_asks_for_drafts_gets_the_drafter() -> None:
    chosen = settings(model={"drafter": "none"})
    assert filled(AnswerOptions(draft=3), chosen, {"draft"}).drafter == "auto"
    assert filled(AnswerOptions(draft=0), chosen, {"draft"}).drafter == "none"
    assert filled(AnswerOptions(), chosen, ()).drafter == "none"


def test_a_text_to_go_on_with_gets_no_instructions() -> None:
    chosen = settings(answer={"system": "Be brief."})
    assert filled(AnswerOptions(raw=True), chosen, {"raw"}).system is None


def test_measuring_takes_what_says_which_pair_and_how() -> None:
    chosen = settings(
        model={"model": "E4B", "ctx": 4096}, drafting={"draft": 3, "exact": "on"}, answer={}
    )
    assert filled(BenchOptions(), chosen, ()) == BenchOptions(model="E4B", ctx=4096, exact="on")
    assert filled(VerifyOptions(), chosen, ()) == VerifyOptions(model="E4B", ctx=4096, exact="on")


def test_they_are_read_from_file_and_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert parse_answer([], with_settings) == AnswerOptions()
    path = home / "XDG_CONFIG_HOME" / "gemma-local" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text('[model]\nmodel = "file.gguf"\nctx = 2048\n', encoding="utf-8")
    monkeypatch.setenv("GEMMA_LOCAL_MODEL__CTX", "4096")
    assert parse_bench([], with_settings) == BenchOptions(model="file.gguf", ctx=4096)
    monkeypatch.setenv("GEMMA_LOCAL_MODEL", "variable.gguf")
    assert parse_verify([], with_settings).model == "variable.gguf"
    assert parse_verify(["--model", "x.gguf"], with_settings).model == "x.gguf"
    # As before: an empty variable names no model.
    monkeypatch.setenv("GEMMA_LOCAL_MODEL", "")
    assert parse_verify([], with_settings).model == "file.gguf"


def test_variables_have_the_types_of_their_settings() -> None:
    found = from_environment(
        {
            variable_of("model", "ctx"): "4096",
            variable_of("answer", "think"): "on",
            variable_of("answer", "stop"): '["a", "b"]',
            variable_of("sampling", "temperature"): "0.5",
            variable_of("screen", "mouse"): "off",
            variable_of("screen", "theme"): "12",
            variable_of("model", "threads"): "many",
        }
    )
    assert {name: variable.value for (_, name), variable in found.items()} == {
        "ctx": 4096,
        "think": "on",
        "stop": ["a", "b"],
        "temperature": 0.5,
        "mouse": False,
        "theme": "12",
        "threads": "many",
    }


@pytest.mark.parametrize(
    ("table", "name", "words"),
    [
        ("model", "ctx", '"auto" or a whole number from 16 to 1048576'),
        ("answer", "think", '"off", "on" or a whole number from 1 to 1048576'),
        ("sampling", "top_p", '"auto" or a number above 0 and up to 1'),
        ("sampling", "frequency_penalty", "a number from -2 to 2"),
        ("screen", "mouse", "true or false"),
        ("screen", "theme", "some text"),
        ("keys", "find", 'a key such as "ctrl+x", or a list of keys'),
    ],
)
def test_what_a_setting_may_be_is_said_in_words(table: str, name: str, words: str) -> None:
    assert allowed(table, name) == words


def test_an_answer_obeys_the_settings(command: Command, story: Pair) -> None:
    path = command.home / "XDG_CONFIG_HOME" / "gemma-local" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text(
        f"[model]\nmodel = '{story.target}'\n[answer]\nmax_tokens = 4\n[drafting]\ndraft = 2\n",
        encoding="utf-8",
    )
    assert load_settings(path, {}).answer.max_tokens == 4
    done = command.json("-p", "tell me", *FAST)
    assert done["emitted_tokens"] == 4
    assert done["drafted"] > 0
    assert done["text"].startswith("Once word0")
    assert command.json("-p", "tell me", *FAST, "--max-tokens", "6")["emitted_tokens"] == 6
