"""A model that goes on step by step: each time that it is asked it says what comes next.

A script begins anew after every prompt that ends alike, so it cannot say one thing after the first
result of a tool and another after the second. Here the model knows how many of its steps are in the
context: the last token of each step is like no other, and a layer of full attention looks for the
one of the highest number. What follows a token is then decided by the step, the token and, where
that is not enough, the token before it::

    steps = Steps.of([call("read", path="a.py")], [call("run", command="pytest")], ["All is well."])
    pair = build("dense", steps, folder)

After its last step it says that again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final

import numpy as np

from tests.ggufs.architecture import Shape
from tests.ggufs.chain import FLOOR, OTHER, PEAK, Chain
from tests.ggufs.quantise import Matrix
from tests.ggufs.scripted import LOOK_BACK, aligned
from tests.ggufs.vocabulary import Vocabulary
from tests.ggufs.weights import codes, duals

_QUOTE: Final = '<|"|>'
_UNIT: Final = (PEAK - FLOOR) / 5
"""Logits are added up of these: what comes next gets five, and everything else four at most."""
_STARTS: Final = (OTHER, "\n", "<tool_response|>")
_STEP_GAP: Final = 33.0
"""Score by which a later step wins over the one before it, in a context of some thousand tokens."""
FULL_LAYER: Final = 2


@dataclass(frozen=True)
class Call:
    """A call that the model writes."""

    name: str
    arguments: Mapping[str, object]


def call(name: str, /, **arguments: object) -> Call:
    """A call with these arguments: texts, numbers, booleans, lists of texts, one of several
    texts."""
    return Call(name, arguments)


@dataclass(frozen=True)
class Either:
    """One of several texts, all as likely; which is the sampler's choice."""

    texts: tuple[str, ...]


def either(*texts: str) -> Either:
    """One of these texts, whichever the seed brings."""
    return Either(texts)


@dataclass(frozen=True)
class Steps:
    """The tokens of each step by name, the one that ends it included; more than one where any of
    them may come."""

    steps: tuple[tuple[tuple[str, ...], ...], ...]

    @classmethod
    def of(cls, *steps: Sequence[str | Either | Call]) -> Steps:
        """Each step is texts and calls in order, a text being one token. A step with calls waits
        for their results, one without ends the turn."""
        writer = _Writer()
        return cls(tuple(tuple(writer.step(step)) for step in steps))

    def __post_init__(self) -> None:
        marks = self.marks
        if len(set(marks)) < len(marks):
            raise ValueError("two steps end in the same text: say something else in one of them")
        wanted: dict[tuple[str, str, int], set[str]] = defaultdict(set)
        for before, last, done, following in self._moments():
            wanted[before, last, done].add(following)
        for (before, last, done), expected in wanted.items():
            found = self._greedy(done, before, last)
            if found != expected:
                raise ValueError(
                    f"in step {done + 1}, after {before!r} {last!r}, {sorted(found)} would come in "
                    f"place of {sorted(expected)}: say one of them in other words"
                )

    @property
    def names(self) -> set[str]:
        """Every token that is said."""
        return {token for step in self.steps for tokens in step for token in tokens}

    @property
    def marks(self) -> list[str]:
        """By which token each step is known to be over."""
        return [_mark(step) for step in self.steps]

    @cached_property
    def states(self) -> list[str]:
        """Tokens that behave in a way of their own, OTHER first."""
        return [OTHER, *sorted(self.names | set(_STARTS[1:]))]

    @cached_property
    def contexts(self) -> list[str]:
        """Tokens to remember when they were the one before, OTHER first."""
        found = {before for before, last, _, _ in self._moments() if self._is_open(last)}
        return [OTHER, *sorted(found - {OTHER})]

    @cached_property
    def followers(self) -> dict[str, set[str]]:
        """What may follow a token at all."""
        found: dict[str, set[str]] = defaultdict(set)
        for _, last, _, following in self._moments():
            found[last].add(following)
        return found

    def levels(self, last: str) -> dict[str, float]:
        """What the last token adds above the floor."""
        units = 2 if self._is_open(last) else 3 if last in _STARTS else 5
        return dict.fromkeys(self.followers.get(last, self.followers[OTHER]), units * _UNIT)

    def memory(self, before: str) -> dict[str, float]:
        """What the token before adds."""
        return {
            following: 2 * _UNIT
            for context, last, _, following in self._moments()
            if context == before and self._is_open(last)
        }

    def bonus(self, done: int) -> dict[str, float]:
        """What it adds that so many steps are done."""
        moments = [moment for moment in self._moments() if moment[2] == done]
        found = {following: _UNIT for _, last, _, following in moments if self._is_open(last)}
        return found | {
            following: 2 * _UNIT for _, last, _, following in moments if last in _STARTS
        }

    def drafter_chain(self) -> Chain:
        """What a drafter proposes that knows nothing but the last token."""
        last = {
            token: {min(following): PEAK} for token, following in sorted(self.followers.items())
        }
        return Chain(last)

    def _is_open(self, last: str) -> bool:
        """Whether the token before has a say."""
        return last not in _STARTS and len(self.followers[last]) > 1

    def _moments(self) -> Iterator[tuple[str, str, int, str]]:
        """(token before, last token, steps done, what follows), all that there are."""
        for number, step in enumerate((*self.steps, self.steps[-1])):
            for start in _STARTS:
                for token in step[0]:
                    yield OTHER, start, number, token
            befores: tuple[str, ...] = (OTHER,)
            done, lasts = number, step[0]
            for tokens in step[1:]:
                if number < len(self.steps) and lasts == (_mark(step),):
                    done = number + 1
                for before, last, token in product(befores, lasts, tokens):
                    yield before, last, done, token
                befores, lasts = lasts, tokens

    def _greedy(self, done: int, before: str, last: str) -> set[str]:
        """What is likeliest, all of it."""
        scores: dict[str, float] = defaultdict(float)
        for part in (self.levels(last), self.memory(before), self.bonus(done)):
            for token, level in part.items():
                scores[token] += level
        best = max(scores.values())
        return {token for token, score in scores.items() if score > best - _UNIT / 2}


