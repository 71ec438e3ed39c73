from __future__ import annotations

import stat
import sys
import tomllib
from pathlib import Path

import pytest
import tomlkit
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemma_local.app.errors import BadSettings
from gemma_local.app.settings import Settings
from gemma_local.app.settings_file import load_settings, remember


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "somewhere" / "config.toml"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def sentence_of(path: Path) -> str:
    """What is wrong with the file, "" if nothing is; anything but BadSettings goes through."""
    try:
        load_settings(path, {})
    except BadSettings as error:
        return str(error)
    return ""


def refusal(path: Path, text: str, environ: dict[str, str] | None = None) -> str:
    write(path, text)
    with pytest.raises(BadSettings) as caught:
        load_settings(path, environ or {})
    return str(caught.value).replace(str(path), "FILE")


def test_no_file_is_the_defaults(path: Path) -> None:
    assert load_settings(path, {}) == Settings()
    assert not path.exists()


def test_the_file_goes_over_the_defaults_and_the_environment_over_the_file(path: Path) -> None:
    write(path, '[screen]\ntheme = "gemma-light"\ncolumns = 80\n[keys]\nfind = "ctrl+x, f9"\n')
    environ = {
        "GEMMA_LOCAL_SCREEN__COLUMNS": "90",
        "GEMMA_LOCAL_SCREEN__MOUSE": "off",
        "GEMMA_LOCAL_KEYS__STATS": "f8",
        "GEMMA_LOCAL_MODEL": "a file, and no setting",
        "OTHER__THING": "1",
    }
    loaded = load_settings(path, environ)
    assert loaded.screen.theme == "gemma-light"
    assert loaded.screen.columns == 90
    assert loaded.screen.mouse is False
    assert loaded.keys == {"find": ["ctrl+x", "f9"], "stats": ["f8"]}


