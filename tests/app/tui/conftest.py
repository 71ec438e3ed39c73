"""What makes the hundreds of apps that these tests run cheap."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.css.types import CSSLocation

from gemma_local.app.tui import garbage


@pytest.fixture(scope="session", autouse=True)
def parsed_once() -> Iterator[None]:
    """Textual parses the rules of all widgets anew for each app and each theme of it: a fifth of
    what it takes to start one. The same text with the same variables gives the same rules, which
    are only ever read."""
    parse = Stylesheet._parse_rules
    known: dict[object, list[RuleSet]] = {}

    def parsed(
        stylesheet: Stylesheet,
        css: str,
        read_from: CSSLocation,
        is_default_rules: bool = False,
        tie_breaker: int = 0,
        scope: str = "",
    ) -> list[RuleSet]:
        origin = (read_from, is_default_rules, tie_breaker, scope)
        text = (css, *stylesheet._variables.items(), *origin)
        if text not in known:
            known[text] = parse(stylesheet, css, *origin)
        return known[text]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parsed)
        yield


@pytest.fixture(scope="session", autouse=True)
def garbage_as_in_the_app() -> Iterator[None]:
    """Look for garbage as seldom as the app does, and not among the modules of pytest and Textual,
    which stay to the end."""
    before = gc.get_threshold()
    garbage.begin()
    yield
    gc.set_threshold(*before)
    gc.unfreeze()
