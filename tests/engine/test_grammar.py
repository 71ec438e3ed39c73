"""Output held to a grammar: the same with and without drafting, always a call that can run, and
never the end of the engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gemma_local.engine.gbnf import BadGrammar, Gbnf
from gemma_local.engine.messages import Delta, Sampling
from gemma_local.engine.runtime.grammar import Grammar
from gemma_local.engine.runtime.model import Model
from gemma_local.engine.sampler import Sampler
from gemma_local.models.call_grammar import call_grammar
from gemma_local.models.message import Tool
from gemma_local.models.reply import Reply
from gemma_local.models.tool_call import ParsedCall
from tests.engine.running import Reply as Run
from tests.engine.running import Runner, ask, running
from tests.ggufs import Drafter, Random, build, script

TEXT = {"type": "string"}
READ = Tool(
    "read",
    parameters={
        "properties": {
            "path": TEXT,
            "limit": {"type": "integer"},
            "mode": {"enum": ["<", "<=", "text"]},
            "raw": {"type": "boolean"},
        },
        "required": ["path", "mode"],
    },
)
TODO = Tool(
    "todo",
    parameters={
        "properties": {
            "items": {
                "type": "array",
                "items": {"properties": {"text": TEXT, "at": {"type": ["number", "null"]}}},
            }
        },
        "required": ["items"],
    },
)
TOOLS = [READ, TODO]


@pytest.fixture(scope="module")
def model(ggufs: Path) -> Iterator[Model]:
    loaded = Model(build("dense", Random(pull=15.0), ggufs).target)
    yield loaded
    loaded.close()


def parsed(runner: Runner, run: Run, tools: list[Tool]) -> ParsedCall:
    """The one call that was said, read token by token from the deltas' pieces."""
    reply = Reply(runner.pair.ready.markers, tools)
    deltas = [event for event in run.events if isinstance(event, Delta)]
    for delta in deltas:
        for token, piece in zip(delta.tokens, delta.pieces, strict=True):
            reply.feed(token, piece)
    reply.finish("".join(delta.rest for delta in deltas))
    assert (reply.answer, reply.thought, len(reply.calls)) == ("", "", 1)
    return reply.calls[0]


# -------------------------------------------------------------------------- whole answers


@pytest.mark.parametrize("sampling", [Sampling(temperature=0.0), Sampling(seed=3)])
@pytest.mark.parametrize("kind", ["dense", "edge"])
def test_the_same_call_at_every_draft_length(ggufs: Path, kind: str, sampling: Sampling) -> None:
    files = build(kind, Random(pull=15.0, ends=True), ggufs)
    with running(files, context=1024) as runner:
        markers = runner.pair.ready.markers
        # A random model would not end its strings.
        bias = {markers['<|"|>']: 9.0}
        sampling = Sampling(sampling.temperature, seed=sampling.seed, logit_bias=bias)
        for tools in ([READ], [TODO], TOOLS):
            grammar = call_grammar(tools, markers)
            replies = [
                runner.run(
                    ask(draft=n, exact=True, sampling=sampling, grammar=grammar, max_tokens=300)
                )[0]
                for n in (0, 1, 3, 6)
            ]
            assert len({reply.tokens for reply in replies}) == 1
            assert {reply.end.reason for reply in replies} == {"stop"}
            call = parsed(runner, replies[0], tools)
            assert call.verdict == "ok", call


def test_what_a_drafter_proposes_against_the_grammar_is_not_accepted(ggufs: Path) -> None:
    """The script is no call: all that it may say of itself is the content of a string."""
    files = build(
        "dense",
        script(["Once", *(f" word{i}" for i in range(40)), '<|"|>', "."]),
        ggufs,
        drafter=Drafter(wrong_every=3),
    )
    schema = {"properties": {"path": TEXT}, "required": ["path"]}
    tool = Tool("read", parameters=schema)
    with running(files) as runner:
        grammar = call_grammar([tool], runner.pair.ready.markers)
        replies = [runner.run(ask(draft=n, grammar=grammar))[0] for n in (0, 1, 3, 6)]
        assert len({reply.tokens for reply in replies}) == 1
        call = parsed(runner, replies[0], [tool])
        assert (call.verdict, call.name) == ("ok", "read")
        assert " word7 word8" in str(call.arguments["path"])
        drafted = replies[2].end.tally
        assert 0 < drafted.accepted < drafted.drafted


