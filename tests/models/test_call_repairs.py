"""Every way of misspelling a call that was seen from real models, and the limits of repair."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gemma_local.models.message import Tool
from gemma_local.models.tool_call import read_calls
from tests.models.called_tools import (
    CLOSE,
    NAMES,
    OPEN,
    TOOLS,
    USE_EDIT,
    USE_QUERY,
    USE_READ,
    USE_SEARCH,
    USE_TERMINAL,
    USE_WRITE,
    WINDOWS,
    Q,
)
from tests.models.repaired_calls import REPAIRED
from tests.models.replies import Spelled, called, said


@pytest.mark.parametrize("name", REPAIRED)
def test_is_understood_and_the_repair_is_named(name: str) -> None:
    text, tool_name, arguments = REPAIRED[name]
    # A quote token that is spelled out in ordinary tokens is written \u0001 above.
    items = [part for each in text.split("\u0001") for part in (each, Spelled(Q))][:-1]
    call = called(*items, tools=TOOLS)
    assert (call.verdict, call.problem) == ("repaired", "")
    assert (call.name, call.arguments) == (tool_name, arguments)
    assert call.repairs and call.call().arguments == arguments
    assert not call.truncated


FINE: dict[str, tuple[str, dict[str, Any]]] = {
    "as documented": (
        f"call:read{{limit:3,path:{Q}a.py{Q},raw:false}}",
        {"limit": 3, "raw": False},
    ),
    "whitespace before keys (ollama#15374)": (
        f"call:read{{ limit: 3,\n  path: {Q}a.py{Q} }}\n",
        {"limit": 3},
    ),
    "keys in any order": (f"call:read{{path:{Q}a.py{Q},limit:3}}", {"limit": 3}),
}


@pytest.mark.parametrize("name", FINE)
def test_what_needs_no_repair(name: str) -> None:
    text, arguments = FINE[name]
    call = called(OPEN, text, CLOSE, tools=TOOLS)
    assert (call.verdict, call.repairs) == ("ok", ())
    assert call.arguments == {"path": "a.py"} | arguments
    assert call.raw == text


@pytest.mark.parametrize(
    "content",
    [
        'a "b"\\c\nd',
        'say \\"hi\\"',
        WINDOWS,
        "},{]:[(,=",
        "call:read{path:x}",
        "None",
        "30",
        "",
        " \n",
        "<tool_call|>",
        '<|"|>',
        "<|channel>thought\n<channel|>",
        '{"name": "read", "arguments": {}}',
        "BEGIN_ARG x END_ARG",
        "```\n}\n```",
        "\u2028\x00\ufffd",
    ],
)
def test_a_string_between_quote_tokens_holds_anything(content: str) -> None:
    call = called(
        f"{OPEN}call:terminal{{command:{Q}", Spelled(content), f"{Q}}}{CLOSE}", tools=TOOLS
    )
    assert (call.verdict, call.arguments) == ("ok", {"command": content})


def test_marker_tokens_in_a_string_are_text_too() -> None:
    text = "the markers <|channel>, <channel|>, <|turn> and <|tool_call> are tokens"
    call = called(f"{OPEN}call:terminal{{command:{Q}{text}{Q}}}{CLOSE}", tools=TOOLS)
    assert (call.verdict, call.arguments) == ("ok", {"command": text})


REJECTED: dict[str, tuple[str, str]] = {
    "missing arguments": (
        f"{OPEN}call:edit{{path:{Q}a{Q},new:{Q}b{Q}}}{CLOSE}",
        f'edit: missing "old". {USE_EDIT}',
    ),
    "two missing arguments": (
        f"{OPEN}call:edit{{path:{Q}a{Q}}}{CLOSE}",
        f'edit: missing "old" and "new". {USE_EDIT}',
    ),
    "unknown key": (
        f"{OPEN}call:read{{path:{Q}a{Q},colour:{Q}red{Q}}}{CLOSE}",
        f'read: there is no "colour". {USE_READ}',
    ),
    "key far from any": (
        f"{OPEN}call:status{{verbose:true}}{CLOSE}",
        'status: there is no "verbose". Call status with no arguments.',
    ),
    "unknown tool": (
        f"{OPEN}call:fly{{}}{CLOSE}",
        f'there is no tool "fly". The tools are {NAMES}.',
    ),
    "wrong type": (
        f"{OPEN}call:read{{path:{Q}a{Q},limit:{Q}all of it{Q}}}{CLOSE}",
        f'read: "limit" must be a whole number, not all of it. {USE_READ}',
    ),
    "fraction for a whole number": (
        f"{OPEN}call:read{{path:{Q}a{Q},limit:2.5}}{CLOSE}",
        f'read: "limit" must be a whole number, not 2.5. {USE_READ}',
    ),
    "object for a text": (
        f"{OPEN}call:terminal{{command:{{a:1}}}}{CLOSE}",
        f'terminal: "command" must be a string. {USE_TERMINAL}',
    ),
    "not in the enum": (
        f"{OPEN}call:search_files{{pattern:{Q}a{Q},target:{Q}names{Q}}}{CLOSE}",
        f'search_files: "target" must be one of files, text, not names. {USE_SEARCH}',
    ),
    "wrong inside a list": (
        f"{OPEN}call:todo{{todos:[{{text:{Q}a{Q}}},{{done:true}}]}}{CLOSE}",
        'todo: missing "todos[1].text". Call todo with todos.',
    ),
    "a value of two keys": (
        f"{OPEN}call:read{{path:{Q}a{Q},path:{Q}b{Q}}}{CLOSE}",
        f'read: "path" is given twice. {USE_READ}',
    ),
    "two names for one key": (
        f"{OPEN}call:read{{file:{Q}a{Q},filename:{Q}b{Q}}}{CLOSE}",
        f'read: there is no "filename". {USE_READ}',
    ),
    "words and no brackets (vllm#53431)": (
        f"{OPEN}call:read the file please{CLOSE}",
        f"read: its arguments do not stand in braces. {USE_READ}",
    ),
    "values without keys": (
        f"{OPEN}call:write_file({Q}a{Q}, {Q}b{Q}){CLOSE}",
        f"write_file: a value has no key. {USE_WRITE}",
    ),
    "several BEGIN_ARGs (ollama#18275)": (
        f"{OPEN}call:write_file:\nBEGIN_ARG:\na.py\nEND_ARG\nBEGIN_ARG:\nx = 1\nEND_ARG{CLOSE}",
        f"write_file: a value has no key. {USE_WRITE}",
    ),
    "quote forgotten in the middle": (
        f"{OPEN}call:edit{{path:{Q}a,old:{Q}b{Q},new:{Q}c{Q}}}{CLOSE}",
        "edit: ",
    ),
    "string that never ends": (
        f"{OPEN}call:write_file{{path:{Q}a{Q},content:{Q}import re\n",
        f"write_file: its last string has no closing quote. {USE_WRITE}",
    ),
    "bare value that never ends": (
        f"{OPEN}call:read{{path:{Q}a{Q},limit:3",
        f"read: its last value has no end. {USE_READ}",
    ),
    "bare text over several lines": (
        f"{OPEN}call:write_file{{path:a.py,content:import re\nimport os}}{CLOSE}",
        f"write_file: a text without quotes leaves open where it ends. {USE_WRITE}",
    ),
    "bare text in back quotes": (
        f"{OPEN}call:terminal{{command:```ls```}}{CLOSE}",
        f"terminal: a text without quotes leaves open where it ends. {USE_TERMINAL}",
    ),
    "raw terminal string with a bracket in quotes": (
        f'{OPEN}call:terminal{{command:echo "}}"}}{CLOSE}',
        f"terminal: a text without quotes leaves open where it ends. {USE_TERMINAL}",
    ),
    "bare text in which another argument may begin": (
        f"{OPEN}call:terminal{{command:sleep 5 timeout: 3}}{CLOSE}",
        f'terminal: "command" leaves open where it ends and "timeout" begins. {USE_TERMINAL}',
    ),
    "backslash and quote": (
        f'{OPEN}call:edit{{path:"C:\\temp\\", old:"a", new:"b"}}{CLOSE}',
        f"edit: a backslash before a quote leaves open where a string ends. {USE_EDIT}",
    ),
    "something behind the arguments": (
        f"{OPEN}call:terminal{{command:{Q}a{Q}}} && rm -r b{CLOSE}",
        f"terminal: something stands behind its arguments. {USE_TERMINAL}",
    ),
    "quote forgotten before the next key": (
        f"{OPEN}call:edit{{path:{Q}a.py,old:x,new:y}}{CLOSE}",
        f"edit: a string has no closing quote. {USE_EDIT}",
    ),
    "quote token out of place": (
        f"{OPEN}call:read{{limit:3 path:{Q}a{Q}}}{CLOSE}",
        f"read: a quote stands where none should. {USE_READ}",
    ),
    "key that never ends": (
        f"{OPEN}call:read{{{Q}path}}{CLOSE}",
        f"read: a value has no key. {USE_READ}",
    ),
    "nested without end": (
        f"{OPEN}call:query{{data_refs:{'[' * 200}{CLOSE}",
        f"query: its arguments are nested too deeply. {USE_QUERY}",
    ),
    "BEGIN_ARG without END_ARG": (
        f"{OPEN}call:terminal:\nBEGIN_ARG:\nls{CLOSE}",
        f"terminal: an argument has no END_ARG. {USE_TERMINAL}",
    ),
    "only braces": (
        f"{OPEN}({CLOSE}",
        f"the call could not be read: it names no tool. The tools are {NAMES}.",
    ),
    "json that is no call": (
        f'{OPEN}{{"path": "a"}}{CLOSE}',
        f"the call could not be read: it names no tool. The tools are {NAMES}.",
    ),
    "json with a key twice": (
        f'{OPEN}{{"name": "read", "arguments": {{"path": "a", "path": "b"}}}}{CLOSE}',
        f'the call could not be read: "path" is given twice. The tools are {NAMES}.',
    ),
    "json arguments that are a list": (
        f'{OPEN}{{"name": "read", "arguments": ["a"]}}{CLOSE}',
        f"read: its arguments are no object. {USE_READ}",
    ),
    "json arguments with more behind them": (
        f'{OPEN}{{"name": "read", "arguments": "{{\\"path\\": 1}} or so"}}{CLOSE}',
        f"read: something stands behind its arguments. {USE_READ}",
    ),
    "key without a value": (
        f"{OPEN}call:read{{path:,limit:3}}{CLOSE}",
        f"read: a key has no value. {USE_READ}",
    ),
}


@pytest.mark.parametrize("name", REJECTED)
def test_is_rejected_with_one_sentence_for_the_model(name: str) -> None:
    text, problem = REJECTED[name]
    call = called(text, tools=TOOLS)
    assert call.verdict == "rejected"
    assert call.problem.startswith(problem) if problem.endswith(": ") else call.problem == problem
    assert not call.truncated


@pytest.mark.parametrize(
    ("written", "tools"),
    [
        ("ls", ["rm", "cat"]),  # two letters of two
        ("reed", ["read", "reel"]),  # equally near
        ("delete_file", ["create_file"]),
        ("stat", ["start", "state"]),
    ],
)
def test_a_tool_that_may_not_be_meant_is_not_called(written: str, tools: list[str]) -> None:
    call = called(f"{OPEN}call:{written}{{}}{CLOSE}", tools=[Tool(name) for name in tools])
    assert (call.verdict, call.name) == ("rejected", written)
    assert call.problem == f'there is no tool "{written}". The tools are {", ".join(tools)}.'


def test_without_tools_no_call_is_accepted() -> None:
    call = called(f"{OPEN}call:read{{path:{Q}a{Q}}}{CLOSE}", tools=[])
    assert (call.verdict, call.arguments) == ("rejected", {"path": "a"})
    assert call.problem == 'there is no tool "read". There are no tools here: answer in text.'


@pytest.mark.parametrize("end", range(1, 36))
def test_a_call_that_was_cut_off_is_not_a_malformed_one(end: int) -> None:
    text = f"call:write_file{{content:{Q}abc{Q},path:{Q}d{Q}}}"[:end]
    # A marker that would be cut in half is one token, and did not come.
    text = text.rpartition("<")[0] if "<" in text[-5:] and not text.endswith(Q) else text
    call = called(OPEN, text, tools=TOOLS, truncated=True)
    assert (call.verdict, call.truncated) == ("rejected", True)
    assert "cut off at a length limit" in call.problem


@pytest.mark.parametrize(
    "noise", ["<tool_call|>", "<|tool_response>\n", "</tool_call>", "```", ")"]
)
def test_noise_behind_the_arguments(noise: str) -> None:
    """ollama#15374"""
    call = called(f"{OPEN}call:read{{path:{Q}a{Q}}}", Spelled(noise), CLOSE, tools=TOOLS)
    assert (call.verdict, call.arguments) == ("repaired", {"path": "a"})
    assert call.repairs == ("noise behind the call",)


