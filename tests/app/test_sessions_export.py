"""Exports can be read by people, and do nothing but that."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from markdown_it import MarkdownIt

from gemma_local.app.fences import code, fenced
from gemma_local.app.sessions.entry import Entry, SessionInfo
from gemma_local.app.sessions.export_html import as_html
from gemma_local.app.sessions.export_markdown import as_markdown, contained
from gemma_local.models.message import Message, ToolCall
from tests.app.session_messages import texts

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
INFO = SessionInfo(
    id="0123abcd",
    title="Fix <b> *now*",
    folder=Path("/srv/`here`"),
    model="gemma-4-E2B",
    tokenizer="v",
    created=AT,
    updated=AT,
    settings={"system": "Be <brief>."},
)
ATTACK = (
    "<script>alert(1)</script> <img src=x onerror=alert(2)> ![pixel](https://evil.example/p.png) "
    '[click](javascript:alert(3)) <a href="data:text/html,x">x</a>\n\n'
    "<style>@import url(https://evil.example)</style>\n\n```\nopen"
)


def entry(message: Message, **more: object) -> Entry:
    return replace(Entry(message=message, number=1, at=AT), **more)  # type: ignore[arg-type]


SAID = [
    entry(Message("user", "Fix `a.py`\n\n# not a heading")),
    entry(
        Message(
            "assistant",
            "I look.",
            thought="Hmm, ``` and </details>",
            calls=(ToolCall("read", {"path": "a.py", "lines": [1, 2]}), ToolCall("list")),
        ),
        info={"unanswered": 1},
    ),
    entry(Message("tool", tool="read", result={"text": "x = 1\n````\ny", "more": False})),
    entry(Message("assistant", "Done:\n```python\nx = 2"), state="stopped"),
    entry(Message("user", "We fixed a.py."), kind="summary"),
]


def test_markdown_reads_well() -> None:
    assert (
        as_markdown(INFO, SAID)
        == """\
# Fix \\<b\\> \\*now\\*

gemma-4-E2B · `` /srv/`here` `` · 2026-01-02 03:04 UTC

## System

```
Be <brief>.
```

## You

> Fix `a.py`
>
> # not a heading

## Assistant

<details><summary>Thought</summary>

````text
Hmm, ``` and </details>
````

</details>

I look.

Calls `read`:

```text
path: a.py
lines: [1, 2]
```

Calls `list`:

*(a call has no result)*

## Result of `read`

`````text
text:
x = 1
````
y
more: false
`````

## Assistant

Done:
```python
x = 2
```

*(stopped)*

## Summary

We fixed a.py.
"""
    )


class Page(HTMLParser):
    """Collects tags, attributes and the text of ``pre``."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("src", "href")]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_shows_all_and_runs_and_loads_nothing() -> None:
    attacks = [
        entry(Message(role, ATTACK, thought=ATTACK, tool=ATTACK, calls=calls, result=result))
        for role in ("user", "assistant", "tool", "system")
        for calls in ((), (ToolCall(ATTACK, {ATTACK: ATTACK}),))
        for result in (None, {ATTACK: ATTACK})
    ]
    info = replace(INFO, title=ATTACK, model=ATTACK, settings={"system": ATTACK})
    page = Page(as_html(info, [*SAID, *attacks]))
    assert not {"script", "img", "iframe", "link", "object", "form"} & set(page.tags)
    assert page.tags.count("style") == 1 and page.handlers == []
    # A link may be followed by who wants to; a picture is a link then.
    assert set(page.addresses) == {"https://evil.example/p.png"}
    assert page.text.count("alert(1)") > 3 * len(attacks)
    for shown in ("Fix `a.py`", "x = 1\n````\ny", "Hmm, ``` and </details>", "(stopped)"):
        assert shown in page.text
    assert "default-src 'none'" in as_html(INFO, [])


@settings(deadline=None)
@given(texts)
def test_nothing_in_a_fence_ends_it(text: str) -> None:
    shown = _visible(text)
    tokens = MarkdownIt().parse(fenced(shown, "text"))
    assert [token.type for token in tokens] == ["fence"]
    assert tokens[0].content.removesuffix("\n") == shown.removesuffix("\n")


@settings(deadline=None)
@given(texts)
def test_nothing_in_a_message_runs_over_into_the_next(text: str) -> None:
    tokens = MarkdownIt().parse(f"{contained(_visible(text))}\n\n## Next\n")
    assert [token.type for token in tokens[-3:]] == ["heading_open", "inline", "heading_close"]
    assert tokens[-2].content == "Next"


@pytest.mark.parametrize(
    "text",
    [
        *("```\nx", "~~~~ py\n~~~\nx", "- a\n```\nb", "````\n```"),
        *("<!-- x", "<script>", "  <div>\n*x*", "<?php"),
    ],
)
def test_what_is_left_open_ends_with_its_message(text: str) -> None:
    tokens = MarkdownIt().parse(f"{contained(text)}\n\n## Next\n")
    assert tokens[-2].content == "Next" and tokens[-3].type == "heading_open"


def test_code_within_a_line() -> None:
    for text in ("a", "`", "a``b", " a ", "`a`"):
        (inline,) = [t for t in MarkdownIt().parse(code(text)) if t.type == "inline"]
        assert inline.children is not None
        assert [child.type for child in inline.children] == ["code_inline"]
        assert inline.children[0].content.strip() == text.strip()


def _visible(text: str) -> str:
    """As it is in a file: what Markdown reads as a line's end is one."""
    return re.sub("\r\n?", "\n", text.encode("utf-8", "replace").decode()).replace("\0", "\ufffd")
