"""Any message comes back from the disk, and from an export, as it was."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.app.sessions.entry import Entry, SessionInfo
from gemma_local.app.sessions.errors import BadExport
from gemma_local.app.sessions.export_html import as_html
from gemma_local.app.sessions.export_json import as_json, read_json
from gemma_local.app.sessions.export_markdown import as_markdown
from gemma_local.app.sessions.packing import message_of, pack, plain_message, unpack
from gemma_local.app.sessions.store import SessionStore
from gemma_local.models.message import Message, Spoken, ToolCall
from tests.app.session_messages import arguments, messages, texts

times = st.datetimes(timezones=st.just(UTC))
entries = st.builds(
    Entry,
    message=messages,
    number=st.just(1),
    at=times,
    kind=st.sampled_from(["message", "summary"]),
    state=st.sampled_from(["complete", "stopped"]),
    finish=st.sampled_from(["", "stop", "length"]),
    report=arguments,
    tokens=st.none() | st.integers(0, 1 << 40),
    stand_in=st.none() | messages,
    dropped=st.booleans(),
    info=arguments.map(lambda info: {k: v for k, v in info.items() if k != "unanswered"}),
)
INFO = SessionInfo(
    id="0123abcd",
    title="A title",
    folder=Path("/home/\udcff"),
    model="gemma",
    tokenizer="vocabulary",
    created=datetime(2026, 1, 2, 3, 4, 5, 678, UTC),
    updated=datetime(2026, 1, 3, tzinfo=UTC),
    settings={"system": "\udc80"},
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SessionStore]:
    with SessionStore.open(tmp_path_factory.mktemp("sessions") / "s.sqlite3") as store:
        yield store


@settings(deadline=None)
@given(st.lists(entries, min_size=1, max_size=3))
def test_every_entry_comes_back_from_the_disk(store: SessionStore, said: list[Entry]) -> None:
    info = store.adopt(INFO, said)
    found = [replace(entry, info=_own(entry)) for entry in store.entries(info.id)]
    assert found == [replace(entry, number=n) for n, entry in enumerate(said, start=1)]
    assert (info.created, info.updated) == (INFO.created, INFO.updated)
    assert (info.folder, info.settings) == (INFO.folder, INFO.settings)
    store.delete(info.id)


@settings(deadline=None)
@given(st.lists(entries, max_size=3), texts)
def test_every_session_comes_back_from_json(said: list[Entry], title: str) -> None:
    said = [replace(entry, number=n) for n, entry in enumerate(said, start=1)]
    info = replace(INFO, title=title, messages=sum(entry.kind == "message" for entry in said))
    text = as_json(info, said)
    # Whatever was said, the file is UTF-8 and does nothing to a terminal.
    assert text.encode().decode() == text
    assert not set(text) & set(map(chr, [*range(10), *range(11, 32), *range(127, 160), 0x202E]))
    assert read_json(text) == _joined((info, said))


@settings(deadline=None)
@given(st.lists(entries, max_size=3), texts)
def test_any_session_can_be_read_as_markdown_and_html(said: list[Entry], title: str) -> None:
    info = replace(INFO, title=title)
    markdown, page = as_markdown(info, said), as_html(info, said)
    assert markdown.count("\n## ") >= len(said)
    assert page.count("<article class=") == len(said) == page.count("</article>")
    assert "<script" not in page and "<img" not in page


def test_what_a_later_version_adds_is_left_out() -> None:
    plain = plain_message(Message("user", "hi", spoken=Spoken((1,))))
    plain["mood"] = {"good": True}
    plain["spoken"]["voice"] = "low"
    assert message_of(unpack(pack(plain))) == Message("user", "hi", spoken=Spoken((1,)))


@pytest.mark.parametrize(
    "packed",
    [
        *(b"", b"\xff", b"[]", b"{}", b'{"role":"king"}', b'{"role":"user","text":1}'),
        *(b'{"role":"user","calls":1}', b'{"role":"tool","result":[1]}'),
        b'{"role":"user","spoken":{"tokens":["x"]}}',
    ],
)
def test_what_is_no_message_is_refused(packed: bytes) -> None:
    with pytest.raises(ValueError, match=r".*"):
        message_of(unpack(packed))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "no session"),
        ('{"format": "gemma-local session", "version": 2}', "version 2"),
        ('{"format": "gemma-local session", "version": 1}', "incomplete or damaged"),
    ],
)
def test_what_is_no_export_is_refused_in_a_sentence(text: str, said: str) -> None:
    with pytest.raises(BadExport, match=said):
        read_json(text)


def test_a_huge_message_comes_back(store: SessionStore) -> None:
    text = "0123456789äöü\0" * 200_000
    said = Message("tool", tool="read", result={"text": text, "deep": _deep(200)})
    with store.create(Path("/work"), "gemma", "") as session:
        session.append(said)
        assert session.entries()[0].message == said


def test_values_of_calls_keep_their_types(store: SessionStore) -> None:
    values: dict[str, Any] = {"a": 1, "b": 1.0, "c": True, "d": None, "e": "1", "f": [[]], "": {}}
    said = Message("assistant", calls=(ToolCall("run", values),))
    with store.create(Path("/work"), "gemma", "") as session:
        session.append(said)
        (entry,) = session.entries()
    found = entry.message.calls[0].arguments
    assert [(key, type(value)) for key, value in found.items()] == [
        (key, type(value)) for key, value in values.items()
    ]
    assert entry.message == said


def _own(entry: Entry) -> dict[str, Any]:
    return {key: value for key, value in entry.info.items() if key != "unanswered"}


def _deep(levels: int) -> Any:
    value: Any = "bottom"
    for _ in range(levels):
        value = [value]
    return value


def _joined(value: Any) -> Any:
    """With surrogates side by side as the character that they spell, as JSON has it."""
    match value:
        case str():
            return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        case tuple():
            return tuple(map(_joined, value))
        case list():
            return list(map(_joined, value))
        case dict():
            return {_joined(key): _joined(item) for key, item in value.items()}
        case Entry() | Message() | ToolCall():
            fields = {name: _joined(getattr(value, name)) for name in value.__dataclass_fields__}
            return replace(value, **fields)
        case SessionInfo():
            return replace(value, title=_joined(value.title))
        case _:
            return value