def _mark(step: Sequence[tuple[str, ...]]) -> str:
    [mark] = step[-3] if step[-1] == ("<|tool_response>",) else step[-2]
    return mark


class _Writer:
    """Writes steps so that no two moments look alike: blanks that mean nothing, and cuts in
    values, tell them apart."""

    def __init__(self) -> None:
        self._blanks = (
            "".join(blank) for length in range(2, 12) for blank in product(" \n", repeat=length)
        )
        self._said: set[str] = set()

    def step(self, parts: Sequence[str | Either | Call]) -> Iterator[tuple[str, ...]]:
        self._said = set()
        calls = 0
        for part in parts:
            if isinstance(part, str):
                yield (self._new(part),)
                continue
            if isinstance(part, Either):
                yield tuple(map(self._new, part.texts))
                continue
            calls += 1
            if calls > 2:
                # One call right behind another is like the next such pair.
                yield (self._new(next(self._blanks)),)
            for tokens in self._call(part):
                yield (tokens,) if isinstance(tokens, str) else tokens
        yield ("<|tool_response>" if isinstance(parts[-1], Call) else "<turn|>",)

    def _call(self, called: Call) -> Iterator[str | tuple[str, ...]]:
        yield "<|tool_call>"
        text = f"call:{called.name}{{"
        for index, (key, value) in enumerate(sorted(called.arguments.items())):
            text += f"{',' if index else ''}{next(self._blanks)}{key}:"
            for piece in _written(value):
                match piece:
                    case _Bare(","):
                        text += f",{next(self._blanks)}"
                    case _Bare():
                        text += piece
                    case _:
                        yield self._new(text)
                        text = ""
                        yield from (_QUOTE, *self._value(piece), _QUOTE)
        yield self._new(f"{text}{next(self._blanks)}}}")
        yield "<tool_call|>"

    def _value(self, value: str | Either) -> list[str | tuple[str, ...]]:
        """The value in one piece or two that were not said before in this step."""
        if isinstance(value, Either):
            return [tuple(map(self._new, value.texts))]
        if not value:
            return []
        for cut in (0, *range(len(value) - 1, 0, -1)):
            pieces = [piece for piece in (value[:cut], value[cut:]) if piece]
            if self._said.isdisjoint(pieces):
                self._said.update(pieces)
                return [*pieces]
        raise ValueError(f"{value!r} comes too often in one step")

    def _new(self, piece: str) -> str:
        if piece in self._said:
            raise ValueError(f"{piece!r} comes twice in one step")
        self._said.add(piece)
        return piece


class _Bare(str):
    """A piece of a value that stands between no quote tokens."""

    __slots__ = ()


def _written(value: object) -> Iterator[str | Either]:
    """A value as pieces."""
    match value:
        case str() | Either():
            yield value
        case bool():
            yield _Bare("true" if value else "false")
        case list():
            yield _Bare("[")
            for index, item in enumerate(value):
                if index:
                    yield _Bare(",")
                yield from _written(item)
            yield _Bare("]")
        case _:
            yield _Bare(value)


@dataclass(frozen=True)
class _Space:
    """Codes of width D for a constant, tokens, tokens before, and steps done."""

    constant: Matrix
    states: Matrix
    contexts: Matrix
    steps: Matrix
    basis: Matrix


def codes_needed(spec: Steps) -> int:
    """How many orthogonal codes the model uses."""
    return 2 + len(spec.states) + len(spec.contexts) + len(spec.steps)


