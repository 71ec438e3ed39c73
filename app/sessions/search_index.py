"""Finding words in sessions: an FTS5 index of trigrams over folded text.

Trigrams, not words (unicode61): people look for parts of identifiers, paths and compound words,
and Chinese or Japanese has no spaces to find words by. It costs 2.3 bytes a character and 0.6 ms
for a message of 1,000. What is shorter than three characters is looked for by reading all folded
text (10 ms for 5 million characters), as is everything where SQLite lacks FTS5.

What is compared is folded on both sides, see ``folding``.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Final

from gemma_local.app.sessions.database import Database
from gemma_local.app.sessions.folding import fold, unfolded
from gemma_local.app.sessions.titles import one_line
from gemma_local.models.message import Message, Value

INDEXED: Final = 200_000
"""Characters of a message that search looks through: a log of megabytes is rarely looked for by
its end, and would take longer to index than to run."""

_SHORTEST: Final = 3
_AROUND: Final = 48
_TERM: Final = re.compile(r'"([^"]*)"|([^\s"]+)')
_CREATE: Final = (
    "CREATE VIRTUAL TABLE words USING fts5"
    "(text, content='passages', content_rowid='id', tokenize='trigram case_sensitive 1')"
)


class SearchIndex:
    """Keeps the index in step with the table ``passages``.

    It is never needed to read a session. A process that cannot use it notes that it is out of
    date, and the next one that can makes it anew.
    """

    def __init__(self, database: Database) -> None:
        """Raises SessionsUnavailable."""
        self._database = database
        self.usable = _has_trigrams(database)
        if not self.usable:
            return
        found = database.read("SELECT name FROM sqlite_master WHERE name = 'words'")
        if not found or self._is_stale():
            self.rebuild()

    def rebuild(self) -> None:
        """Make the index from the passages. Raises SessionsUnavailable."""
        with self._database.write() as connection:
            if not self.usable:
                self._note_stale(connection)
                return
            connection.execute("DROP TABLE IF EXISTS words")
            connection.execute(_CREATE)
            connection.execute("INSERT INTO words (words) VALUES ('rebuild')")
            connection.execute("DELETE FROM facts WHERE name = 'index'")

    def add(self, connection: sqlite3.Connection, id: int, message: Message) -> None:  # noqa: A002
        """Make the entry ``id`` be found by what is in ``message``."""
        self.remove(connection, [id])
        text = fold("\n".join(searchable(message))[:INDEXED])
        connection.execute("INSERT INTO passages (id, text) VALUES (?, ?)", (id, text))
        if self.usable:
            connection.execute("INSERT INTO words (rowid, text) VALUES (?, ?)", (id, text))
        else:
            self._note_stale(connection)

    def remove(self, connection: sqlite3.Connection, ids: Iterable[int]) -> None:
        """Make entries not be found any more."""
        for id_ in ids:
            passage = connection.execute("SELECT text FROM passages WHERE id = ?", (id_,))
            if (row := passage.fetchone()) is None:
                continue
            if self.usable:
                connection.execute(
                    "INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", (id_, *row)
                )
            else:
                self._note_stale(connection)
            connection.execute("DELETE FROM passages WHERE id = ?", (id_,))

    def purge(self, connection: sqlite3.Connection) -> None:
        """Take the trigrams of removed passages off the disk; until then they are marked only.

        It writes the whole index anew: 4 s for 30 million characters. FTS5's own
        secure-delete would not, but needs SQLite 3.42 and keeps older ones from the file.
        """
        if self.usable:
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")

    def condition(self, terms: Iterable[str]) -> tuple[str, list[str]]:
        """SQL that holds for a row of ``passages`` with all ``terms`` (folded), and its
        parameters."""
        tests, parameters, indexed = [], [], []
        for term in terms:
            if self.usable and len(term) >= _SHORTEST:
                # A string in FTS5's language: whatever is in it is text.
                indexed.append('"' + term.replace('"', '""') + '"')
            else:
                tests.append("instr(passages.text, ?) > 0")
                parameters.append(term)
        if indexed:
            tests.append("passages.id IN (SELECT rowid FROM words WHERE words MATCH ?)")
            parameters.append(" AND ".join(indexed))
        return " AND ".join(tests), parameters

    def _is_stale(self) -> bool:
        return bool(self._database.read("SELECT 1 FROM facts WHERE name = 'index'"))

    def _note_stale(self, connection: sqlite3.Connection) -> None:
        connection.execute("INSERT OR REPLACE INTO facts (name, value) VALUES ('index', 'stale')")


def terms_of(query: str) -> list[str]:
    """What a person looks for, folded: words, and phrases in double quotes."""
    found = (fold(phrase or word) for phrase, word in _TERM.findall(query.replace("\0", " ")))
    return list(dict.fromkeys(term for term in found if term.strip()))


def searchable(message: Message) -> Iterator[str]:
    """The texts of a message by which it is found. Thoughts are not among them: they are folded
    away where a message is shown, and a hit there would seem to be none."""
    if message.result is None:
        yield message.text
    else:
        yield from _texts(dict(message.result))
    for call in message.calls:
        yield call.name
        yield from _texts(dict(call.arguments))


def snippet(message: Message, terms: Iterable[str]) -> str:
    """One line of ``message`` around the first place where one of ``terms`` is."""
    text = "\n".join(searchable(message))
    folded = fold(text)
    places = [(at, len(term)) for term in terms if (at := folded.find(term)) >= 0]
    at, length = min(places, default=(0, 0))
    if len(folded) != len(text):
        at = unfolded(text, at)
    start, end = max(0, at - _AROUND), at + length + _AROUND
    before, after = "…" if start else "", "…" if end < len(text) else ""
    return f"{before}{one_line(text[start:end])}{after}"


def _texts(value: Value) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for key, item in value.items():
                yield key
                yield from _texts(item)
        case list():
            for item in value:
                yield from _texts(item)
        case bool() | None:
            pass
        case _:
            yield str(value)


def _has_trigrams(database: Database) -> bool:
    modules = database.read("SELECT 1 FROM pragma_module_list WHERE name = 'fts5'")
    return bool(modules) and sqlite3.sqlite_version_info >= (3, 34)
