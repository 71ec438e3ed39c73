"""Finds what nothing uses, and files that have grown too long: ``python packaging/leftovers.py``.

With ``--tests`` it also tells what nothing but tests use.

A function, method, class or constant counts as used where its name stands in any other place: as a
name, as an attribute, or as a word of a string, since Textual finds actions by those. So what it
finds is really left over; of two that share a name it finds neither.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LONGEST: Final = 400
"""Lines of a file, at most."""
ROOMS: Final = ("app", "engine", "models")
CALLED_BY_NAME: Final = ("__", "on_", "_on_", "action_", "watch_", "validate_", "visit_")
"""Beginnings of the names that Python, Textual and the standard library look for."""
QUIET: Final = frozenset(
    {"property", "cached_property", "cache", "staticmethod", "classmethod", "dataclass"}
    | {"contextmanager", "asynccontextmanager", "final", "override", "abstractmethod"}
)
"""Decorators that do not hand what they decorate to anybody."""


@dataclass(frozen=True)
class Definition:
    """Something that has a name. ``owner`` is the class of a method."""

    name: str
    owner: str
    file: Path
    node: ast.stmt


def definitions(file: Path, tree: ast.Module) -> Iterator[Definition]:
    """What a module defines at its top, and the methods of its classes."""
    for node in tree.body:
        for name in _names_of(node):
            yield Definition(name, "", file, node)
        if isinstance(node, ast.ClassDef):
            for inner in node.body:
                if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield Definition(inner.name, node.name, file, inner)


def _names_of(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.AnnAssign(target=ast.Name(id=name)):
            return [name]
        case ast.Assign():
            return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def uses(tree: ast.AST) -> Counter[str]:
    """How often each name is used: what defines or only imports it does not count."""
    found: Counter[str] = Counter()
    documentation: set[ast.expr] = set()
    # Wider before deeper: a docstring's statement comes before its text.
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as text):
                documentation.add(text)
            case ast.Name(id=name, ctx=ast.Load()):
                found[name] += 1
            case ast.Attribute(attr=name):
                found[name] += 1
            case ast.alias(name=name, asname=str(other)) if other != name:
                found[name.rpartition(".")[2]] += 1
            case ast.Constant(value=str(words)) if node not in documentation:
                found.update(_words(words))
    return found


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


def is_called_by_others(found: Definition, root: Path) -> bool:
    """Whether a library calls it: by its name, by a decorator, or as a method of the library's."""
    if found.name.startswith(CALLED_BY_NAME) or found.name == "__all__":
        return True
    for decorator in getattr(found.node, "decorator_list", []):
        name = decorator.func if isinstance(decorator, ast.Call) else decorator
        if ast.unparse(name).rpartition(".")[2] not in QUIET:
            return True
    return bool(found.owner) and _overrides(found, root)


def _overrides(found: Definition, root: Path) -> bool:
    """Whether a class of a library has a method of this name too."""
    place = found.file.relative_to(root).with_suffix("")
    if place.parts[0] not in ROOMS:
        return False
    owner = getattr(importlib.import_module(".".join(("gemma_local", *place.parts))), found.owner)
    bases = [base for base in owner.__mro__[1:] if not base.__module__.startswith("gemma_local.")]
    return any(found.name in vars(base) for base in bases)


def left_over(root: Path, *, tests_count: bool) -> list[str]:
    """A line for each definition that nothing uses; ``tests_count``: nor do tests."""
    trees = {
        file: ast.parse(file.read_text(encoding="utf-8"))
        for folder in (*ROOMS, "packaging")
        for file in sorted((root / folder).rglob("*.py"))
    }
    used: Counter[str] = Counter()
    for tree in trees.values():
        used.update(uses(tree))
    tested = set()
    for file in (root / "tests").rglob("*.py"):
        tested |= _words(file.read_text(encoding="utf-8"))
    lines = []
    for file, tree in trees.items():
        for found in definitions(file, tree):
            is_tested = found.name in tested
            if used[found.name] or (tests_count and is_tested) or is_called_by_others(found, root):
                continue
            name = ".".join(filter(None, (found.owner, found.name)))
            place = f"{file.relative_to(root)}:{found.node.lineno}"
            lines.append(f"{place}: nothing {'but tests use' if is_tested else 'uses'} {name}")
    return lines


def too_long(root: Path) -> list[str]:
    """A line for each file that has more lines than a reader takes in."""
    lines = []
    for folder in (*ROOMS, "packaging", "tests"):
        for file in sorted((root / folder).rglob("*.py")):
            count = len(file.read_text(encoding="utf-8").splitlines())
            if count > LONGEST:
                lines.append(f"{file.relative_to(root)}: {count} lines, and {LONGEST} are allowed")
    return lines


def main() -> int:
    """Print what was found; 1 if there is anything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", action="store_true", help="what only tests use is left over too")
    root = Path(__file__).resolve().parent.parent
    lines = [*too_long(root), *left_over(root, tests_count=not parser.parse_args().tests)]
    print(*lines, sep="\n", end="\n" if lines else "")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main())
