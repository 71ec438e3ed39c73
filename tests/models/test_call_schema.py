"""Arguments against schemas: what fits, what is made to fit, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from gemma_local.models.call_names import closest_key, closest_name, edits
from gemma_local.models.message import Tool
from gemma_local.models.tool_call import ParsedCall, read_calls

Q = '<|"|>'


def judged(value: str, schema: dict[str, Any], **root: Any) -> ParsedCall:
    """The call ``call:t{x:value}`` of a tool whose argument ``x`` has a schema."""
    tool = Tool("t", parameters={"properties": {"x": schema}, **root})
    [call] = read_calls(f"call:t{{x:{value}}}".split(Q), [tool], ended=True)
    return call


NODE = {"properties": {"next": {"$ref": "#/$defs/node"}, "n": {"type": "integer"}}}
POINT = {"properties": {"a": {"type": "integer"}}, "required": ["a"]}


@pytest.mark.parametrize(
    ("written", "schema", "value"),
    [
        (f"{Q}a{Q}", {"type": "string"}, "a"),
        ("3", {"type": "number"}, 3),
        ("3.5", {"type": "number"}, 3.5),
        ("-0", {"type": "integer"}, 0),
        ("null", {"type": ["string", "null"]}, None),
        ("null", {"type": "string", "nullable": True}, None),
        ("null", {"anyOf": [{"type": "string"}, {"type": "null"}]}, None),
        ("null", {"anyOf": [POINT, {"anyOf": [{"type": "null"}]}]}, None),
        ("null", {"enum": ["a", None]}, None),
        ("null", {"type": "string", "enum": ["a"], "nullable": True}, None),
        ("null", {}, None),
        ("3", {"type": ["string", "integer"]}, 3),
        (f"{Q}3{Q}", {"type": ["integer", "string"]}, "3"),
        (f"{Q}a{Q}", {"oneOf": [{"type": "array"}, {"type": "string"}]}, "a"),
        ("{a:1}", {"anyOf": [{"type": "string"}, POINT]}, {"a": 1}),
        ("[1,2]", {"items": {"type": "integer"}}, [1, 2]),
        (f"{Q}a{Q}", {"type": "STRING"}, "a"),
        ("2", {"enum": [1, 2]}, 2),
        ("true", {"const": True}, True),
        (f"{Q}a{Q}", {"type": "unknown"}, "a"),
        ("{k:[1]}", {"type": "object"}, {"k": [1]}),
        (f"{{k:{Q}v{Q}}}", {"additionalProperties": {"type": "string"}}, {"k": "v"}),
        ("{k:1,a:2}", {**POINT, "additionalProperties": True}, {"k": 1, "a": 2}),
        (f"{Q}a{Q}", {"$ref": "#/$defs/nowhere"}, "a"),
    ],
)
def test_fits_as_it_is(written: str, schema: dict[str, Any], value: object) -> None:
    call = judged(written, schema)
    assert (call.verdict, call.arguments) == ("ok", {"x": value})
    assert type(call.arguments["x"]) is type(value)


@pytest.mark.parametrize(
    ("written", "schema", "value", "repair"),
    [
        ("True", {"type": "boolean"}, True, "spelling of true"),
        ("None", {"type": ["string", "null"]}, None, "spelling of null"),
        ("None", {}, None, "spelling of null"),
        ("True", {"type": ["string", "boolean"]}, True, "spelling of true"),
        ("word", {}, "word", '"x" without quotes'),
        ("none", {"type": "string"}, "none", '"x" without quotes'),
        ("None", {"enum": ["None", "all"]}, "None", '"x" read as None'),
        (f"{Q}30{Q}", {"anyOf": [{"type": "integer"}, {"type": "null"}]}, 30, '"x" to a number'),
        ("7", {"type": "array"}, [7], '"x" to a list'),
        (f'{Q}{{"a": 1}}{Q}', POINT, {"a": 1}, '"x" from JSON text'),
        ("{A:1}", POINT, {"a": 1}, '"x.A" read as "x.a"'),
        ("{a:1,b:null}", POINT, {"a": 1}, '"x.b" left out'),
        ("1e999", {}, "1e999", '"x" without quotes'),
    ],
)
def test_is_made_to_fit(written: str, schema: dict[str, Any], value: object, repair: str) -> None:
    call = judged(written, schema)
    assert (call.verdict, call.arguments) == ("repaired", {"x": value})
    assert repair in call.repairs


@pytest.mark.parametrize(
    ("written", "schema", "problem"),
    [
        ("true", {"type": "integer"}, '"x" must be a whole number, not true'),
        ("3", {"type": "boolean"}, '"x" must be true or false, not 3'),
        ("1e999", {"type": "number"}, '"x" must be a number, not 1e999'),
        ("[1]", {"type": "string"}, '"x" must be a string'),
        ("{a:1}", {"type": "integer"}, '"x" must be a whole number'),
        (f"{Q}a{Q}", {"type": "object"}, '"x" must be an object, not a'),
        (f"{Q}[a{Q}", {"type": "array"}, '"x" must be a list, not [a'),
        (f"{Q}a{Q}", {"type": ["integer", "null"]}, '"x" must be a whole number or null'),
        ("{}", {"anyOf": [{"type": "string"}, POINT]}, 'missing "x.a"'),
        ("[1]", {"anyOf": [{"type": "string"}, POINT]}, '"x" must be a string or an object'),
        (f"{Q}b{Q}", {"anyOf": [{"enum": ["a"]}, {"enum": ["c"]}]}, '"x" must be another value'),
        (f"{Q}b{Q}", {"const": "a"}, '"x" must be one of a, not b'),
        ("1", {"const": True}, '"x" must be one of True, not 1'),
        ("1", {"anyOf": [{"$ref": "#/properties/x"}]}, "its arguments are nested too deeply"),
    ],
)
def test_does_not_fit(written: str, schema: dict[str, Any], problem: str) -> None:
    call = judged(written, schema)
    assert call.verdict == "rejected"
    assert call.problem == f"t: {problem}. Call t with optionally x."


def test_a_schema_that_refers_to_itself() -> None:
    node = {"$ref": "#/$defs/node"}
    call = judged("{n:1,next:{n:2,next:{}}}", node, **{"$defs": {"node": NODE}})
    assert call.verdict == "ok"
    wrong = judged(f"{{next:{{next:{{n:{Q}a{Q}}}}}}}", node, **{"$defs": {"node": NODE}})
    assert wrong.problem.startswith('t: "x.next.next.n" must be a whole number, not a.')


def test_a_tool_without_a_list_of_arguments_takes_any() -> None:
    [call] = read_calls(["call:t{a:1,b:[2]}"], [Tool("t")], ended=True)
    assert (call.verdict, call.arguments) == ("ok", {"a": 1, "b": [2]})
    [wrong] = read_calls(["call:t{a:}"], [Tool("t")], ended=True)
    assert wrong.problem == "t: a key has no value. Call t with any arguments."


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        *(("read", "read", 0), ("read", "raed", 1), ("read", "reads", 1), ("read", "ead", 1)),
        *(("read", "road", 1), ("ab", "ba", 1), ("abc", "ca", 3), ("", "ab", 2)),
        *(("kitten", "sitting", 3), ("list_files", "lits_flies", 2), ("a", "abcd", 3)),
    ],
)
def test_edits(one: str, other: str, distance: int) -> None:
    assert edits(one, other, 5) == edits(other, one, 5) == distance
    if distance:
        assert edits(one, other, distance - 1) == distance


@pytest.mark.parametrize(
    ("key", "known", "meant"),
    [
        ("filePath", ["path", "content"], "path"),
        ("file_path", ["path"], "path"),
        ("FILE", ["path"], "path"),
        ("maxResults", ["max_results", "limit"], "max_results"),
        ("cmd", ["command", "cwd"], "command"),
        ("query", ["pattern", "path"], "pattern"),
        ("query", ["pattern", "question"], None),
        ("search", ["old", "new"], "old"),
        ("replacement", ["old", "new"], "new"),
        ("directory", ["path"], "path"),
        ("contnet", ["content", "path"], "content"),
        ("old", ["new"], None),
        ("x", ["y"], None),
        ("depth", ["path"], None),
        ("path", [], None),
    ],
)
def test_closest_key(key: str, known: list[str], meant: str | None) -> None:
    assert closest_key(key, known) == meant


@pytest.mark.parametrize(
    ("name", "known", "meant"),
    [
        ("ReadFile", ["read_file", "read"], "read_file"),
        ("functions.read", ["read"], "read"),
        ("default_api:read", ["read"], "read"),
        ("red", ["read", "grep"], "read"),
        ("ls", ["rm"], None),
        ("cat", ["cut", "car"], None),
        ("remove", ["move"], "move"),
        ("undo", ["redo"], None),
    ],
)
def test_closest_name(name: str, known: list[str], meant: str | None) -> None:
    assert closest_name(name, known) == meant