def test_a_call_that_the_model_says_by_itself_is_left_as_it_is(ggufs: Path) -> None:
    pieces = ["<|tool_call>", "call:read{", "mode:", '<|"|>', "text"]
    files = build("dense", script(pieces, end="<turn|>"), ggufs)
    with running(files) as runner:
        grammar = call_grammar([READ], runner.pair.ready.markers)
        [reply] = runner.run(ask(draft=3, grammar=grammar, max_tokens=5))
        assert reply.tokens == tuple(files.ids(pieces))


def test_an_interrupted_call_goes_on_as_it_would_have(ggufs: Path) -> None:
    files = build("dense", Random(pull=15.0, ends=True), ggufs)
    with running(files, context=1024) as runner:
        markers = runner.pair.ready.markers
        sampling = Sampling(seed=5, logit_bias={markers['<|"|>']: 9.0})
        common: dict[str, Any] = {
            "sampling": sampling,
            "grammar": call_grammar([READ], markers),
            "max_tokens": 200,
            "exact": True,
        }
        [whole] = runner.run(ask(draft=3, **common))
        for cut in (1, 4, len(whole.tokens) // 2):
            [rest] = runner.run(ask(draft=3, produced=whole.tokens[:cut], **common))
            assert rest.end.tokens == whole.tokens
        [wrong] = runner.run(ask(draft=3, produced=whole.tokens[1:4], **common))
        assert wrong.failed is not None
        assert "does not allow what was already said" in wrong.failed.message


# ------------------------------------------------------------------------------ any schema


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    keys = st.sampled_from(["path", "old", "New", "n1", "a-b"])
    properties = st.dictionaries(keys, inner, max_size=4)
    return st.builds(
        lambda found, needed: {
            "type": "object",
            "properties": found,
            "required": [key for key, is_needed in zip(found, needed, strict=False) if is_needed],
        },
        properties,
        st.lists(st.sampled_from([True, True, False]), min_size=4, max_size=4),
    )


SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.sampled_from(
        [
            *({"type": kind} for kind in ("string", "integer", "number", "boolean", "null")),
            *({"type": ["integer", "null"]}, {"enum": ["a", "<", '"}', 3, None, ""]}, {}),
            *({"type": "object"}, {"type": "array"}, {"const": "x: y"}),
        ]
    ),
    lambda inner: st.one_of(
        inner.map(lambda items: {"type": "array", "items": items}),
        st.lists(inner, min_size=1, max_size=2).map(lambda choices: {"anyOf": choices}),
        objects(inner),
    ),
    max_leaves=5,
)


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(schema=objects(SCHEMAS), seed=st.integers(0, 2**32), hurry=st.sampled_from([3, 6, 9]))
def test_whatever_the_grammar_lets_through_needs_no_repair(
    model: Model, schema: dict[str, Any], seed: int, hurry: int
) -> None:
    tools = [Tool("one", parameters=schema)]
    vocabulary = model.vocabulary
    markers = vocabulary.markers
    grammar = Grammar(model, call_grammar(tools, markers))
    sampler = Sampler(Sampling(top_k=0, top_p=1.0, seed=seed), constraint=grammar)
    # Logits like a model's that is in a hurry: closing brackets and quotes come early.
    row = np.random.default_rng(seed).normal(0, 2, vocabulary.size).astype(np.float32)
    row[[markers['<|"|>'], *(vocabulary.tokenise(sign, markup=False)[0] for sign in "}],")]] += (
        hurry
    )
    reply = Reply(markers, tools)
    for index in range(1000):
        token = sampler.choose(row.copy(), index)
        if vocabulary.ends_turn(token):
            break
        sampler.accept(token)
        reply.feed(token, vocabulary.piece(token).decode("utf-8", "replace"))
    else:
        return  # A number or a text that is longer than this test has time for.
    reply.finish()
    assert [call.verdict for call in reply.calls] == ["ok"], reply.calls
    assert reply.answer == ""


# -------------------------------------------------------------------------- token by token


def said(model: Model, grammar: Grammar, *names: str) -> None:
    for name in names:
        token = model.vocabulary.find(name)
        tokens = [token] if token is not None else model.vocabulary.tokenise(name, markup=False)
        for each in tokens:
            assert grammar.allows(each), (name, each)
            grammar.accept(each)


