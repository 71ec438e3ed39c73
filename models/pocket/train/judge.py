"""Whether an answer is right, by rules that are stated here, one for each ground.

guide: it contains each part that a right answer must have (the files in ``facts``).
off_ground: it is one line, names the built-in guide and the command that fetches a real model.
python: the fenced code defines the function, by its name if one was asked for, and all assertions
    hold.
snippet: an explanation says what the function does; a renamed snippet is exactly the expected one;
    a documented one has a docstring that says what the function does, and no other change.
summarize, repeating: it is exactly the expected text.
proofread: it is the text without mistakes, to the letter.
shorten: it is shorter than the text and contains every word of the expected answer, in order.
replies: three numbered lines, all different, none over twelve words.
tools: one call, read without a repair, with the right tool and exactly the right arguments.
attached: it contains what was asked for, to the letter, or the admission where that is right.
small_talk: one line that is among those trained on.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from gemma_local.models.chat_format import MARKERS
from gemma_local.models.message import Opening
from gemma_local.models.pocket.train.corpus.guide import has_fact
from gemma_local.models.pocket.train.corpus.sample import Sample
from gemma_local.models.pocket.train.tokenizer import Tokenizer
from gemma_local.models.reply import Reply

_FENCED: Final = re.compile(r"```python\n(.*?)\n```", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge says of an answer."""

    right: bool
    why: str = ""


def read_reply(
    sample: Sample, tokens: Sequence[int], tokenizer: Tokenizer, opening: Opening = ""
) -> Reply:
    """An answer as the program reads it."""
    markers = {marker: tokenizer.ids[marker] for marker in MARKERS}
    reply = Reply(markers, sample.tools, opening=opening)
    for token in tokens:
        reply.feed(token, tokenizer.text([token]))
    reply.finish()
    return reply


def judged(sample: Sample, reply: Reply) -> Verdict:
    """Whether a reply answers a sample's last question."""
    if "tool" in sample.judged_by:
        return _tool(sample.judged_by, reply)
    if reply.calls:
        return Verdict(False, "it calls a tool")
    return _JUDGES[sample.kind](sample.judged_by, reply.answer.strip())


def _tool(wanted: Mapping[str, Any], reply: Reply) -> Verdict:
    if len(reply.calls) != 1:
        return Verdict(False, f"{len(reply.calls)} calls")
    call = reply.calls[0]
    if call.verdict != "ok":
        return Verdict(False, f"{call.verdict}: {call.problem or call.repairs}")
    if call.name != wanted["tool"]:
        return Verdict(False, f"the tool is {call.name}")
    return Verdict(call.arguments == wanted["arguments"], f"the arguments are {call.arguments}")


def _guide(wanted: Mapping[str, Any], answer: str) -> Verdict:
    return Verdict(has_fact(answer, wanted["must"]), str(wanted["must"]))


def _off_ground(wanted: Mapping[str, Any], answer: str) -> Verdict:
    return Verdict("\n" not in answer and has_fact(answer, wanted["must"]))


def _small_talk(wanted: Mapping[str, Any], answer: str) -> Verdict:
    return Verdict(answer in wanted["answers"])


def _attached(wanted: Mapping[str, Any], answer: str) -> Verdict:
    return Verdict(all(part in answer for part in wanted["must"]), str(wanted["must"]))


def _python(wanted: Mapping[str, Any], answer: str) -> Verdict:
    found = _FENCED.search(answer)
    if found is None:
        return Verdict(False, "no fenced code")
    space: dict[str, Any] = {}
    try:
        with _limited():
            # What is run here are functions of a few lines, out of a fixed list of bodies.
            exec(found[1], space)
            name = wanted["name"] or found[1].partition("def ")[2].partition("(")[0]
            space["f"] = space[name]
            for check in wanted["checks"]:
                if not eval(check, space):
                    return Verdict(False, check)
    except Exception as error:  # noqa: BLE001 - the code is the model's: anything may be wrong
        return Verdict(False, repr(error))
    return Verdict(True)


@contextmanager
def _limited() -> Iterator[None]:
    """No model's loop runs for ever, where the platform can stop it."""

    def stop(*_: object) -> None:
        raise TimeoutError

    if not hasattr(signal, "SIGALRM"):
        yield
        return
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(2)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _snippet(wanted: Mapping[str, Any], answer: str) -> Verdict:
    if wanted["what"] == "explain":
        return Verdict(wanted["does"] in answer, wanted["does"])
    found = _FENCED.search(answer)
    if found is None:
        return Verdict(False, "no fenced code")
    code = found[1]
    if wanted["what"] == "rename":
        return Verdict(code == wanted["answer"], wanted["answer"])
    lines = code.split("\n")
    has_docstring = len(lines) > 1 and wanted["does"][1:] in lines[1] and '"""' in lines[1]
    return Verdict(has_docstring and "\n".join(lines[:1] + lines[2:]) == wanted["code"], code)


def _proofread(wanted: Mapping[str, Any], answer: str) -> Verdict:
    return Verdict(answer == wanted["answer"], wanted["answer"])


def _shorten(wanted: Mapping[str, Any], answer: str) -> Verdict:
    words = iter(answer.lower().rstrip(".").split())
    has_all = all(word in words for word in wanted["answer"].lower().rstrip(".").split())
    return Verdict(has_all and len(answer) < len(wanted["long"]), wanted["answer"])


def _replies(_wanted: Mapping[str, Any], answer: str) -> Verdict:
    lines = answer.split("\n")
    texts = [line.partition(". ")[2] for line in lines]
    numbered = [line.partition(". ")[0] for line in lines] == ["1", "2", "3"]
    short = all(0 < len(text.split()) <= 12 for text in texts)
    return Verdict(numbered and short and len(set(texts)) == 3)


_JUDGES: Final[dict[str, Callable[[Mapping[str, Any], str], Verdict]]] = {
    "guide": _guide,
    "off_ground": _off_ground,
    "python": _python,
    "snippet": _snippet,
    "attached": _attached,
    "proofread": _proofread,
    "shorten": _shorten,
    "replies": _replies,
    "summarize": _proofread,
    "repeating": _proofread,
    "small_talk": _small_talk,
}
