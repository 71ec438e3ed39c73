"""``gemma-local config``: what it shows, where values come from, and the file that it writes."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.app import cli, folders
from gemma_local.app.config_command.arguments import parse_config
from gemma_local.app.config_command.command import run
from gemma_local.app.config_command.options import InitOptions, SchemaOptions, ShowOptions
from gemma_local.app.config_command.reference import reference
from gemma_local.app.config_command.schema import schema
from gemma_local.app.config_command.sources import sourced
from gemma_local.app.config_command.template import template
from gemma_local.app.errors import UsageError
from gemma_local.app.settings import Settings
from gemma_local.app.settings_file import gather, load_settings, remember
from gemma_local.app.settings_words import model_of
from tests.app.running import Command

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

SWITCHED_ON = "".join(line.removeprefix("# ") for line in template().splitlines(True)[3:])
"""The file that is written, with everything in it switched on."""


def write(text: str) -> Path:
    path = folders.settings_path()
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def validator_of(schema: dict[str, Any]) -> Draft202012Validator:
    # Not at the top: together with what it finds installed it takes seconds to import, and each of
    # those who run tests imports all of them.
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema)


def test_what_is_written_changes_nothing(home: Path) -> None:
    assert run(InitOptions()) == 0
    assert load_settings(environ={}) == Settings()
    assert all(not table for table in tomllib.loads(template()).values())


def test_what_is_written_has_every_setting_with_its_default() -> None:
    values = tomllib.loads(SWITCHED_ON)
    assert values.pop("keys")
    assert {
        (table, name): value for table, found in values.items() for name, value in found.items()
    } == {
        (table, name): getattr(getattr(Settings(), table), name)
        for table in Settings.model_fields
        if (model := model_of(table))
        for name in model.model_fields
    }


def test_a_file_that_is_there_is_not_written_over(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write("[screen]\ntint = true\n")
    assert cli.main(["config", "init"]) == 2
    assert "is there already" in capsys.readouterr().err
    assert path.read_text() == "[screen]\ntint = true\n"
    assert cli.main(["config", "init", "--print"]) == 0
    assert capsys.readouterr().out == template()


def test_what_is_remembered_later_takes_the_place_of_its_comment(home: Path) -> None:
    run(InitOptions())
    before = folders.settings_path().read_text(encoding="utf-8")
    remember("screen.theme", "gemma-light")
    remember("agent.rules", ["run: pytest *"])
    after = folders.settings_path().read_text(encoding="utf-8")
    assert after == before.replace('# theme = "gemma-dark"', 'theme = "gemma-light"').replace(
        "# rules = []", 'rules = ["run: pytest *"]'
    )


def test_a_comment_with_the_name_of_a_setting_that_is_there_is_left_alone(home: Path) -> None:
    write('[screen]\n# theme = "a"\ntheme = "b"  # mine\n[keys]\n# theme = "c"\n')
    remember("screen.theme", "d")
    text = folders.settings_path().read_text(encoding="utf-8")
    assert text == '[screen]\n# theme = "a"\ntheme = "d"  # mine\n[keys]\n# theme = "c"\n'


def test_what_only_looks_like_a_comment_is_none(home: Path) -> None:
    write('[answer]\nsystem = """\n[screen]\n# theme = "a"\n"""\n[screen]\n')
    remember("screen.theme", "d")
    loaded = load_settings(environ={})
    assert (loaded.screen.theme, loaded.answer.system) == ("d", '[screen]\n# theme = "a"\n')