def allowed(model: Model, grammar: Grammar) -> set[int]:
    row = np.zeros(model.vocabulary.size, np.float32)
    grammar.restrict(row)
    return set(np.flatnonzero(row == 0.0).tolist())


def test_testing_one_token_and_restricting_a_row_agree(model: Model) -> None:
    vocabulary = model.vocabulary
    grammar = Grammar(model, call_grammar(TOOLS, vocabulary.markers))
    path = ["<|tool_call>", "call:", "read", "{", "limit:", "3", ",mode:", '<|"|>', "<", '<|"|>']
    for step in [*path, ",path:", '<|"|>', "a", "}", '<|"|>', "}", "<tool_call|>"]:
        one_by_one = {token for token in range(vocabulary.size) if grammar.allows(token)}
        assert allowed(model, grammar) == one_by_one
        said(model, grammar, step)
    ends = {token for token in range(vocabulary.size) if vocabulary.ends_turn(token)}
    assert allowed(model, grammar) == ends


def test_a_marker_is_its_token_and_not_its_spelling(model: Model) -> None:
    vocabulary = model.vocabulary
    markers = vocabulary.markers
    grammar = Grammar(model, call_grammar([READ], markers))
    spelled = vocabulary.tokenise("<", markup=False)[0]
    assert allowed(model, grammar) == {markers["<|tool_call>"]}
    said(model, grammar, "<|tool_call>", "call:read{mode:", '<|"|>')
    # The option "<" begins like every marker.
    assert markers['<|"|>'] not in allowed(model, grammar)
    assert spelled in allowed(model, grammar)
    said(model, grammar, "<", '<|"|>', ",path:", '<|"|>')
    inside = allowed(model, grammar)
    assert inside & set(markers.values()) == {markers['<|"|>']}
    said(model, grammar, *'<|"|>}')
    assert markers["<tool_call|>"] not in allowed(model, grammar)
    said(model, grammar, '<|"|>', "}", "<tool_call|>")


def test_characters_that_span_tokens(model: Model) -> None:
    grammar = Grammar(model, 'root ::= "é" [日-本]')
    vocabulary = model.vocabulary
    for byte in "é日".encode():
        tokens = [t for t in range(vocabulary.size) if vocabulary.piece(t) == bytes([byte])]
        assert any(map(grammar.allows, tokens))
        grammar.accept(next(filter(grammar.allows, tokens)))
    assert all(vocabulary.ends_turn(token) for token in allowed(model, grammar))


def test_a_token_that_was_forced_from_outside_leaves_the_grammar_where_it_is(
    model: Model,
) -> None:
    markers = model.vocabulary.markers
    grammar = Grammar(model, call_grammar([READ], markers))
    before = allowed(model, grammar)
    for name in ("<channel|>", "<turn|>", "<tool_call|>", "<bos>"):
        grammar.accept(markers[name])
    grammar.accept(model.vocabulary.tokenise("hello", markup=False)[0])
    assert allowed(model, grammar) == before


def test_where_nothing_may_come_the_turn_may_end(model: Model) -> None:
    grammar = Grammar(model, 'root ::= "a" [b]')
    grammar.accept(model.vocabulary.tokenise("a", markup=False)[0])
    row = np.full(model.vocabulary.size, -np.inf, np.float32)
    ends = [t for t in range(model.vocabulary.size) if model.vocabulary.ends_turn(t)]
    row[ends] = 1.0
    grammar.restrict(row)
    assert set(np.flatnonzero(row == 1.0).tolist()) == set(ends)


@pytest.mark.parametrize("grammar", ["root ::= .*", "root ::= [^a]*", 'root ::= .* "x"?'])
def test_markers_do_not_pass_as_any_character(model: Model, grammar: str) -> None:
    markers = set(model.vocabulary.markers.values())
    found = allowed(model, Grammar(model, grammar)) & markers
    assert all(model.vocabulary.ends_turn(token) for token in found)
    quote = model.vocabulary.markers['<|"|>']
    named = Grammar(model, grammar + f" <[{quote}]>")
    assert allowed(model, named) & markers == {quote}


# ------------------------------------------------------------------------------ bad grammars

