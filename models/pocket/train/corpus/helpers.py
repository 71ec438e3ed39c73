"""Requests for small Python functions, and questions about snippets of them."""

from __future__ import annotations

import random
import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Template
from typing import Final

from gemma_local.models.pocket.train.corpus.sample import Sample, said, user
from gemma_local.models.pocket.train.corpus.wordings import CODE, reworded
from gemma_local.models.pocket.train.corpus.words import Split, identifier, word

_ASK: Final = (
    """
Write a function that {does}.|Write a Python function that {does}.|Give me a function that {does}.
I need a function that {does}.|Please write a function that {does}.|Create a function that {does}.
Can you write a function that {does}?|Make a Python function that {does}.|Show me a function that {does}.
Code a function that {does}.|A function that {does}, please.|Python function that {does}
How do I write a function that {does}?|Could you give me a Python function that {does}?|Define a function that {does}.
Implement a function that {does}.|I want a Python function that {does}.|Write some Python that {does}.
Write me a function that {does}.|Would you write a function that {does}?|Could you code me a function that {does}?
Please make me a helper that {does}.|I'd like some code that {does}.|Code me a small function that {does}, please.
A helper that {does}, if you can.|Please do a function for me that {does}.|I am looking for a function that {does}.
Python, please: a function that {does}.|Let me have a function that {does}.|Can I get a helper that {does}?
Write a helper that {does}.|I need a small helper that {does}.|function that {does}|Write code that {does}.
""".strip()
    .replace("\n", "|")
    .split("|")
)
_ASK_NAMED: Final = (
    """
Write a function {name} that {does}.|Write a function called {name} that {does}.
Write a Python function named {name} that {does}.|Give me a function {name} that {does}.
I need a function called {name} that {does}.|Create a function {name} that {does}.
Write a function that {does}. Call it {name}.|Write `{name}`, a function that {does}.
Make a function {name} which {does}.|Please write {name}: it {does}.|Define {name}, which {does}.
Can you write a function `{name}` that {does}?|Implement {name}, a function that {does}.
A function that {does}, named {name}.|Python function {name} that {does}|{name} should be a function that {does}.
Write a helper {name} that {does}.|Write a function that {does} and name it `{name}`.
Write me a function {name} that {does}.|Write {name}, a helper that {does}.|Please make {name}, a function that {does}.
Code {name}: it {does}.|Please code up {name}, which {does}.|I'd like {name}, a Python function that {does}.
Would you write {name} for me? It {does}.|Could you do {name}, a helper that {does}?|Now code `{name}`, which {does}.
Please implement {name}, a Python function that {does}.|I need {name}: a helper that {does}.|Code a helper {name} that {does}.
Let me have `{name}`, a function that {does}.|Can I get {name}, a small function that {does}?|Please write me {name}, which {does}.
I want a helper named {name} that {does}.|Code me a function called `{name}` that {does}.|{name}, please: a function that {does}.
""".strip()
    .replace("\n", "|")
    .split("|")
)
_ASK_TEST: Final = (
    "Would you write me a function that {does}?",
    "Please code a Python helper that {does}.",
    "I could use a function that {does}.",
)
_ASK_NAMED_TEST: Final = (
    "Would you write me a function {name} that {does}?",
    "Please code {name}, a Python helper that {does}.",
    "I could use a function named `{name}` that {does}.",
)
_TAKES: Final = (
    " It takes {parameters}.",
    " The parameters are {parameters}.",
    " Its arguments are {parameters}.",
    " Name the parameters {parameters}.",
    " Parameters: {parameters}.",
    " Call its arguments {parameters}.",
)
_TAKES_ONE: Final = (
    " It takes {parameters}.",
    " The parameter is {parameters}.",
    " Its argument is called {parameters}.",
    " Call the parameter {parameters}.",
    " Parameter: {parameters}.",
)


@dataclass(frozen=True, slots=True)
class Helper:
    """A small function: what it is called, takes, does, and is checked by."""

    names: tuple[str, ...]
    does: tuple[str, ...]
    parameters: tuple[str, ...]
    body: tuple[str, ...]
    checks: tuple[str, ...]

    def code(self, name: str, parameters: tuple[str, ...], docstring: str = "") -> str:
        """Its source, under a name and with parameters of these names."""
        slots = dict(zip("abc", parameters, strict=False))
        lines = [Template(line).substitute(slots) for line in self.body]
        if docstring:
            lines.insert(0, f'"""{docstring}"""')
        return "\n".join((f"def {name}({', '.join(parameters)}):", *(f"    {s}" for s in lines)))


@cache
def helpers() -> tuple[Helper, ...]:
    """All that ``helpers.toml`` and ``requests.toml`` say."""
    here = Path(__file__)
    found = tomllib.loads(here.with_name("helpers.toml").read_text("utf-8"))["helper"]
    more = tomllib.loads(here.with_name("requests.toml").read_text("utf-8"))
    for entry in found:
        # The last one is held out.
        entry["does"][-1:-1] = more[entry["names"][0]]
    return tuple(Helper(**{key: tuple(value) for key, value in entry.items()}) for entry in found)


def fenced(code: str) -> str:
    """Code as Markdown."""
    return f"```python\n{code}\n```"


