"""Questions about a file that is attached with an ``@``, as the program puts it into a message."""

from __future__ import annotations

import random
from typing import Final

from gemma_local.models.pocket.train.corpus import workspace
from gemma_local.models.pocket.train.corpus.helpers import helpers
from gemma_local.models.pocket.train.corpus.looking import LOOKUP, LOOKUP_TEST, READ, READ_TEST
from gemma_local.models.pocket.train.corpus.off_ground import ADMISSIONS, MUST
from gemma_local.models.pocket.train.corpus.sample import Sample, said, user
from gemma_local.models.pocket.train.corpus.tool_steps import ask
from gemma_local.models.pocket.train.corpus.words import (
    Split,
    file_name,
    identifier,
    mostly_first,
)

_LANGUAGES: Final = {
    ".py": "python",
    ".md": "markdown",
    ".toml": "toml",
    ".ini": "ini",
    ".cfg": "ini",
    ".yaml": "yaml",
    ".yml": "yaml",
}


def sample(rng: random.Random, split: Split) -> Sample:
    """A value in a settings file, how a file begins, what a function does; for everything else the
    guide is too small, and says so."""
    kind = rng.random()
    if kind < 0.35:
        file = workspace.settings_file(rng, split)
        key, line = rng.choice(file.places)
        found = workspace.value_of(file.lines[line], key)
        question = ask(rng, split, LOOKUP, LOOKUP_TEST, file=f"@{file.path}", key=key)
        return _asked(question, file, f"`{key}` is {found} in `{file.path}`.", (key, found))
    if kind < 0.55:
        file = workspace.any_file(rng, split)
        first = next(line for line in file.lines if line)
        question = ask(rng, split, READ, READ_TEST, file=f"@{file.path}")
        return _asked(question, file, f"`{file.path}` begins with `{first}`.", (first,))
    if kind < 0.75:
        helper = rng.choice([h for h in helpers() if len(h.body) <= 3])
        name = identifier(rng, split)
        lines = helper.code(name, helper.parameters).split("\n")
        file = workspace.File(file_name(rng, split, workspace.CODE), tuple(lines))
        question = ask(rng, split, _EXPLAIN, _EXPLAIN_TEST, file=f"@{file.path}")
        return _asked(question, file, f"`{name}` {helper.does[0]}.", (helper.does[0],))
    file = workspace.any_file(rng, split)
    question = ask(rng, split, _BEYOND, _BEYOND_TEST, file=f"@{file.path}")
    return _asked(question, file, mostly_first(ADMISSIONS, rng), MUST)


def _asked(question: str, file: workspace.File, answer: str, must: tuple[str, ...]) -> Sample:
    language = next((name for end, name in _LANGUAGES.items() if file.path.endswith(end)), "")
    text = f"{question}\n\nFile {file.path}:\n```{language}\n{file.text}\n```"
    return Sample(
        "attached",
        (user(text), said(answer, "The file is in the message.")),
        judged_by={"must": must},
    )


_EXPLAIN: Final = """
Explain {file}.|What does {file} do?|What does the function in {file} do?|Explain the code in {file}.|What is {file} for?
Describe {file}.|Can you explain {file}?|Tell me what {file} does.|Please explain {file}.|{file}: what does it do?
What happens in {file}?|I don't understand {file}. What does it do?|Say what {file} does.|explain {file}
"""
_EXPLAIN_TEST: Final = "Please tell me what the code in {file} does.|Could you explain {file}?"
_BEYOND: Final = """
Summarise {file}.|Find the bugs in {file}.|Improve {file}.|Review {file}.|Refactor {file}.|Write tests for {file}.
Is {file} correct?|What is wrong with {file}?|Make {file} faster.|Translate {file} into French.|Rewrite {file} in Rust.
How can I improve {file}?|Is there a mistake in {file}?|Simplify {file}.|Give me a review of {file}.|What do you think of {file}?
Write documentation for {file}.|Find security problems in {file}.|Sum up {file}.|Clean up {file}.|Add type hints to {file}.
Compare {file} with what is usual.|Why does {file} not work?|Who wrote {file}?|Is {file} good code?|Optimise {file}.
"""
_BEYOND_TEST: Final = (
    "Could you review {file} for me?|Which bugs are there in {file}?|Please improve {file}."
)
