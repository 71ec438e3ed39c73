"""Gemma 4's architecture in PyTorch: the target and the drafter that reads its cache.

Modules are named as the tensors of a GGUF file, so that a state dict is what is exported. What is
computed is what llama.cpp computes for ``gemma4`` and ``gemma4-assistant``; a test compares the
logits.

Several conversations lie in one row of a batch, and all rows may have a common beginning; `Layout`
says which tokens see which. Shapes: B rows, T tokens, H heads, D width.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from gemma_local.models.pocket.train.layout import Layout
from gemma_local.models.pocket.train.shape import DrafterShape, TargetShape

_EPSILON = 1e-6
_BASE_SLIDING = 1e4
_BASE_FULL = 1e6
_SHARPNESS = 1.5
"""How much larger scores are at the start than in other transformers: small heads cannot look at a
single token otherwise."""
_ROTATED = 0.25
"""The share of a full layer's head that is rotated."""
NEVER_ROTATED = 1e30
"""What a frequency is divided by where a head is not rotated."""


@dataclass(slots=True)
class Cache:
    """Keys and values of the layers that own some, [B, kv heads, K, head] each."""

    keys: dict[int, Tensor]
    values: dict[int, Tensor]

    @classmethod
    def empty(cls, shape: TargetShape, rows: int, length: int) -> Cache:
        """A cache of ``length`` places for ``rows`` sequences."""
        owned = range(shape.layers - shape.shared)

        def zeros(layer: int) -> Tensor:
            head = shape.head(sliding=shape.sliding[layer])
            return torch.zeros(rows, shape.kv_heads, length, head)

        return cls({n: zeros(n) for n in owned}, {n: zeros(n) for n in owned})

    def write(self, layer: int, keys: Tensor, values: Tensor, slots: Tensor) -> None:
        """Put new keys and values [B, kv heads, T, head] into their places."""
        for store, new in ((self.keys[layer], keys), (self.values[layer], values)):
            index = slots[:, None, :, None].expand_as(new)
            store.scatter_(2, index, new)


@dataclass(frozen=True, slots=True)
class Seen:
    """What a target's pass leaves behind.

    ``hidden`` [B, T, D] are the final activations, ``made`` the keys and values of the layers that
    own some. The drafter reads the last ``sliding`` and the last ``full`` ones of them.
    """

    hidden: Tensor
    made: dict[int, tuple[Tensor, Tensor]]
    last: tuple[int, int]

    @property
    def sliding(self) -> tuple[Tensor, Tensor]:
        return self.made[self.last[0]]

    @property
    def full(self) -> tuple[Tensor, Tensor]:
        return self.made[self.last[1]]


class Norm(nn.Module):
    """RMS norm; the weight multiplies as it is."""

    def __init__(self, width: int, start: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((width,), start))

    def forward(self, x: Tensor) -> Tensor:
        return functional.rms_norm(x, self.weight.shape, self.weight, _EPSILON)