def sample(rng: random.Random, split: Split) -> Sample:
    """A request for a function."""
    helper = rng.choice(helpers())
    test = split == "test"
    does = helper.does[-1] if test else _does(helper, rng)
    is_named = rng.random() < 0.65
    name = identifier(rng, split) if is_named else helper.names[0]
    templates = (
        (_ASK_NAMED_TEST if is_named else _ASK_TEST) if test else (_ASK_NAMED if is_named else _ASK)
    )
    text = rng.choice(templates).format(does=does, name=name)
    parameters = helper.parameters
    if rng.random() < 0.3 and text[-1] in ".?":
        parameters = _parameters(helper, rng, split, name)
        takes = rng.choice(_TAKES if len(parameters) > 1 else _TAKES_ONE)
        text += takes.format(parameters=" and ".join(parameters))
    return Sample(
        "python",
        (
            user(_as_typed(text, rng) if not test else text),
            said(fenced(helper.code(name, parameters)), _thought(rng, name)),
        ),
        judged_by={
            "name": name if is_named else "",
            "checks": helper.checks,
            "parameters": parameters,
        },
    )


def _does(helper: Helper, rng: random.Random) -> str:
    """What a function does in words that are trained on."""
    does = rng.choice(helper.does[:-1])
    other = reworded(does, rng, CODE)
    return does if other == helper.does[-1] else other


def snippet(rng: random.Random, split: Split) -> Sample:
    """Something to do with a few lines: explain them, rename in them, or document them."""
    helper = rng.choice(helpers())
    name = identifier(rng, split)
    parameters = _parameters(helper, rng, split, name) if rng.random() < 0.5 else helper.parameters
    code = helper.code(name, parameters)
    does = rng.choice(helper.does[:-1])
    kind = rng.choice(("explain", "rename", "docstring"))
    if kind == "explain":
        question = rng.choice(_EXPLAIN_TEST if split == "test" else _EXPLAIN)
        answer = rng.choice(("`{name}` {does}.", "It {does}.", "The function {does}."))
        answer = answer.format(name=name, does=helper.does[0])
        judged = {"what": kind, "does": helper.does[0]}
    elif kind == "docstring":
        question = rng.choice(_DOCUMENT_TEST if split == "test" else _DOCUMENT)
        does = helper.does[0]
        answer = fenced(helper.code(name, parameters, does[0].upper() + does[1:] + "."))
        judged = {"what": kind, "code": code, "does": does}
    else:
        old = rng.choice((name, *parameters))
        new = word(rng, split)
        while new in (name, *parameters):
            new = word(rng, split)
        question = rng.choice(_RENAME_TEST if split == "test" else _RENAME)
        question = question.format(old=old, new=new)
        renamed = re.sub(rf"\b{re.escape(old)}\b", new, code)
        answer = fenced(renamed)
        judged = {"what": kind, "answer": renamed}
    block = fenced(code) if rng.random() < 0.75 else code
    text = f"{question}\n{block}" if rng.random() < 0.8 else f"{block}\n{question}"
    return Sample(
        "snippet",
        (user(text), said(answer, "A small function. I look at its lines.")),
        judged_by=judged,
    )


_EXPLAIN: Final = (
    """
Explain this code.|What does this do?|What does this function do?|Explain:|Explain this function.
What is this code for?|Describe this function.|Can you explain this?|Tell me what this does.
Please explain this snippet.|Explain the code below in one sentence.|What happens here?
""".strip()
    .replace("\n", "|")
    .split("|")
)
_EXPLAIN_TEST: Final = ("Can you tell me what this code does?", "Please describe this snippet.")
_DOCUMENT: Final = (
    """
Add a docstring.|Add a docstring to this function.|Document this function.|Write a docstring for this.
Please add a docstring.|Give this function a docstring.|This needs a docstring.|Add documentation:
Can you document this?|Put a docstring into this function.
""".strip()
    .replace("\n", "|")
    .split("|")
)
_DOCUMENT_TEST: Final = ("Could you add a docstring here?", "Please document this code.")
_RENAME: Final = (
    """
Rename {old} to {new}.|Rename `{old}` to `{new}`.|Change the name {old} to {new}.|Call {old} {new} instead.
Please rename {old} to {new}.|Replace the name {old} by {new}.|Rename {old} to {new} in this code:
{old} should be called {new}.|Can you rename {old} to {new}?|Rename {old} into {new}:
""".strip()
    .replace("\n", "|")
    .split("|")
)
_RENAME_TEST: Final = ("Could you rename {old} to {new}?", "Change {old} to {new} in this snippet.")


def _parameters(helper: Helper, rng: random.Random, split: Split, name: str) -> tuple[str, ...]:
    taken = {name, *re.findall(r"[A-Za-z_]+", " ".join(helper.body)), "function"}
    chosen: list[str] = []
    while len(chosen) < len(helper.parameters):
        new = word(rng, split) if rng.random() < 0.8 else rng.choice("abcnkmpqvwxyz")
        if new not in taken and new.isidentifier():
            chosen.append(new)
            taken.add(new)
    return tuple(chosen)


def _as_typed(text: str, rng: random.Random) -> str:
    chance = rng.random()
    if chance < 0.15:
        text = text[0].lower() + text[1:]
    return text.rstrip("?.") if rng.random() < 0.08 else text


def _thought(rng: random.Random, name: str) -> str:
    return rng.choice(
        (
            "A small function. A few lines are enough.",
            f"I write {name} in plain Python.",
            "They want a Python function. I keep it short.",
        )
    )
