"""The model's calls, read and judged: may this run, as it stands, repaired, or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from gemma_local.models.call_names import closest_name
from gemma_local.models.call_schema import Fitting, Misfit, as_written, plain
from gemma_local.models.call_source import Source
from gemma_local.models.call_syntax import Bare, Malformed, Parser, Written
from gemma_local.models.json_schema import properties_of, required_of, resolved
from gemma_local.models.message import Tool, ToolCall, Value

Verdict = Literal["ok", "repaired", "rejected"]

_HEAD: Final = re.compile(r"\s*(?:```\w*\s*)?(call\s*:|call\s+(?=[\w\"'])|:)?\s*")
_NAME: Final = re.compile(r"""[^\s{}()\[\],<>"'`=]+""")
_BEGIN_ARG: Final = re.compile(r"[\s:]*BEGIN_ARG:?\s*")
_END_ARG: Final = "END_ARG"
_NOISE: Final = re.compile(
    r"(?:[\s,;)}\]]|```|</?tool_call>|<\|?tool_(?:call|response)\|?>|<turn\|>|<eos>)*"
)
_NEXT_CALL: Final = re.compile(r"call\s*:")
_NAME_KEYS: Final = ("name", "tool", "tool_name", "function")
_ARGUMENT_KEYS: Final = ("arguments", "parameters", "args", "input", "params")
_OTHER_KEYS: Final = ("id", "type")
_FENCED: Final = re.compile(r"\s*```\w*\s*\n(.*?)\n?\s*```\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class ParsedCall:
    """A call as the model wrote it (``raw``) and as it was understood.

    ``repairs`` names what was not as it should be and could be read in one way only. ``problem``
    is one sentence for the model, which says why the call was rejected and what to write instead.
    ``truncated``: the text ended inside the call because something cut it off, so the model did
    nothing wrong but write too much.
    """

    name: str
    arguments: dict[str, Value] = field(default_factory=dict)
    verdict: Verdict = "ok"
    repairs: tuple[str, ...] = ()
    problem: str = ""
    raw: str = ""
    truncated: bool = False

    def call(self) -> ToolCall:
        """What to run, if ``verdict`` allows it."""
        return ToolCall(self.name, self.arguments)


@dataclass(slots=True)
class _Draft:
    """A call before it is held against the tools. ``positional`` values have no key."""

    name: str = ""
    named: dict[str, Written] = field(default_factory=dict)
    positional: list[Written] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    problem: str = ""
    raw: str = ""


def read_calls(
    segments: Sequence[str],
    tools: Sequence[Tool],
    *,
    ended: bool,
    truncated: bool = False,
    as_json: bool = False,
    repairs: Sequence[str] = (),
) -> tuple[ParsedCall, ...]:
    """The calls between a pair of call markers: one, or more if the model left markers out.

    ``segments`` is the text there, cut at the quote tokens. ``ended``: the end marker came;
    ``truncated``: it did not because something stopped the model. ``as_json``: a JSON object is
    this model's way to call, no mistake. ``repairs`` were made to the text before.
    """
    source = Source(segments)
    if truncated and not ended:
        draft = _Draft()
        _read_head(source, draft)
        name = draft.name or "the last call"
        problem = f"{name}: it was cut off at a length limit. Call again with less text."
        whole = source.between((0, 0), (len(segments) - 1, len(segments[-1]) if segments else 0))
        return (ParsedCall(draft.name, {}, "rejected", (), problem, whole, True),)
    drafts = _drafts(source, ended=ended, as_json=as_json)
    for draft in drafts:
        draft.repairs = [*repairs, *draft.repairs]
    return tuple(_judged(draft, tools) for draft in drafts)


def whole_answer_call(answer: str, tools: Sequence[Tool]) -> ParsedCall | None:
    """The call that an answer is if it is nothing but JSON, fenced or not, that names a tool
    exactly and gives arguments; None for any other answer."""
    fenced = _FENCED.fullmatch(answer)
    text = (fenced[1] if fenced else answer).strip()
    if not text.startswith("{") or not text.endswith("}"):
        return None
    source = Source([text])
    draft = _Draft(repairs=["JSON without call markers"], raw=answer)
    try:
        found, repairs = _json_value(source)
        if source.peek() or any(repair.startswith("missing") for repair in repairs):
            return None
        _take_json(found, draft)
    except Malformed:
        return None
    known = (*_NAME_KEYS, *_ARGUMENT_KEYS, *_OTHER_KEYS)
    if not isinstance(found, dict) or not all(key in known for key in found):
        return None
    has_arguments = any(key in found for key in (*_ARGUMENT_KEYS, "function"))
    if not has_arguments or draft.name not in {tool.name for tool in tools}:
        return None
    return _judged(draft, tools)


# ------------------------------------------------------------------------------------- reading


def _drafts(source: Source, *, ended: bool, as_json: bool) -> list[_Draft]:
    drafts: list[_Draft] = []
    while True:
        start = source.place
        draft = _Draft()
        drafts.append(draft)
        parser = Parser(source, ended=ended)
        try:
            _read_call(source, parser, draft, as_json=as_json)
            draft.repairs += parser.repairs
            noise = source.take(_NOISE)
            if noise is not None and noise[0].strip():
                draft.repairs.append("noise behind the call")
            if source.peek() and not _NEXT_CALL.match(source.text, source.at):
                raise Malformed("something stands behind its arguments")
        except Malformed as malformed:
            draft.problem = str(malformed)
            while source.peek():
                source.rest_of_segment()
                if not source.is_last:
                    source.skip()
        draft.raw = source.between(start, source.place)
        if not source.peek():
            break
    if len(drafts) > 1:
        for draft in drafts:
            draft.repairs.append("several calls between one pair of markers")
    return drafts


def _read_head(source: Source, draft: _Draft) -> None:
    """The call's name, if there is one."""
    head = source.take(_HEAD)
    if head is not None and not (head[1] or "").startswith("call"):
        draft.repairs.append('missing "call:"')
    if not source.peek() or source.at < len(source.text):
        mark = source.peek()
        if mark in ('"', "'"):
            source.skip()
        name = source.take(_NAME)
        if mark in ('"', "'") and source.peek() == mark:
            source.skip()
            draft.repairs.append("quoted name")
        draft.name = name[0].rstrip(":") if name else ""
    elif not source.is_last:
        source.skip()
        draft.name = source.rest_of_segment().strip()
        draft.repairs.append("quoted name")
        if not source.is_last:
            source.skip()


def _read_call(source: Source, parser: Parser, draft: _Draft, *, as_json: bool) -> None:
    parser.space()
    start = source.place
    source.take(_HEAD)
    if source.peek() == "{":
        found, repairs = _json_value(source)
        draft.repairs += repairs if as_json else ["JSON in place of call:name{...}"]
        _take_json(found, draft)
        return
    source.go(start)
    _read_head(source, draft)
    if not draft.name:
        raise Malformed("it names no tool")
    begin = source.place
    while source.take(_BEGIN_ARG):
        end = source.text.find(_END_ARG, source.at)
        if end < 0:
            raise Malformed("an argument has no END_ARG")
        draft.positional.append(Bare(source.text[source.at : end].strip()))
        source.at = end + len(_END_ARG)
    if source.place != begin:
        draft.repairs.append("BEGIN_ARG and END_ARG")
        return
    parser.space()
    found_sign = source.peek()
    if found_sign in ("{", "("):
        draft.named, draft.positional = parser.arguments()
    elif not found_sign and parser.ended:
        draft.repairs.append("no brackets")
    else:
        raise Malformed("its arguments do not stand in braces")


def _json_value(source: Source) -> tuple[Written, list[str]]:
    """A JSON object at this place, read as JSON if it is and else as loosely as any call; and the
    repairs that this took.

    Raises Malformed.
    """
    if source.is_last:
        decoder = json.JSONDecoder(object_pairs_hook=_without_doubles)
        try:
            found, end = decoder.raw_decode(source.text, source.at)
        except (ValueError, RecursionError):
            pass
        else:
            source.at = end
            return as_written(found), []
    parser = Parser(source, ended=True)
    return parser.value(), parser.repairs


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if found.setdefault(key, value) != value:
            raise Malformed(f'"{key}" is given twice')
    return found


def _take_json(found: Written, draft: _Draft) -> None:
    """Name and arguments from a JSON object in one of the usual forms. Raises Malformed."""
    if not isinstance(found, dict):
        raise Malformed("it names no tool")
    inner = found.get("function")
    if isinstance(inner, dict):
        found = inner
    name = next((found[key] for key in _NAME_KEYS if key in found), None)
    if not isinstance(name, str) or not name:
        raise Malformed("it names no tool")
    draft.name = str(name)
    arguments = next((found[key] for key in _ARGUMENT_KEYS if key in found), {})
    if isinstance(arguments, str) and not isinstance(arguments, Bare):
        source = Source([arguments])
        arguments, _ = _json_value(source)
        if source.peek():
            raise Malformed("something stands behind its arguments")
        draft.repairs.append("arguments as JSON text")
    if arguments == Bare("null"):
        arguments = {}
    if not isinstance(arguments, dict):
        raise Malformed("its arguments are no object")
    draft.named = arguments


# ------------------------------------------------------------------------------------- judging


def _judged(draft: _Draft, tools: Sequence[Tool]) -> ParsedCall:
    repairs = list(draft.repairs)
    by_name = {tool.name: tool for tool in tools}
    name = draft.name
    shown = {key: plain(value) for key, value in draft.named.items()}
    if name and name not in by_name:
        meant = closest_name(name, by_name)
        if meant is not None:
            repairs.append(f'tool "{name}" read as "{meant}"')
            name = meant
    tool = by_name.get(name)

    def rejected(problem: str) -> ParsedCall:
        return ParsedCall(name, shown, "rejected", tuple(repairs), problem, draft.raw)

    if tool is None:
        if draft.problem and not name:
            return rejected(f"the call could not be read: {draft.problem}. {_choice(by_name)}")
        return rejected(f'there is no tool "{name}". {_choice(by_name)}')
    if draft.problem:
        return rejected(f"{name}: {draft.problem}. {_usage(tool)}")
    fitting = Fitting(tool.parameters)
    try:
        arguments = fitting.arguments(_with_keys(draft, tool, repairs))
    except Misfit as misfit:
        repairs += fitting.repairs
        return rejected(f"{name}: {misfit}. {_usage(tool)}")
    repairs += fitting.repairs
    verdict: Verdict = "repaired" if repairs else "ok"
    return ParsedCall(name, arguments, verdict, tuple(dict.fromkeys(repairs)), "", draft.raw)


def _with_keys(draft: _Draft, tool: Tool, repairs: list[str]) -> dict[str, Written]:
    """The arguments by key: a value without one is that of the only argument that is missing, or
    else of the only one that there is. Raises Misfit."""
    if not draft.positional:
        return draft.named
    required, optional = _keys(tool)
    keys = [key for key in required or optional if key not in draft.named]
    if len(draft.positional) > 1 or len(keys) != 1:
        raise Misfit("a value has no key")
    repairs.append(f'value without a key read as "{keys[0]}"')
    return {keys[0]: draft.positional[0], **draft.named}


def _keys(tool: Tool) -> tuple[list[str], list[str]]:
    """Keys of the arguments that must be given, and of the others."""
    schema = resolved(tool.parameters, tool.parameters)
    required = required_of(schema)
    return required, [key for key in properties_of(schema) if key not in required]


def _usage(tool: Tool) -> str:
    required, optional = _keys(tool)
    if not required and not optional:
        takes = "no" if "properties" in tool.parameters else "any"
        return f"Call {tool.name} with {takes} arguments."
    keys = ", ".join(required)
    if optional:
        keys += (" and " if required else "") + "optionally " + ", ".join(optional)
    return f"Call {tool.name} with {keys}."


def _choice(names: Mapping[str, Tool]) -> str:
    if not names:
        return "There are no tools here: answer in text."
    return f"The tools are {', '.join(names)}."
