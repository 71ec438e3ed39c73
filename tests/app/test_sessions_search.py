"""Words are found where they were said, whatever the person types."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings

from gemma_local.app.sessions import search_index
from gemma_local.app.sessions.folding import fold
from gemma_local.app.sessions.search_index import searchable, snippet, terms_of
from gemma_local.app.sessions.store import SessionStore
from gemma_local.models.message import Message, ToolCall
from tests.app.session_messages import messages, texts

HERE = Path("/srv/here")
SAID = [
    Message("user", "Wie groß ist die Universität von Österreich? U\u0308bung macht den Meister."),
    Message("assistant", "東京都に住んでいます。", thought="a secret thought"),
    Message("assistant", "see", calls=(ToolCall("read_file", {"path": "src/parse_args.py"}),)),
    Message("tool", tool="read_file", result={"lines": ["def main(argv):"], "count": 4711}),
    Message("user", 'She said "NEAR(a b)" AND OR NOT * ^ {x}: (y) - foo\'s 100% a_b \\ \0 end'),
    Message("tool", "plain text of a tool", tool="run"),
]


@pytest.fixture(scope="module", params=[True, False], ids=["fts5", "no fts5"])
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SessionStore]:
    with pytest.MonkeyPatch.context() as patch:
        if not request.param:
            # What a SQLite without FTS5 says; this one has it.
            patch.setattr(search_index, "_has_trigrams", lambda _: False)
        store = SessionStore.open(tmp_path_factory.mktemp("s") / "s.sqlite3")
    with store, store.create(HERE, "gemma", "") as session:
        for message in SAID:
            session.append(message)
        yield store


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("universität", [1]),
        ("UNIVERSITAT", [1]),
        ("osterreich gross", [1]),
        ("Übung", [1]),
        ("ubung", [1]),
        ("meister universität", [1]),
        ("Österreich 東京", []),
        ("東京", [2]),
        ("住んで", [2]),
        ("京", [2]),
        ("secret", []),
        ("parse_args", [3]),
        ("args.py", [3]),
        ("read_file", [3]),
        ("MAIN(", [4]),
        ("4711", [4]),
        ('"said \\"', []),
        ('"near(a b)"', [5]),
        ('"b) near"', []),
        ("AND", [5]),
        ("foo's", [5]),
        ("100%", [5]),
        ("a_b", [5]),
        ("*", [5]),
        ("^ { - :", [5]),
        ("\\", [5]),
        ("\0 end", [5]),
        ("of a tool", [6]),
        ("nowhere", []),
        ("", []),
        ('"', []),
        (" \n ", []),
    ],
)
def test_words_are_found(store: SessionStore, query: str, numbers: list[int]) -> None:
    assert [hit.number for hit in store.search(query)] == numbers


@settings(deadline=None)
@given(texts)
def test_no_query_is_an_error(store: SessionStore, query: str) -> None:
    store.search(query)
    store.search(f'"{query}" {query}*')


def test_a_hit_says_where_it_is(store: SessionStore) -> None:
    (hit,) = store.search("den meister")
    assert (hit.session.id, hit.number, hit.role) == (store.list()[0].id, 1, "user")
    assert "Österreich" in hit.snippet and "Meister" in hit.snippet


def test_folders_limits_and_titles(tmp_path: Path) -> None:
    with SessionStore.open(tmp_path / "s.sqlite3") as store:
        ids = []
        for folder in (HERE, HERE, Path("/elsewhere")):
            with store.create(folder, "gemma", "") as session:
                for number in range(3):
                    session.append(Message("user", f"needle {number}"))
                ids.append(session.id)
        assert [hit.session.id for hit in store.search("needle", limit=4)] == [
            *[ids[2]] * 3,
            ids[1],
        ]
        assert {hit.session.id for hit in store.search("needle", HERE)} == set(ids[:2])
        store.rename(ids[0], "Größer")
        (hit,) = store.search("grosser")
        assert (hit.session.id, hit.number, hit.snippet) == (ids[0], 0, "Größer")


def test_the_index_heals_after_a_process_that_could_not_use_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.sqlite3"

    def add(text: str) -> str:
        with SessionStore.open(path) as store, store.create(HERE, "gemma", "") as session:
            session.append(Message("user", text))
            return session.id

    gone, _ = add("first words"), add("second words")
    with monkeypatch.context() as patch:
        patch.setattr(search_index, "_has_trigrams", lambda _: False)
        add("third words")
        with SessionStore.open(path) as store:
            store.delete(gone)
            assert len(store.search("words")) == 2
    with SessionStore.open(path) as store:
        assert [hit.snippet for hit in store.search("words")] == ["third words", "second words"]
        assert not store.search("first")


@settings(deadline=None)
@given(messages)
def test_any_message_is_found_by_what_it_says(store: SessionStore, message: Message) -> None:
    terms = [term for text in searchable(message) for term in terms_of(text)]
    folder = Path("/any")
    with store.create(folder, "gemma", "") as session:
        session.append(message)
        for term in [*terms[:3], *terms[-3:]]:
            found = store.search(f'"{term}"', folder)
            assert [(hit.session.id, hit.number) for hit in found] == [(session.id, 1)]
    store.delete(session.id)


def test_a_snippet_is_around_the_word_also_where_folding_changes_lengths() -> None:
    long = "ﬁ" * 3000 + " ß needle Straße " + "x" * 3000
    found = snippet(Message("user", long), ["strasse"])
    assert "needle Straße" in found and found.startswith("…") and found.endswith("…")
    assert snippet(Message("user", "a\n\x1b[31mb\u202e"), ["b"]) == "a [31mb"


@settings(deadline=None)
@given(texts, texts)
def test_folding_is_character_by_character(one: str, two: str) -> None:
    assert fold(one + two) == fold(one) + fold(two)
    assert fold(one.upper() if one.isascii() else one) == fold(one)


def test_phrases_words_and_repetitions() -> None:
    assert terms_of('Foo "Two  Words" bar foo"baz') == ["foo", "two  words", "bar", "baz"]
