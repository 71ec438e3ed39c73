"""The bill of materials, of what is installed beside the tests."""

from __future__ import annotations

import json
import tomllib
from importlib.metadata import version

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.conftest import EPOCH, ROOT, Script


@pytest.fixture(scope="module")
def text(script: Script) -> str:
    return str(script("sbom").sbom(EPOCH))


def test_it_is_valid_cyclonedx(text: str) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None


def test_it_is_the_same_each_time(script: Script, text: str) -> None:
    assert script("sbom").sbom(EPOCH) == text


def test_it_names_what_the_project_needs_with_the_versions_that_are_here(text: str) -> None:
    bill = json.loads(text)
    found = {canonicalize_name(one["name"]): one["version"] for one in bill["components"]}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {canonicalize_name(Requirement(line).name) for line in project["dependencies"]}
    # The metadata beside the tests may be older than the file.
    assert len(wanted & found.keys()) >= len(wanted) - 1
    assert {name: version(name) for name in found} == found
    # What only the tests need is no part of the program.
    assert not {"pytest", "mypy", "hypothesis"} & found.keys()
    assert bill["metadata"]["component"]["type"] == "application"


def test_it_says_what_needs_what(text: str) -> None:
    needs = {
        one["ref"].partition("==")[0]: {ref.partition("==")[0] for ref in one.get("dependsOn", ())}
        for one in json.loads(text)["dependencies"]
    }
    assert {"llama-cpp-python", "textual", "numpy"} <= needs["gemma-local"]
    assert "markupsafe" in needs["jinja2"]


def test_every_part_says_its_licence(text: str) -> None:
    assert [one["name"] for one in json.loads(text)["components"] if not one.get("licenses")] == []
