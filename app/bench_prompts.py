"""Prompts to measure and to compare with: short, of the kinds people really give.

How far a drafter gets depends on the kind of text: code and rewriting repeat themselves, prose does
not. So every kind is measured for itself.
"""

from __future__ import annotations

from typing import Final

_SNIPPET: Final = """\
def load_rows(path, skip_empty=True):
    rows = []
    handle = open(path)
    for line in handle.readlines():
        fields = line.strip().split(",")
        if skip_empty and len(fields) == 1 and fields[0] == "":
            continue
        rows.append(fields)
    handle.close()
    return rows


def column(rows, name):
    header = rows[0]
    index = header.index(name)
    values = []
    for row in rows[1:]:
        values.append(row[index])
    return values
"""

_REPORT: Final = """\
The town council met on Tuesday to discuss the old swimming baths, which closed four years ago \
after a leak in the boiler room. Repairing the building would cost about 2.1 million, most of it \
for the roof. A group of residents proposed to turn the hall into a library with a cafe and to \
lease the garden to a school. The treasurer warned that the library's running costs are covered \
for no more than two years. The council asked for a revised plan by the end of March and agreed \
to let the residents use the hall for three open days in spring.
"""

_LETTER: Final = """\
Hello, I ordered two desk lamps from you on the 3rd. One arrived with a cracked shade, and the \
other is the grey model although I asked for green. I need both for an office that opens next \
Monday. Could you tell me whether the right ones can be here by Friday, and what I should do with \
the ones I have? Kind regards, Maria Lindqvist
"""

PROMPTS: Final[dict[str, str]] = {
    "code": (
        "Write a Python function that merges two sorted lists into one sorted list without using "
        "sorted(), with type hints and a docstring, and then three assert statements that show "
        "how it behaves with empty lists and with equal elements."
    ),
    "rewrite": (
        "Rewrite this module so that it uses the csv module, closes the file in every case and "
        f"has type hints. Show the whole module.\n\n```python\n{_SNIPPET}```"
    ),
    "summary": f"Summarise this report in three sentences for somebody who missed it.\n\n{_REPORT}",
    "reply": f"Write a polite and helpful answer to this customer.\n\n{_LETTER}",
    "prose": (
        "Write the opening of a short story about a lighthouse keeper who finds that the lamp "
        "answers to somebody else's signals. Quiet tone, past tense, no dialogue yet."
    ),
    "maths": (
        "A tank holds 240 litres. One pipe fills it in 40 minutes, another empties it in 60 "
        "minutes. Both are open for 25 minutes, then only the first. Work out step by step after "
        "how many minutes in all the tank is full."
    ),
    "translation": (
        "Translate into German, keeping the paragraphs: The museum is open from Wednesday to "
        "Sunday.\nTickets bought online are valid for the whole day.\nPlease leave large bags in "
        "the lockers near the entrance and ask the staff before you take photographs."
    ),
}

KINDS: Final = tuple(PROMPTS)


def bench_prompt(kind: str, run: int) -> str:
    """The prompt of a kind, beginning differently in every run so that no cache holds it."""
    return f"Request {run + 1}.\n{PROMPTS[kind]}"


def long_prompt() -> str:
    """About a thousand tokens: attention takes other paths over a long context than a short one,
    and the window of most layers slides only beyond 512 tokens."""
    services = ("billing", "search", "login", "mail", "upload")
    lines = [
        f"{8 + i // 20:02}:{i * 3 % 60:02} {services[i % 5]}: answered {37 * i % 211} requests, "
        f"{i * i % 7} of them slow"
        for i in range(48)
    ]
    log = "\n".join(lines)
    return f"This is the log of one morning.\n\n{log}\n\nWhich service should be looked at first?"