def test_several_calls_between_one_pair_of_markers() -> None:
    outcome = said(f"{OPEN}call:read{{path:{Q}a{Q}}}call:read{{path:{Q}b{Q}}}{CLOSE}", tools=TOOLS)
    assert [call.arguments for call in outcome.calls] == [{"path": "a"}, {"path": "b"}]
    assert [call.raw for call in outcome.calls] == [
        f"call:read{{path:{Q}a{Q}}}",
        f"call:read{{path:{Q}b{Q}}}",
    ]
    assert {call.verdict for call in outcome.calls} == {"repaired"}


def test_a_broken_call_does_not_take_the_next_one_with_it() -> None:
    outcome = said(f"{OPEN}call:fly(to the moon{OPEN}call:read{{path:{Q}a{Q}}}{CLOSE}", tools=TOOLS)
    assert [(call.name, call.verdict) for call in outcome.calls] == [
        ("fly", "rejected"),
        ("read", "ok"),
    ]


MEGABYTE = 'line "one", two: {three}\n' * 40_000


@pytest.mark.parametrize(
    "text",
    [
        f"call:write_file{{path:{Q}a{Q},content:{Q}{MEGABYTE}{Q}}}",
        f"call:write_file{{path:{Q}a{Q},content:{Q}{' ' * 1_000_000}}}",
        f"call:write_file{{path:'a',content:'{MEGABYTE}'}}",
        json.dumps({"name": "write_file", "arguments": {"path": "a", "content": MEGABYTE}}),
    ],
    ids=["quote tokens", "spaces", "single quotes", "json"],
)
def test_an_argument_of_a_megabyte(text: str) -> None:
    [call] = read_calls(text.split(Q), TOOLS, ended=True)
    assert call.verdict != "rejected"
    assert call.arguments["content"] in (MEGABYTE, " " * 1_000_000)


@pytest.mark.parametrize(
    "text",
    [
        *("{[(" * 300_000, "a " * 500_000, "command:" + ", " * 500_000, "command:" + " " * 10**6),
        *("command:'" + "' " * 500_000, 'command:"' + '\\"' * 500_000, "a, " * 300_000),
        *("a:b,a:b," * 20_000, '"a",' * 40_000, "command:" + "a=" * 500_000, "}" * 10**6),
        *("command:" + "[" * 10**6, 'command:"' + "\\" * 10**6, "a " + " " * 10**6 + ":"),
        *(f"command:{Q}" + ", a" * 300_000, f"command:{Q}" + "} " * 500_000),
        *("command:" + "a\n" * 400_000, "command:" + "x:" + "y:" * 400_000),
    ],
    ids=lambda text: text[:12],
)
def test_a_megabyte_of_nonsense_is_rejected_and_takes_no_time(text: str) -> None:
    """No time: anything quadratic in it would run into the time limit of the tests."""
    for whole in (f"call:terminal{{{text}}}", f"call:terminal({text}", text):
        for call in read_calls(whole.split(Q), TOOLS, ended=True):
            assert call.verdict == "rejected" or call.name == "terminal"
