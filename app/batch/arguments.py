"""The grammar of ``gemma-local batch``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from gemma_local.app.argument_values import some_text, thinking, whole
from gemma_local.app.arguments import (
    Fill,
    Parser,
    add_drafting,
    add_pair_options,
    add_sampling,
    parse_given,
    refuse,
)
from gemma_local.app.exit_codes import ExitCode
from gemma_local.app.options import BatchOptions

MOST: Final = 64
"""Sequences at once."""

_EPILOG: Final = f"""\
each line of FILE is a JSON object:
  {{"prompt": "Name three rivers"}}
  {{"messages": [{{"role": "user", "content": "..."}}], "id": "q7", "max_tokens": 200}}
and may have id, system, max_tokens, temperature, seed and think (true, false, or a number of
tokens). Each line of OUT has the id, the number of the line, and the keys of --output json, or
"error". The lines come in order. When a batch was broken off, the same command goes on with it.

examples:
  gemma-local batch questions.jsonl -o answers.jsonl --max-tokens 300
  gemma-local batch - --model E4B --system "Translate into German." < lines.jsonl

exit status:
  {ExitCode.LINES_FAILED.value}  {ExitCode.LINES_FAILED.meaning}
  {ExitCode.INTERRUPTED.value}  Ctrl-C; the same command goes on with the batch"""


def parser() -> Parser:
    """The options of ``gemma-local batch``."""
    made = Parser(
        "gemma-local batch",
        "Answers every line of a file, several at once where that is faster.",
        _EPILOG,
    )
    made.usage = f"{made.prog} FILE [-o OUT] [options]"
    made.add_argument("file", metavar="FILE", type=some_text, help="the questions, - for a pipe")
    add = made.add_argument_group("batch").add_argument
    add("-o", "--out", metavar="OUT", type=some_text, help="where the answers go, in order")
    add(
        "--parallel",
        metavar="N",
        type=_parallel,
        help="answers at once: auto (default, what is fastest here), or a number",
    )
    add("--stop-on-error", action="store_true", help="end with the first line that has an error")
    add = made.add_argument_group("prompt and answer, where a line says nothing else").add_argument
    add("--system", metavar="TEXT", help="instructions to the model, before each question")
    add(
        "--think",
        metavar="HOW",
        type=thinking,
        help="let the model think first: off (default), on, or the most tokens that it may think",
    )
    add("--max-tokens", metavar="N", type=whole(1, 1 << 20), help="stop after this many tokens")
    add(
        "--stop",
        metavar="TEXT",
        type=some_text,
        action="append",
        help="stop before this text; may be given several times",
    )
    add_pair_options(made)
    add_drafting(made)
    add_sampling(made)
    return made


def parse_batch(arguments: Sequence[str], fill: Fill[BatchOptions]) -> BatchOptions:
    """Options of ``gemma-local batch``, as ``arguments.parse_answer``."""
    grammar = parser()
    given, rest = parse_given(grammar, arguments)
    refuse(grammar, rest)
    options = BatchOptions(**given)
    if options.drafter == "none" and options.draft:
        grammar.error("--draft needs a drafter; leave --drafter none out, or give --draft off")
    return fill(options, given)


def _parallel(text: str) -> int:
    """``auto`` is 0, else the number."""
    return 0 if text == "auto" else whole(1, MOST, also="auto or ")(text)
