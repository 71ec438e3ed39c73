"""Our format against Google's template: the same bytes, but for the differences listed here.

The template is April's. Most differences are what the later one of July 2026 does; the others are
things that both get wrong or cannot say.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.models.chat_format import render
from gemma_local.models.message import Message, Tool, ToolCall
from tests.models.conversations import conversations, parameters, tools
from tests.models.reference_template import reference
from tests.models.written import written

USER = Message("user", "Hi")
CALL = Message("assistant", calls=(ToolCall("read", {"path": "a"}),))
RESULT = Message("tool", "text", tool="read")
CALLED = '<|tool_call>call:read{path:<|"|>a<|"|>}<tool_call|>'
ANSWERED = '<|tool_response>response:read{value:<|"|>text<|"|>}<tool_response|>'
TURN = "<bos><|turn>user\nHi<turn|>\n<|turn>model\n"
NEXT = "<|turn>user\nHi<turn|>\n<|turn>model\n<|channel>thought\n<channel|>"


def ours(messages: list[Message], offered: list[Tool] | None = None, **how: bool) -> str:
    rendering = render(messages, tools=offered or (), primes_empty_thought=True, **how)
    return written(rendering.prompt)


@given(conversations(), st.lists(tools, max_size=2), st.booleans())
@settings(max_examples=60, deadline=None)
def test_the_same_bytes(messages: list[Message], offered: list[Tool], thinks: bool) -> None:
    thinking = thinks and messages[-1].role == "user"
    assert ours(messages, offered, thinking=thinking) == reference(
        messages, offered, thinking=thinking
    )


@given(parameters)
@settings(max_examples=100, deadline=None)
def test_the_same_declarations(schema: dict[str, Any]) -> None:
    offered = [Tool("f", "d", schema)]
    assert ours([USER], offered) == reference([USER], offered)


def test_null_is_null() -> None:
    messages = [
        USER,
        Message("assistant", calls=(ToolCall("f", {"a": None, "b": [None]}),)),
        RESULT,
    ]
    assert "{a:None,b:[None]}" in reference(messages)
    assert "{a:null,b:[null]}" in ours(messages)


def test_after_a_result_thinking_goes_on_in_an_opened_thought() -> None:
    messages = [USER, CALL, RESULT]
    plain = reference(messages, thinking=True)
    assert plain.endswith(CALLED + ANSWERED)
    assert ours(messages, thinking=True) == plain + "<|channel>thought\n"


def test_text_beside_a_call_stands_before_it_where_the_model_wrote_it() -> None:
    """The template writes it behind the result, and then closes the turn that goes on."""
    messages = [USER, Message("assistant", "I look.", calls=CALL.calls), RESULT]
    assert reference(messages) == f"{TURN}{CALLED}{ANSWERED}I look.<turn|>\n"
    assert ours(messages) == f"{TURN}I look.{CALLED}{ANSWERED}"


def test_a_turn_that_ends_with_a_result_is_closed() -> None:
    messages = [USER, CALL, RESULT, USER]
    assert reference(messages) == f"{TURN}{CALLED}{ANSWERED}{NEXT}"
    assert ours(messages) == f"{TURN}{CALLED}{ANSWERED}<turn|>\n{NEXT}"


def test_a_call_that_nothing_came_of_is_closed() -> None:
    messages = [USER, CALL, USER]
    assert reference(messages) == f"{TURN}{CALLED}<|tool_response>{NEXT}"
    assert ours(messages) == f"{TURN}{CALLED}<turn|>\n{NEXT}"


def test_a_turn_that_ends_in_silence_after_a_result_is_closed() -> None:
    messages = [USER, CALL, RESULT, Message("assistant", " "), USER]
    assert reference(messages) == f"{TURN}{CALLED}{ANSWERED}<turn|>\n{NEXT}"
    assert ours(messages) == reference(messages)
    messages[3] = Message("assistant")
    assert ours(messages) == reference(messages)


def test_two_messages_of_the_model_are_one_turn() -> None:
    """The template closes the turn and goes on without opening another one."""
    messages = [USER, Message("assistant", "A"), Message("assistant", "B"), USER]
    assert reference(messages) == f"{TURN}A<turn|>\nB<turn|>\n{NEXT}"
    assert ours(messages) == f"{TURN}A\nB<turn|>\n{NEXT}"


def test_results_without_a_call_are_not_lost() -> None:
    """The model's own call may have been unreadable: it stands in its text, and has a result."""
    messages = [USER, Message("assistant", "call read"), RESULT]
    assert "text" not in reference(messages)
    assert ours(messages) == f"{TURN}call read{ANSWERED}"
    assert ours([USER, RESULT]) == f"{TURN}{ANSWERED}"


