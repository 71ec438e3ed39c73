"""Files that follow from the sources: they are up to date, and what reads them can read them."""

from __future__ import annotations

import configparser
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from gemma_local.app.arguments import COMMANDS
from gemma_local.app.command_tree import Command, command_tree
from gemma_local.engine.hardware import wheels
from gemma_local.engine.hardware.machine import Platform
from tests.packaging.conftest import ROOT, Script

SHARE = ROOT / "packaging" / "share"
MAN_PAGE = SHARE / "man" / "man1" / "gemma-local.1"


def test_they_are_up_to_date(script: Script) -> None:
    assert script("generate").outdated() == [], "run `python packaging/generate.py`"


def test_a_file_that_is_not_is_named(script: Script, tmp_path: Path) -> None:
    generate = script("generate")
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "9.9"\n')
    texts = generate.generated(tmp_path)
    assert sorted(generate.outdated(tmp_path)) == sorted(texts)
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert generate.outdated(tmp_path) == []
    page = tmp_path / "packaging/share/man/man1/gemma-local.1"
    assert "9.9" in page.read_text(encoding="utf-8").splitlines()[0]
    page.write_text("", encoding="utf-8")
    assert generate.outdated(tmp_path) == ["packaging/share/man/man1/gemma-local.1"]


def test_every_command_and_option_is_in_the_man_page() -> None:
    text = MAN_PAGE.read_text(encoding="utf-8").replace("\\-", "-")
    tree = command_tree()
    assert {command.name for command in tree.commands} == set(COMMANDS)
    for command in _all(tree):
        assert command.parser.prog in text
        for action in command.parser._actions:
            names = [name for name in action.option_strings if name not in ("-h", "--help")]
            assert all(f"\\fB{name}\\fR" in text for name in names)


@pytest.mark.skipif(shutil.which("groff") is None, reason="no groff")
def test_roff_has_nothing_to_say_about_the_man_page() -> None:
    done = subprocess.run(
        ["groff", "-man", "-Tutf8", "-ww", "-z", str(MAN_PAGE)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_text_that_looks_like_a_macro_is_none(script: Script) -> None:
    escaped = script("man_page")._escaped
    assert escaped(".so /etc/passwd") == "\\&.so /etc/passwd"
    assert escaped("'x") == "\\&'x"
    assert escaped("a\\b --c") == "a\\eb \\-\\-c"


def test_what_a_shell_is_to_understand_stays_ascii(script: Script) -> None:
    assert script("man_page")._escaped("`~/a^b`") == "\\(ga\\(ti/a\\(hab\\(ga"
    assert not set(MAN_PAGE.read_text(encoding="utf-8")) & set("`~^")


def test_the_desktop_entry_has_what_the_specification_wants() -> None:
    parser = configparser.ConfigParser(interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # its keys have capitals
    parser.read(SHARE / "applications" / "gemma-local.desktop", encoding="utf-8")
    entry = parser["Desktop Entry"]
    assert (entry["Type"], entry["Exec"], entry["Terminal"]) == (
        "Application",
        "gemma-local",
        "true",
    )
    icon = SHARE / "icons" / "hicolor" / "scalable" / "apps" / f"{entry['Icon']}.svg"
    root = ElementTree.parse(icon).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("width") == root.get("height")


def test_the_guide_names_the_release_and_the_builds_that_doctor_advises() -> None:
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert f"llama-cpp-python=={wheels.VERSION}" in text
    pc = Platform("Linux", "a distribution", "6.1", "x86_64")
    for cuda in ("11.8", "12.5", "13.0", "13.2"):
        assert f"`cu{cuda.replace('.', '')}`" in text
        assert f"/cu{cuda.replace('.', '')}" in wheels.cuda(pc, "2.39", cuda, "7.5").pip
    for advice, name in (
        (wheels.vulkan(pc, "2.39"), "vulkan"),
        (wheels.rocm(pc, "2.39"), "rocm72"),
    ):
        assert f"`{name}`" in text and f"/{name} " in advice.pip


def _all(tree: Command) -> list[Command]:
    return [tree, *(below for command in tree.commands for below in _all(command))]
