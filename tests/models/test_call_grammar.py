"""The grammar of a call as text; what it lets a model say is tested in tests/engine."""

from __future__ import annotations

import pytest

from gemma_local.models.call_grammar import call_grammar
from gemma_local.models.errors import GemmaLocalError
from gemma_local.models.message import Tool

MARKERS = {"<|tool_call>": 48, "<tool_call|>": 49, '<|"|>': 52}


def rules(grammar: str) -> dict[str, str]:
    return dict(line.split(" ::= ", 1) for line in grammar.splitlines())


def test_keys_are_sorted_and_optional_ones_may_be_missing() -> None:
    text = {"type": "string"}
    schema = {
        "type": "object",
        "properties": {"path": text, "Limit": {"type": "integer"}, "old": text},
        "required": ["old"],
    }
    found = rules(call_grammar([Tool("edit", parameters=schema)], MARKERS))
    assert found["string"] == "<[52]> !<[52]>* <[52]>"
    start = found["root"].removeprefix('<[48]> ("call:edit" "{" ').removesuffix(") <[49]>")
    assert found[start].startswith('"Limit:" ')
    without = found[start].split(" | ")[1]
    assert found[without].startswith('"old:" ') and " | " not in found[without]
    behind = found[without].split()[-1]
    assert found[behind].startswith('"," "path:" ') and found[behind].endswith(' | "}"')


def test_one_tool_or_all() -> None:
    tools = [Tool("one", parameters={"properties": {}}), Tool("two")]
    assert rules(call_grammar(tools, MARKERS))["root"] == (
        '<[48]> ("call:one" "{}" | "call:two" object) <[49]>'
    )
    assert '"call:two"' not in call_grammar(tools, MARKERS, "one")
    with pytest.raises(ValueError, match="three"):
        call_grammar(tools, MARKERS, "three")


def test_names_and_constants_are_escaped() -> None:
    schema = {"properties": {'a"b\\': {"enum": ["x\ny", 'q"', 3, None]}}}
    grammar = call_grammar([Tool("t", parameters=schema)], MARKERS)
    assert '"a\\"b\\\\:"' in grammar
    assert '(<[52]> "x\\U0000000Ay" <[52]> | <[52]> "q\\"" <[52]> | "3" | "null")' in grammar


def test_a_schema_that_contains_itself() -> None:
    node = {"properties": {"next": {"$ref": "#"}}}
    found = rules(call_grammar([Tool("t", parameters=node)], MARKERS))
    assert len(found) < 20


def test_a_vocabulary_without_the_markers() -> None:
    with pytest.raises(GemmaLocalError, match="only Gemma 4"):
        call_grammar([Tool("t")], {})