def test_thoughts_are_kept_in_the_loop_also_without_a_call() -> None:
    messages = [USER, Message("assistant", "A", thought="T"), RESULT]
    assert reference(messages).startswith(f"{TURN}A")
    assert ours(messages) == f"{TURN}<|channel>thought\nT\n<channel|>A{ANSWERED}"


def test_a_system_message_without_text_makes_no_turn() -> None:
    messages = [Message("system", " "), USER]
    assert reference(messages).startswith("<bos><|turn>system\n<turn|>\n<|turn>user")
    assert ours(messages).startswith("<bos><|turn>user")


def test_text_of_the_model_that_looks_like_a_thought_is_text() -> None:
    messages = [USER, Message("assistant", "a<|channel>b<channel|>c"), USER]
    assert "model\nac<turn|>" in reference(messages)
    assert "model\na<|channel>b<channel|>c<turn|>" in ours(messages)


def declared(parameters: dict[str, Any]) -> tuple[str, str]:
    """The declaration of a tool by the template and by us."""
    offered = [Tool("f", "d", parameters)]
    begin = len('<bos><|turn>system\n<|tool>declaration:f{description:<|"|>d<|"|>')
    theirs, mine = (text([USER], offered) for text in (reference, ours))
    return theirs[begin : theirs.index("<tool|>")], mine[begin : mine.index("<tool|>")]


OPEN, CLOSE = ",parameters:{properties:", ',type:<|"|>OBJECT<|"|>}}'


def one(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {name: schema}}


@pytest.mark.parametrize("name", ["description", "type", "properties", "required", "nullable"])
def test_a_parameter_may_have_the_name_of_a_keyword(name: str) -> None:
    theirs, mine = declared(one(name, {"type": "string"}))
    assert theirs == f"{OPEN}{{}}{CLOSE}"
    assert mine == f'{OPEN}{{{name}:{{type:<|"|>STRING<|"|>}}}}{CLOSE}'


def test_null_in_the_schema_of_items_is_left_out() -> None:
    theirs, mine = declared(one("a", {"type": "array", "items": {"title": None, "type": "string"}}))
    body = '{a:{items:{type:<|"|>STRING<|"|>},type:<|"|>ARRAY<|"|>}}'
    assert theirs == mine == f"{OPEN}{body}{CLOSE}"


def test_parameters_without_a_type_are_an_object() -> None:
    theirs, mine = declared({"properties": {"a": {"type": "string"}}})
    assert theirs == f'{OPEN}{{a:{{type:<|"|>STRING<|"|>}}}},}}'
    assert mine == f'{OPEN}{{a:{{type:<|"|>STRING<|"|>}}}}{CLOSE}'