def test_a_comma_can_be_a_key(path: Path) -> None:
    write(path, '[keys]\nfind = ","\nstats = ["f2", ","]')
    assert load_settings(path, {}).keys == {"find": [","], "stats": ["f2", ","]}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            '[screen]\n\n  them = "x"\n',
            "FILE, line 3, column 3: there is no setting 'them' in [screen]; did you mean theme?",
        ),
        (
            "[notify]\nzzz = 1\n",
            (
                "FILE, line 2, column 1: there is no setting 'zzz' in [notify]; "
                "give when, after or how"
            ),
        ),
        ("[scren]\n", "FILE, line 1, column 2: there is no table [scren]; did you mean screen?"),
        (
            "[screen]\nmouse = 1\n",
            "FILE, line 2, column 1: mouse must be true or false, not 1",
        ),
        (
            "[screen]\ncolumns = 12\n",
            "FILE, line 2, column 1: columns must be a whole number from 40 to 400, not 12",
        ),
        (
            '[agent]\nmode = "yolo"\n',
            'FILE, line 2, column 1: mode must be "plan", "ask", "edits" or "auto", not \'yolo\'',
        ),
        (
            "# here\nscreen = 3\n",
            (
                "FILE, line 2, column 1: screen is a table; write it as [screen], "
                "with its settings below"
            ),
        ),
        (
            "keys = 3\n",
            "FILE, line 1, column 1: keys is a table; write it as [keys], with its settings below",
        ),
        (
            '[keys]\nfind = [\n  "ctrl+x",\n  3,\n]\n',
            (
                'FILE, line 2, column 1: find must be a key such as "ctrl+x", or a list of keys, '
                "not ['ctrl+x', 3]"
            ),
        ),
        (
            "[keys]\nfind = []\n",
            (
                'FILE, line 2, column 1: find must be a key such as "ctrl+x", or a list of keys, '
                "not []"
            ),
        ),
        (
            '[screen]\ntheme = "a" "b"\n',
            (
                "FILE is not valid TOML: Expected newline or end of document after a statement "
                "(at line 2, column 13)"
            ),
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_place(path: Path, text: str, sentence: str) -> None:
    assert refusal(path, text) == sentence


def test_a_wrong_variable_is_said(path: Path) -> None:
    assert refusal(path, "", {"GEMMA_LOCAL_SCREEN__COLUMNS": "wide"}) == (
        "GEMMA_LOCAL_SCREEN__COLUMNS: columns must be a whole number from 40 to 400, not 'wide'"
    )
    assert "did you mean theme?" in refusal(path, "", {"GEMMA_LOCAL_SCREEN__THEM": "x"})


def test_a_file_that_is_no_text_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(BadSettings, match="not text in UTF-8"):
        load_settings(path, {})
    with pytest.raises(BadSettings, match="not text in UTF-8"):
        remember("screen.theme", "x", path)
    assert path.read_bytes() == b"\xff\xfe\x00"


def test_a_folder_in_its_place_is_refused(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(BadSettings, match="cannot be read"):
        load_settings(path, {})


def test_what_is_remembered_leaves_the_rest_as_it_was(path: Path) -> None:
    before = (
        "# mine\n[screen] # look\ntheme   = 'gemma-dark'  # the dark one\ncolumns = 80\n\n"
        "[notify]\nafter = 3\n"
    )
    write(path, before)
    remember("screen.theme", "gemma-light", path)
    after = path.read_text(encoding="utf-8")
    assert after.replace('"gemma-light"', "'gemma-dark'") == before
    remember("agent.mode", "plan", path)
    assert load_settings(path, {}).agent.mode == "plan"
    assert path.read_text(encoding="utf-8").startswith(after)


def test_the_first_thing_that_is_remembered_makes_the_file(path: Path) -> None:
    remember("screen.tint", True, path)
    assert load_settings(path, {}).screen.tint is True
    if sys.platform != "win32":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize(("key", "value"), [("screen.tint", "yes"), ("screen.tin", True)])
def test_nonsense_is_not_remembered(path: Path, key: str, value: object) -> None:
    write(path, "[screen]\ntint = false\n")
    with pytest.raises(BadSettings):
        remember(key, value, path)
    assert path.read_text(encoding="utf-8") == "[screen]\ntint = false\n"


@pytest.mark.parametrize(
    "text", ['screen.theme = "x"\n', 'screen = { theme = "x" }\n', '["screen"]\n"theme"="x"\n']
)
def test_it_is_remembered_however_the_file_is_written(path: Path, text: str) -> None:
    write(path, text)
    remember("screen.theme", "y", path)
    remember("screen.tint", True, path)
    loaded = load_settings(path, {}).screen
    assert (loaded.theme, loaded.tint) == ("y", True)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_stays_a_link(path: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text("[screen]\n", encoding="utf-8")
    path.parent.mkdir()
    path.symlink_to(real)
    remember("screen.tint", True, path)
    assert path.is_symlink()
    assert "tint = true" in real.read_text(encoding="utf-8")


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(
    lambda text: bool(text.strip())
)
valid = st.fixed_dictionaries(
    {},
    optional={
        "screen": st.fixed_dictionaries(
            {},
            optional={
                "theme": words,
                "glyphs": st.sampled_from(["auto", "unicode", "ascii"]),
                "mouse": st.booleans(),
                "columns": st.integers(40, 400),
            },
        ),
        "notify": st.fixed_dictionaries(
            {},
            optional={
                "when": st.sampled_from(["unfocused", "always", "never"]),
                "after": st.integers(0, 86400),
            },
        ),
        "keys": st.dictionaries(words, st.lists(words, min_size=1)),
    },
)
scalars = st.one_of(st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(), words)
names = st.sampled_from(["screen", "keys", "theme", "mouse", "columns", "after", "mode"]) | words
anything = st.dictionaries(
    names,
    st.recursive(
        scalars,
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=3),
        max_leaves=4,
    ),
    max_size=3,
)
quick = settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


@quick
@given(valid)
def test_whatever_is_right_comes_back(path: Path, values: dict[str, object]) -> None:
    write(path, tomlkit.dumps(values))
    loaded = load_settings(path, {})
    assert loaded == Settings.model_validate(values)
    remember("screen.columns", 77, path)
    assert load_settings(path, {}).screen.columns == 77
    changed = tomllib.loads(path.read_text(encoding="utf-8"))
    changed["screen"].pop("columns")
    expected = {table: dict(entries) for table, entries in values.items()}  # type: ignore[call-overload]
    expected.setdefault("screen", {}).pop("columns", None)
    assert changed == expected


@quick
@given(anything)
def test_whatever_is_wrong_is_a_sentence(path: Path, values: dict[str, object]) -> None:
    write(path, tomlkit.dumps(values))
    sentence = sentence_of(path)
    assert not sentence or sentence.startswith(str(path))
    assert "pydantic" not in sentence


@quick
@given(st.binary(max_size=200) | st.text(st.characters(exclude_categories=["Cs"])).map(str.encode))
def test_whatever_lies_there_is_a_sentence(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    sentence = sentence_of(path)
    assert not sentence or str(path) in sentence