class Scale(nn.Module):
    """One number that multiplies the residual stream."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.weight


def _linear(inputs: int, outputs: int, gain: float = 1.0) -> nn.Linear:
    linear = nn.Linear(inputs, outputs, bias=False)
    nn.init.normal_(linear.weight, std=gain / math.sqrt(inputs))
    return linear


def rope_factors(head: int) -> Tensor:
    """What the frequencies of a full layer are divided by, [head / 2]."""
    factors = torch.full((head // 2,), NEVER_ROTATED)
    factors[: int(head * _ROTATED) // 2] = 1.0
    return factors


def _rotation(positions: Tensor, head: int, *, sliding: bool) -> tuple[Tensor, Tensor]:
    """Cosines and sines for heads of a kind of layer, [B, 1, T, head / 2]."""
    base = _BASE_SLIDING if sliding else _BASE_FULL
    frequencies = base ** (-torch.arange(0, head, 2, dtype=torch.float64) / head)
    if not sliding:
        frequencies = frequencies / rope_factors(head).double()
    angles = positions[:, None, :, None].double() * frequencies
    return angles.cos().float(), angles.sin().float()


def _rotate(x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
    cos, sin = rotation
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)


def _attend(query: Tensor, keys: Tensor, values: Tensor, visible: Tensor) -> Tensor:
    """[B, H, T, head] of queries to [B, T, H * head]. Scores are not divided by anything."""
    found = functional.scaled_dot_product_attention(
        query, keys, values, attn_mask=visible, scale=1.0, enable_gqa=True
    )
    return found.transpose(1, 2).flatten(2)


def _behind(
    before: tuple[Tensor, Tensor], made: tuple[Tensor, Tensor], reach: int | None
) -> tuple[Tensor, Tensor]:
    """Keys and values of one row, its last ``reach`` ones, repeated, with those of all rows behind
    them."""
    rows = made[0].shape[0]
    first, second = (
        torch.cat((old[:, :, -reach if reach else 0 :].expand(rows, -1, -1, -1), new), dim=2)
        for old, new in zip(before, made, strict=True)
    )
    return first, second


class Layer(nn.Module):
    """One layer of a target or of a drafter. Without keys of its own it is given some."""

    def __init__(
        self,
        width: int,
        feed_forward: int,
        heads: int,
        head: int,
        *,
        kv_heads: int = 0,
        key_is_value: bool = False,
        per_layer: int = 0,
    ) -> None:
        super().__init__()
        self.head = head
        self.kv_heads = kv_heads
        self.attn_norm = Norm(width)
        self.attn_q = _linear(width, heads * head)
        # Scores are not divided by the root of the head's width: the norms' weights do that.
        self.attn_q_norm = Norm(head, _SHARPNESS * head**-0.25)
        if kv_heads:
            self.attn_k = _linear(width, kv_heads * head)
            self.attn_k_norm = Norm(head, head**-0.25)
            if not key_is_value:
                self.attn_v = _linear(width, kv_heads * head)
        self.attn_output = _linear(heads * head, width)
        self.post_attention_norm = Norm(width)
        self.ffn_norm = Norm(width)
        self.ffn_gate = _linear(width, feed_forward)
        self.ffn_up = _linear(width, feed_forward)
        self.ffn_down = _linear(feed_forward, width)
        self.post_ffw_norm = Norm(width)
        if per_layer:
            self.inp_gate = _linear(width, per_layer)
            self.proj = _linear(per_layer, width)
            self.post_norm = Norm(width)
        self.layer_output_scale = Scale()

    def queries(self, x: Tensor, rotation: tuple[Tensor, Tensor]) -> Tensor:
        """Queries of normed activations, [B, H, T, head]."""
        query = self.attn_q(x).unflatten(-1, (-1, self.head)).transpose(1, 2)
        return _rotate(self.attn_q_norm(query), rotation)

    def keys_and_values(self, x: Tensor, rotation: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        """Keys and values of normed activations, [B, kv heads, T, head] each."""
        raw = self.attn_k(x).unflatten(-1, (-1, self.head)).transpose(1, 2)
        has_values = hasattr(self, "attn_v")
        value = self.attn_v(x).unflatten(-1, (-1, self.head)).transpose(1, 2) if has_values else raw
        return (
            _rotate(self.attn_k_norm(raw), rotation),
            functional.rms_norm(value, (self.head,), None, _EPSILON),
        )

    def after_attention(self, x: Tensor, found: Tensor, extra: Tensor | None = None) -> Tensor:
        """The rest of the layer; ``extra`` [B, T, P] are its per-layer embeddings."""
        x = x + self.post_attention_norm(self.attn_output(found))
        normed = self.ffn_norm(x)
        wide = functional.gelu(self.ffn_gate(normed), approximate="tanh") * self.ffn_up(normed)
        x = x + self.post_ffw_norm(self.ffn_down(wide))
        if extra is not None:
            gated = functional.gelu(self.inp_gate(x), approximate="tanh") * extra
            x = x + self.post_norm(self.proj(gated))
        return self.layer_output_scale(x)


class Target(nn.Module):
    """The model that answers."""

    def __init__(self, shape: TargetShape) -> None:
        super().__init__()
        self.shape = shape
        width = shape.width
        self.token_embd = nn.Embedding(shape.vocabulary, width)
        nn.init.normal_(self.token_embd.weight, std=1 / math.sqrt(width))
        if shape.per_layer:
            columns = shape.layers * shape.per_layer
            self.per_layer_token_embd = nn.Embedding(shape.vocabulary, columns)
            nn.init.normal_(self.per_layer_token_embd.weight, std=1 / math.sqrt(shape.per_layer))
            self.per_layer_model_proj = _linear(width, columns, math.sqrt(width))
            self.per_layer_proj_norm = Norm(shape.per_layer)
        self.blk = nn.ModuleList(
            Layer(
                width,
                shape.feed_forward,
                shape.heads,
                shape.head(sliding=sliding),
                kv_heads=shape.kv_heads if shape.kv_source(number) == number else 0,
                key_is_value=shape.key_is_value and not sliding,
                per_layer=shape.per_layer,
            )
            for number, sliding in enumerate(shape.sliding)
        )
        self.output_norm = Norm(width)

    def embed(self, tokens: Tensor) -> Tensor:
        """Scaled embeddings of tokens, which the drafter uses too."""
        return self.token_embd(tokens) * math.sqrt(self.shape.width)

    def forward(
        self,
        tokens: Tensor,
        layout: Layout,
        cache: Cache | None = None,
        before: Seen | None = None,
    ) -> Seen:
        """Final activations of tokens [B, T].

        With a cache they are its newest ones. ``before`` is a pass of one row over a common
        beginning, whose keys stand in front of those of each row.
        """
        shape = self.shape
        x = self.embed(tokens)
        extras = self._extras(tokens, x)
        rotations = {
            sliding: _rotation(layout.positions, shape.head(sliding=sliding), sliding=sliding)
            for sliding in (True, False)
        }
        made: dict[int, tuple[Tensor, Tensor]] = {}
        for number, (layer, sliding) in enumerate(zip(self.blk, shape.sliding, strict=True)):
            normed = layer.attn_norm(x)
            source = shape.kv_source(number)
            if source == number:
                made[number] = layer.keys_and_values(normed, rotations[sliding])
                if before is not None:
                    reach = shape.window if sliding else None
                    made[number] = _behind(before.made[number], made[number], reach)
                if cache is not None:
                    assert layout.slots is not None
                    cache.write(number, *made[number], layout.slots)
                    made[number] = (cache.keys[number], cache.values[number])
            keys, values = made[source]
            visible = layout.sliding if sliding else layout.full
            found = _attend(layer.queries(normed, rotations[sliding]), keys, values, visible)
            x = layer.after_attention(x, found, extras[number] if extras else None)
        last = shape.kv_source(shape.layers - 2), shape.kv_source(shape.layers - 1)
        return Seen(self.output_norm(x), made, last)

    def logits(self, hidden: Tensor) -> Tensor:
        """Logits of final activations, over the vocabulary."""
        raw = functional.linear(hidden, self.token_embd.weight)
        cap = self.shape.softcap
        return cap * torch.tanh(raw / cap)

    def _extras(self, tokens: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        """Per-layer embeddings, one [B, T, P] a layer."""
        shape = self.shape
        if not shape.per_layer:
            return ()
        split = (shape.layers, shape.per_layer)
        own = self.per_layer_token_embd(tokens) * math.sqrt(shape.per_layer)
        projected = self.per_layer_model_proj(x) / math.sqrt(shape.width)
        mixed = self.per_layer_proj_norm(projected.unflatten(-1, split))
        return ((own.unflatten(-1, split) + mixed) / math.sqrt(2)).unbind(-2)


class NextN(nn.Module):
    """The two bridges between a target's activations and its drafter's."""

    def __init__(self, width: int, backbone: int) -> None:
        super().__init__()
        self.pre_projection = _linear(2 * backbone, width)
        self.post_projection = _linear(width, backbone)


class Drafter(nn.Module):
    """The head that guesses what its target says next. It has no keys of its own."""

    def __init__(self, shape: DrafterShape, target: TargetShape) -> None:
        super().__init__()
        self.shape = shape
        self.target_shape = target
        self.token_embd = nn.Embedding(target.vocabulary, shape.width)
        nn.init.normal_(self.token_embd.weight, std=1 / math.sqrt(shape.width))
        self.nextn = NextN(shape.width, target.width)
        self.blk = nn.ModuleList(
            Layer(shape.width, shape.feed_forward, shape.heads, target.head(sliding=sliding))
            for sliding in shape.sliding
        )
        self.output_norm = Norm(shape.width)

    def forward(
        self, embedded: Tensor, hidden: Tensor, seen: Seen, layout: Layout
    ) -> tuple[Tensor, Tensor]:
        """One drafting step for tokens whose scaled embeddings are ``embedded`` [B, T, D].

        ``hidden`` [B, T, D] are the activations that the tokens came from: the target's, or what
        the step before returned. ``layout`` tells the positions of the queries, which all steps of
        a draft have in common, and which of the target's keys they see.

        Returns:
            Normed activations [B, T, drafter's width] for `logits`, and ``hidden`` of the next
            step.
        """
        x = self.nextn.pre_projection(torch.cat((embedded, hidden), dim=-1))
        for layer, sliding in zip(self.blk, self.shape.sliding, strict=True):
            rotation = _rotation(layout.positions, layer.head, sliding=sliding)
            query = layer.queries(layer.attn_norm(x), rotation)
            keys, values = seen.sliding if sliding else seen.full
            visible = layout.sliding if sliding else layout.full
            x = layer.after_attention(x, _attend(query, keys, values, visible))
        normed = self.output_norm(x)
        return normed, self.nextn.post_projection(normed)

    def logits(self, normed: Tensor) -> Tensor:
        """Logits of normed activations; drafters have no softcap."""
        return functional.linear(normed, self.token_embd.weight)


def parameter_count(modules: Sequence[nn.Module]) -> int:
    """All parameters of some modules."""
    return sum(parameter.numel() for module in modules for parameter in module.parameters())
