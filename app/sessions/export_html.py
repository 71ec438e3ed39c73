"""A session as one HTML page: no script, nothing loaded from anywhere, light or dark as the
reader's system is.

Answers are Markdown, in which HTML stays text and images stay their description: a picture's
address is asked for when the page is opened, and a model can be made to write one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import Final

from markdown_it import MarkdownIt

from gemma_local.app.sessions.entry import Entry, SessionInfo
from gemma_local.app.sessions.readable import arguments_text, ending, result_text, speaker

_STYLE: Final = """\
:root { color-scheme: light dark; --line: #8884; --quiet: #767676; --user: #8881; }
body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; line-height: 1.5;
       font-family: system-ui, sans-serif; overflow-wrap: anywhere; }
header p, h2, .end, summary { color: var(--quiet); font-size: .875rem; }
h2 { margin: 0 0 .25rem; font-weight: 600; }
article { margin: 1.5rem 0; }
article.user { background: var(--user); border-radius: .5rem; padding: .75rem 1rem; }
.plain { white-space: pre-wrap; }
pre { overflow-x: auto; padding: .75rem; border: 1px solid var(--line); border-radius: .5rem;
      font-size: .875rem; }
code, pre { font-family: ui-monospace, monospace; }
table { border-collapse: collapse; }
td, th { border: 1px solid var(--line); padding: .25rem .5rem; }
@media print { details, pre { break-inside: avoid; } }
"""
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'"


def as_html(info: SessionInfo, entries: Sequence[Entry]) -> str:
    """The session as a page."""
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    day = f"{info.created:%Y-%m-%d %H:%M} UTC"
    facts = " · ".join(part for part in (info.model, str(info.folder), day) if part)
    articles = "\n".join(_article(entry, markdown) for entry in entries)
    return f"""\
<!DOCTYPE html>
<html>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="referrer" content="no-referrer">
<title>{escape(info.title)}</title>
<style>
{_STYLE}</style>
</head>
<body>
<header>
<h1>{escape(info.title)}</h1>
<p>{escape(facts)}</p>
{_folded("System", str(info.settings.get("system", "")))}</header>
<main>
{articles}
</main>
</body>
</html>
"""


def _article(entry: Entry, markdown: MarkdownIt) -> str:
    parts = "".join(_parts(entry, markdown))
    return f'<article class="{escape(entry.message.role)}">\n{parts}</article>'


def _parts(entry: Entry, markdown: MarkdownIt) -> Iterator[str]:
    message, end = entry.message, ending(entry)
    yield f"<h2>{escape(speaker(entry))}</h2>\n"
    yield _folded("Thought", message.thought)
    if message.role == "tool":
        yield _folded(f"Result of {message.tool}" if message.tool else "Result",
                      result_text(message))  # fmt: skip
    elif message.role == "assistant":
        yield markdown.render(message.text)
    elif message.text:
        yield f'<div class="plain">{escape(message.text)}</div>\n'
    for call in message.calls:
        yield f"<p>Calls <code>{escape(call.name)}</code></p>\n"
        if call.arguments:
            yield f"<pre>{escape(arguments_text(call))}</pre>\n"
    if end:
        yield f'<p class="end">({escape(end)})</p>\n'


def _folded(summary: str, text: str) -> str:
    if not text:
        return ""
    return f"<details><summary>{escape(summary)}</summary><pre>{escape(text)}</pre></details>\n"