def target_weights(spec: Steps, shape: Shape, vocabulary: Vocabulary) -> dict[str, Matrix]:
    """The tensors of the target that are not neutral."""
    s, c, width = len(spec.states), len(spec.contexts), shape.width
    table = codes(codes_needed(spec), width)
    form = _Space(table[0], table[1 : 1 + s], table[1 + s :][:c], table[1 + s + c :], duals(table))
    embedding = np.tile(1 + form.states[0], (len(vocabulary), 1))
    for index, name in enumerate(spec.states[1:], start=1):
        embedding[vocabulary.id(name)] = 1 + form.states[index]
    return {
        "token_embd.weight": embedding,
        "output.weight": _head(spec, form, vocabulary),
        **_look_back(spec, form, shape),
        **_look_for_steps(spec, form, shape),
    }


def _head(spec: Steps, form: _Space, vocabulary: Vocabulary) -> Matrix:
    """[V, D] output rows."""
    levels = np.zeros((len(vocabulary), len(form.basis)), np.float32)
    levels[:, 0] = FLOOR
    parts = [spec.levels(name) for name in spec.states]
    parts += [spec.memory(name) for name in spec.contexts]
    parts += [spec.bonus(done) for done in range(len(spec.steps) + 1)]
    for column, part in enumerate(parts, start=1):
        for name, level in part.items():
            levels[vocabulary.id(name), column] = level
    # The four codes together have an RMS of 2, which the last norm takes away.
    return np.asarray(levels @ (form.basis * 2.0), np.float32)


def _look_back(spec: Steps, form: _Space, shape: Shape) -> dict[str, Matrix]:
    """Layer 0 adds a code for the token before."""
    size = shape.head_dim_sliding
    places = {name: index for index, name in enumerate(spec.contexts)}
    query, key, gap = aligned(size, shape.window)
    constant = np.sqrt(2) * form.basis[0]
    marks = codes(len(spec.contexts), size)
    of_states = form.basis[1 : 1 + len(spec.states)]
    index = [places.get(name, 0) for name in spec.states]
    return {
        "blk.0.attn_q.weight": np.tile(np.outer(query, constant), (shape.heads, 1)),
        "blk.0.attn_k.weight": np.tile(np.outer(key, constant), (shape.kv_heads_sliding, 1)),
        "blk.0.attn_v.weight": np.tile(
            np.sqrt(2) * marks[index].T @ of_states, (shape.kv_heads_sliding, 1)
        ),
        "blk.0.attn_output.weight": _output(form.contexts, marks, shape, size),
        **_norms(0, shape, np.full(size, np.sqrt(LOOK_BACK / gap), np.float32)),
    }


def _look_for_steps(spec: Steps, form: _Space, shape: Shape) -> dict[str, Matrix]:
    """A layer of full attention adds a code for the last step that is over, wherever its end is.

    All queries point one way. The key of a step's mark is turned towards it the more the later the
    step is, and that of all other tokens points away; both in dimensions that do not rotate.
    """
    size, count = shape.head_dim_full, len(spec.steps)
    towards, aside = size // 2 - 1, size // 2 - 2
    places = {name: index for index, name in enumerate(spec.marks, start=1)}
    of_states = form.basis[1 : 1 + len(spec.states)]
    query, key = np.zeros((size, shape.width)), np.zeros((size, shape.width))
    query[towards] = form.basis[0]
    key[towards] = -form.basis[0]
    index = [places.get(name, 0) for name in spec.states]
    for state, place in enumerate(index):
        cosine = 2 * place / count - 1
        key[towards] += (cosine + 1) * of_states[state]
        key[aside] += np.sqrt(1 - cosine**2) * of_states[state]
    marks = codes(count + 1, size)
    strength = np.sqrt(_STEP_GAP * count / 2 / size)
    layer = f"blk.{FULL_LAYER}"
    return {
        f"{layer}.attn_q.weight": np.tile(query, (shape.heads, 1)),
        f"{layer}.attn_k.weight": np.tile(key, (shape.kv_heads_full, 1)),
        f"{layer}.attn_v.weight": np.tile(marks[index].T @ of_states, (shape.kv_heads_full, 1)),
        f"{layer}.attn_output.weight": _output(form.steps, marks, shape, size),
        **_norms(FULL_LAYER, shape, np.full(size, strength, np.float32)),
    }


def _output(added: Matrix, marks: Matrix, shape: Shape, size: int) -> Matrix:
    """[D, heads * size]: the code that each mark in the first head stands for."""
    if len(marks) > size:
        raise ValueError(f"{len(marks)} marks do not fit into a head of {size}")
    output = np.zeros((shape.width, shape.heads * size), np.float32)
    output[:, :size] = added.T @ duals(marks)
    return output


def _norms(layer: int, shape: Shape, head: Matrix) -> dict[str, Matrix]:
    # The residual stream is the embedding times sqrt(D).
    post = np.full(shape.width, np.sqrt(shape.width), np.float32)
    return {
        f"blk.{layer}.attn_q_norm.weight": head,
        f"blk.{layer}.attn_k_norm.weight": head,
        f"blk.{layer}.post_attention_norm.weight": post,
    }
