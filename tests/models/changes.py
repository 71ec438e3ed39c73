"""Changes that tests make to the tiny models before they are written and inspected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from gemma_local.models.drafter import DrafterFacts, inspect_drafter
from gemma_local.models.target import TargetFacts, inspect_target
from tests.models.gguf_bytes import Gguf, Tensor
from tests.models.tiny_models import tiny_drafter, tiny_target, write

Change = Callable[[Gguf], None]


def keys(**values: object) -> Change:
    """Set keys of the architecture; ``__`` stands for a dot."""

    def change(model: Gguf) -> None:
        prefix = model.metadata["general.architecture"]
        for key, value in values.items():
            model.metadata[f"{prefix}.{key.replace('__', '.')}"] = value

    return change


def other(**values: object) -> Change:
    """Set keys outside the architecture; ``__`` stands for a dot."""

    def change(model: Gguf) -> None:
        model.metadata |= {key.replace("__", "."): value for key, value in values.items()}

    return change


def without(*names: str) -> Change:
    """Leave out keys (short or complete) and tensors."""

    def change(model: Gguf) -> None:
        prefix = model.metadata["general.architecture"]
        for name in names:
            for key in (name, f"{prefix}.{name}"):
                model.metadata.pop(key, None)
            model.tensors.pop(name, None)

    return change


def tensor(name: str, shape: Sequence[int], type_id: int = 0) -> Change:
    """Put a tensor in place."""

    def change(model: Gguf) -> None:
        model.tensors[name] = Tensor(shape, type_id)

    return change


def renamed(architecture: str, **values: object) -> Change:
    """Give the file another architecture, its keys included."""

    def change(model: Gguf) -> None:
        old = model.metadata["general.architecture"]
        model.metadata = {
            f"{architecture}.{key.removeprefix(f'{old}.')}" if key.startswith(f"{old}.") else key: v
            for key, v in model.metadata.items()
        } | {"general.architecture": architecture}
        keys(**values)(model)

    return change


def target_at(path: Path, *changes: Change, model: Gguf | None = None) -> TargetFacts:
    """Write a changed target (`tiny_target` unless given) and inspect it."""
    model = model or tiny_target()
    for change in changes:
        change(model)
    return inspect_target(write(path, model))


def drafter_at(path: Path, *changes: Change) -> DrafterFacts:
    """Write a changed `tiny_drafter` and inspect it."""
    model = tiny_drafter()
    for change in changes:
        change(model)
    return inspect_drafter(write(path, model))


def check_sentence(text: str, path: Path, phrase: str) -> None:
    """A refusal says what is wrong, about which file, in whole sentences on one line."""
    assert phrase in text
    assert str(path) in text
    assert "\n" not in text
    assert text.endswith(".")