BAD = {
    "": "no rule 'root'",
    "start ::= [a]": "no rule 'root'",
    "root ::= other": "no rule 'other'",
    "root ::= [a": "cannot be read in line 1",
    'root ::= "a': "cannot be read in line 1",
    'root ::= "a"\nroot := "b"': "cannot be read in line 2",
    "root = [a]": "cannot be read in line 1",
    'root ::= ("a"': "ends in the middle of a rule",
    'root ::= "a")': "')' out of place in line 1",
    "root ::= *": "'*' out of place in line 1",
    'root ::= "" *': "'*' out of place",
    "root ::= a | \n": "no rule 'a'",
    'root ::= "a"{3,1}': "{3,1} in line 1",
    'root ::= "a"{5,0}': "{5,0} in line 1",
    'root ::= "a"{1000000}': "{1000000} in line 1",
    "root ::= " + "(" * 5000 + '"a"' + ")" * 5000: "more than 50 brackets",
    'root ::= root "a" | "b"': "rule 'root' can begin with itself",
    'root ::= other "a"\nother ::= root | "b"': "can begin with itself",
    'root ::= empty root "z" | "q"\nempty ::= a b\na ::= "x"?\nb ::= "y"?': "begin with itself",
    'root ::= ("a"?)* "b"': "repeats something that can be empty",
    "root ::= <[99999999]>": "token 99999999, which does not exist",
    "root ::= <think>": "cannot be read in line 1",
    'root ::= "\\q"': "llama.cpp cannot use the grammar",
    "\n".join(f"r{i} ::= r{i + 1} | r{i + 1}" for i in range(60))
    + '\nr60 ::= "a"\nroot ::= r0': "too many ways",
    "root ::= " + " ".join(f"<[{i}]>" for i in range(40)): "more tokens than",
    'root ::= "' + "a" * (1 << 20) + '"': "characters and may have",
}


@pytest.mark.parametrize("text", BAD, ids=lambda text: text[:30])
def test_a_bad_grammar_is_refused_with_a_sentence(model: Model, text: str) -> None:
    with pytest.raises(BadGrammar) as refused:
        Grammar(model, text)
    assert BAD[text] in str(refused.value)
    assert len(str(refused.value)) < 200


def test_a_bad_grammar_fails_its_request_alone(ggufs: Path) -> None:
    files = build("dense", script(["Yes", "."]), ggufs)
    with running(files) as runner:
        for text in ("root ::= (", 'root ::= "\\q"', 'root ::= "a"{2,1}'):
            bad, good = runner.run(ask("bad", grammar=text), ask("good"))
            assert bad.failed is not None and "grammar" in bad.failed.message
            assert good.text == "Yes."


@settings(max_examples=150, deadline=None)
@given(
    text=st.lists(
        st.sampled_from(
            [
                *("root", " ::= ", "a", "|", "(", ")", "[a-z]", "[^b]", '"x"', '""', "*", "+"),
                *("?", "{2}", "{0,3}", "{3,}", "\n", ".", "<[5]>", "!<[5]>", "# note\n", " "),
            ]
        ),
        max_size=14,
    ).map("".join)
)
def test_what_is_not_refused_can_be_used(model: Model, text: str) -> None:
    try:
        grammar = Grammar(model, "root ::= one\none ::= " + text)
    except BadGrammar:
        return
    sampler = Sampler(Sampling(seed=1), constraint=grammar)
    row = np.random.default_rng(1).normal(0, 2, model.vocabulary.size).astype(np.float32)
    for index in range(12):
        token = sampler.choose(row.copy(), index)
        assert grammar.allows(token) or model.vocabulary.ends_turn(token)
        sampler.accept(token)


def test_the_rules_of_the_own_grammars_are_read_whole() -> None:
    grammar = call_grammar(TOOLS, {"<|tool_call>": 48, "<tool_call|>": 49, '<|"|>': 52})
    read = Gbnf(grammar)
    assert read.tokens == {48, 49, 52}
    assert read.with_stand_ins({48: "\x01", 49: "\x02", 52: "\x03"}) == (
        grammar.replace("!<[52]>", "[^\\x01\\x02\\x03]")
        .replace("<[48]>", '"\\x01"')
        .replace("<[49]>", '"\\x02"')
        .replace("<[52]>", '"\\x03"')
    )