def test_each_value_says_where_it_comes_from(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write('[sampling]\ntemperature = 0.5\n\n[screen]\ncolumns = 80\n[keys]\nfind = "f9"\n')
    monkeypatch.setenv("GEMMA_LOCAL_SCREEN__COLUMNS", "90")
    monkeypatch.setenv("GEMMA_LOCAL_MODEL", "E4B")
    assert cli.main(["config", "show", "--ctx", "8192", "--think", "on", "--draft", "auto"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"# {path}\n\n[model]\n")
    lines = dict(line.split("  # ", 1) for line in out.splitlines() if "  # " in line)
    origins = {text.rstrip(): origin.strip() for text, origin in lines.items()}
    assert origins['model = "E4B"'] == "environment, GEMMA_LOCAL_MODEL"
    assert origins["ctx = 8192"] == "command line"
    assert origins['think = "on"'] == "command line"
    assert origins['draft = "auto"'] == "command line"
    assert origins["temperature = 0.5"] == "file, line 2"
    assert origins["columns = 90"] == "environment, GEMMA_LOCAL_SCREEN__COLUMNS"
    assert origins['find = ["f9"]'] == "file, line 7"
    assert origins["mouse = true"] == "default"
    # It is TOML that means the same.
    assert tomllib.loads(out)["screen"]["columns"] == 90


def test_only_what_was_changed_can_be_shown(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write("[screen]\ntint = true\n")
    assert cli.main(["config", "show", "--changed", "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["settings"] == {"screen.tint": {"value": True, "from": "file", "line": 2}}


def test_without_a_file_it_says_how_to_get_one(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["config"]) == 0
    assert "not there; `gemma-local config init` writes it" in capsys.readouterr().out


def test_a_mistake_in_the_file_is_said_with_its_place(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write("[model]\ntemprature = 1\n")
    for words in (["config", "show"], ["-p", "hi"]):
        assert cli.main(words) == 2
        assert f"{path}, line 2, column 1: there is no setting" in capsys.readouterr().err


def test_doctor_names_it_and_looks_at_the_rest(command: Command) -> None:
    path = command.home / "XDG_CONFIG_HOME" / "gemma-local" / "config.toml"
    path.parent.mkdir(parents=True)
    path.write_text("[screen]\nmouse = 1\n", encoding="utf-8")
    found = json.loads(command.run("doctor", "--json").stdout)
    sentence = f"{path}, line 2, column 1: mouse must be true or false, not 1"
    assert any(sentence in trouble["sentence"] for trouble in found["troubles"])
    assert found["machine"]["cpu"]


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], ShowOptions()),
        (["show", "--json"], ShowOptions(json=True)),
        (["show", "--seed", "7", "--changed"], ShowOptions(changed=True, given={"seed": 7})),
        (["init"], InitOptions()),
        (["init", "--print"], InitOptions(print=True)),
        (["schema"], SchemaOptions()),
    ],
)
def test_its_grammar(words: list[str], options: object) -> None:
    assert parse_config(words) == options


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["shwo"], "there is no command 'shwo'"),
        (["init", "--force"], "there is no option '--force'"),
        (["schema", "x"], "there is no place for 'x'"),
        (["show", "--ctx", "3"], "from 16"),
        (["show", "--nonsense"], "there is no option '--nonsense'"),
    ],
)
def test_what_it_refuses(words: list[str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        parse_config(words)


def test_the_schema_takes_what_is_written_and_refuses_what_the_program_refuses() -> None:
    validator = validator_of(schema())
    validator.check_schema(schema())
    assert validator.is_valid(tomllib.loads(SWITCHED_ON))
    assert validator.is_valid({"keys": {"find": ["ctrl+x", "f9"]}, "model": {"ctx": 4096}})
    refused: tuple[dict[str, object], ...] = (
        {"scren": {}},
        {"screen": {"them": "x"}},
        {"screen": {"columns": 12}},
        {"model": {"ctx": "many"}},
        {"sampling": {"top_p": 0}},
        {"keys": {"find": []}},
    )
    assert [wrong for wrong in refused if validator.is_valid(wrong)] == []


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_schema_and_program_agree(data: st.DataObject) -> None:
    table = data.draw(st.sampled_from([name for name in Settings.model_fields if name != "keys"]))
    model = model_of(table)
    assert model is not None
    name = data.draw(st.sampled_from(list(model.model_fields)))
    value = data.draw(
        st.one_of(
            st.sampled_from(["auto", "on", "off", "ask", "x", ["a"], []]),
            st.integers(-1, 1 << 21),
            st.floats(-3, 11, allow_nan=False),
            st.booleans(),
        )
    )
    values = {table: {name: value}}
    try:
        Settings.model_validate(values)
        is_right = True
    except ValueError:
        is_right = False
    # JSON knows no whole numbers: 4.0 is one.
    if isinstance(value, float) and value.is_integer():
        return
    assert validator_of(schema()).is_valid(values) == is_right


def test_the_reference_has_every_setting() -> None:
    text = reference()
    for table in Settings.model_fields:
        assert f"## [{table}]" in text
        model = model_of(table)
        for name, field in (model.model_fields if model is not None else {}).items():
            assert f"| `{name}` |" in text
            assert field.description, f"{table}.{name} says nothing of itself"


def test_every_line_of_the_file_is_found(home: Path) -> None:
    path = write(SWITCHED_ON)
    lines = path.read_text(encoding="utf-8").splitlines()
    for one in sourced(gather(environ={}), {}):
        assert one.source == "file"
        assert lines[one.line - 1].startswith(one.name)


def test_a_variable_of_somebody_else_is_left_alone(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in os.environ if name.startswith("GEMMA_LOCAL_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GEMMA_LOCAL_TEST_KILLS", "3")
    assert gather().variables == {}
