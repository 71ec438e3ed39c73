"""What GitHub shows to whoever opens an issue."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.packaging.conftest import ROOT

FORMS = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_links_are_whole_addresses(form: Path) -> None:
    text = form.read_text(encoding="utf-8")
    for address in re.findall(r"^\s*(?:- )?url:\s*(.*)$", text, re.MULTILINE):
        assert re.fullmatch(r"https://[\w.-]+/\S*", address.strip("'\"")), address


def test_security_problems_have_a_way_of_their_own() -> None:
    # GitHub links to it by itself, above the forms.
    assert (ROOT / "SECURITY.md").is_file()