@pytest.mark.parametrize(
    ("schema", "theirs", "mine"),
    [
        (
            {"type": ["string", "null"]},
            "type:<|\"|>['STRING', 'NULL']<|\"|>",
            'nullable:true,type:<|"|>STRING<|"|>',
        ),
        (
            {"type": ["string", "integer"]},
            "type:<|\"|>['STRING', 'INTEGER']<|\"|>",
            'type:[<|"|>STRING<|"|>,<|"|>INTEGER<|"|>]',
        ),
        (
            {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "How many"},
            'description:<|"|>How many<|"|>,type:<|"|><|"|>',
            'description:<|"|>How many<|"|>,nullable:true,type:<|"|>INTEGER<|"|>',
        ),
        (
            {"oneOf": [{"type": "string"}, {"type": "number"}]},
            'type:<|"|><|"|>',
            'type:[<|"|>STRING<|"|>,<|"|>NUMBER<|"|>]',
        ),
        (
            {"enum": ["a", "b"]},
            'type:<|"|><|"|>',
            'enum:[<|"|>a<|"|>,<|"|>b<|"|>],type:<|"|>STRING<|"|>',
        ),
        (
            {"type": "string", "const": "a"},
            'type:<|"|>STRING<|"|>',
            'enum:[<|"|>a<|"|>],type:<|"|>STRING<|"|>',
        ),
        (
            {"type": "string", "enum": ["a", None]},
            'enum:[<|"|>a<|"|>,None],type:<|"|>STRING<|"|>',
            'enum:[<|"|>a<|"|>],nullable:true,type:<|"|>STRING<|"|>',
        ),
        (
            {"allOf": [{"type": "string"}, {"enum": ["a"]}]},
            'type:<|"|><|"|>',
            'enum:[<|"|>a<|"|>],type:<|"|>STRING<|"|>',
        ),
    ],
)
def test_schemas_that_the_declaration_cannot_say(
    schema: dict[str, Any], theirs: str, mine: str
) -> None:
    both = declared(one("a", schema))
    assert both == tuple(f"{OPEN}{{a:{{{body}}}}}{CLOSE}" for body in (theirs, mine))


def test_references_are_followed() -> None:
    parameters = one("at", {"$ref": "#/$defs/Point", "description": "Where"}) | {
        "$defs": {"Point": {"type": "object", "properties": {"x": {"$ref": "#/$defs/X~1Y"}}},
                  "X/Y": {"type": "number"}}
    }  # fmt: skip
    theirs, mine = declared(parameters)
    assert theirs == f'{OPEN}{{at:{{description:<|"|>Where<|"|>,type:<|"|><|"|>}}}}{CLOSE}'
    assert mine == (
        f'{OPEN}{{at:{{description:<|"|>Where<|"|>,properties:{{x:{{type:<|"|>NUMBER<|"|>}}}},'
        f'type:<|"|>OBJECT<|"|>}}}}{CLOSE}'
    )


def test_a_schema_that_contains_itself_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}}}
    _, mine = declared(one("list", {"$ref": "#/$defs/Node"}) | {"$defs": {"Node": node}})
    inner = '{next:{properties:{},type:<|"|>OBJECT<|"|>}}'
    assert mine == f'{OPEN}{{list:{{properties:{inner},type:<|"|>OBJECT<|"|>}}}}{CLOSE}'


def test_a_schema_that_unfolds_without_end_ends() -> None:
    """Each definition names the next one four times: 4 to the 40th power of them."""
    names = [f"#/$defs/{number}" for number in range(41)]
    definitions: dict[str, Any] = {
        str(number): {"properties": {key: {"$ref": names[number + 1]} for key in "abcd"}}
        for number in range(40)
    }
    _, mine = declared(one("x", {"$ref": names[0]}) | {"$defs": definitions})
    assert mine.endswith(CLOSE) and len(mine) < 1_000_000


@pytest.mark.parametrize(
    "odd", [None, 7, "x", [], {"type": 7, "enum": 5, "items": 3}, {"anyOf": 1}]
)
def test_a_schema_that_is_none_is_no_error(odd: Any) -> None:
    mine = ours([USER], [Tool("f", "d", one("a", odd) | {"required": 5})])
    assert f"{OPEN}{{a:{{" in mine and f"{CLOSE}<tool|>" in mine
