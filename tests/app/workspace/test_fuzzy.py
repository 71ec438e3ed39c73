from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.workspace.fuzzy import Candidates, best_match

PARTS = st.text(st.sampled_from("abcABCxyz019_-. éßİ"), min_size=1, max_size=8)
PATHS = st.lists(PARTS, min_size=1, max_size=4).map("/".join)


@given(PATHS, st.data())
def test_every_subsequence_is_found_where_it_stands(path: str, data: st.DataObject) -> None:
    places = data.draw(st.sets(st.integers(0, len(path) - 1), min_size=1))
    query = "".join(path[place] for place in sorted(places))
    match = best_match(query, path)
    assert match is not None
    assert "".join(path[place] for place in match.positions).lower() == query.lower()
    assert list(match.positions) == sorted(set(match.positions))


@given(st.lists(PATHS, unique=True, max_size=30), st.data())
def test_a_path_finds_itself_first(paths: list[str], data: st.DataObject) -> None:
    candidates = Candidates(paths)
    for path in paths:
        best = candidates.best(path)
        # Longer ones contain it, too, and so do those that only differ in upper and lower case.
        equal = {match.text for match in best if len(match.text) == len(path)}
        assert path in equal
        assert len(best[0].text) == len(path)


@given(st.lists(PATHS, max_size=30), PARTS)
def test_nothing_is_found_that_has_not_all_characters(paths: list[str], query: str) -> None:
    found = [match.text for match in Candidates(paths).best(query, 1000)]
    assert sorted(found) == sorted(path for path in paths if best_match(query, path) is not None)


@pytest.mark.parametrize(
    ("query", "better", "worse"),
    [
        ("chat", "app/chat.py", "app/chat_view.py"),
        ("chat", "app/chat.py", "chat/app.py"),
        ("cv", "app/chat_view.py", "app/recover.py"),
        ("cv", "src/ChatView.ts", "src/recover.ts"),
        ("view", "app/chat_view.py", "app/preview.py"),
        ("appchat", "app/chat.py", "app/models/cache_at.py"),
        ("a/c", "app/chat.py", "data/archive.py"),
        ("test", "tests/a.py", "latest.py"),
        ("read", "README.md", "app/thread.py"),
    ],
)
def test_what_was_meant_comes_first(query: str, better: str, worse: str) -> None:
    for paths in ([better, worse], [worse, better]):
        assert Candidates(paths).best(query)[0].text == better


def test_an_upper_case_letter_only_finds_itself() -> None:
    candidates = Candidates(["readme.md", "README.md"])
    assert {match.text for match in candidates.best("readme")} == {"readme.md", "README.md"}
    assert [match.text for match in candidates.best("README")] == ["README.md"]


def test_many_paths_keep_the_best_ones() -> None:
    noise = [f"lib/part{number}/composition_{number}.py" for number in range(20_000)]
    paths = [*noise, "app/tui/composer.py", "docs/composer.md"]
    best = [match.text for match in Candidates(paths).best("compo")]
    assert set(best[:2]) == {"app/tui/composer.py", "docs/composer.md"}
    assert Candidates(paths).best("")[0].text == noise[0]
    # Scattered, behind thousands that hold it in one piece.
    assert Candidates([*noise, "cli/main.py"]).best("climain")[0].text == "cli/main.py"
