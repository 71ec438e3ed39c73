"""The parts of a JSON schema that say what a tool takes.

Schemas come from outside with a server's tools: whatever is not as it should be counts as absent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]


def types_of(schema: Schema) -> list[str]:
    """The types that a schema allows, in small letters; none means any."""
    kind = schema.get("type")
    kinds = [kind] if isinstance(kind, str) else kind if isinstance(kind, Sequence) else []
    # Templates and some servers write them in capitals.
    found = [name.lower() for name in kinds if isinstance(name, str)]
    if not found and "properties" in schema:
        found = ["object"]
    if not found and "items" in schema:
        found = ["array"]
    if found and schema.get("nullable") is True and "null" not in found:
        found.append("null")
    return found


def choices_of(schema: Schema) -> list[Schema]:
    """The schemas of which one must be met."""
    found = schema.get("anyOf") or schema.get("oneOf")
    found = found if isinstance(found, Sequence) and not isinstance(found, str) else ()
    return [choice for choice in found if isinstance(choice, Mapping)]


def properties_of(schema: Schema) -> dict[str, Schema]:
    """An object's properties by key."""
    found = schema.get("properties")
    found = found if isinstance(found, Mapping) else {}
    return {str(key): of if isinstance(of, Mapping) else {} for key, of in found.items()}


def required_of(schema: Schema) -> list[str]:
    """The keys that an object must have."""
    found = schema.get("required")
    found = found if isinstance(found, Sequence) and not isinstance(found, str) else ()
    return [key for key in found if isinstance(key, str)]


def resolved(schema: Schema, root: Schema) -> Schema:
    """``schema`` with a reference into ``root`` followed; one to nowhere allows anything."""
    for _ in range(8):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            break
        found: Any = root
        for part in filter(None, reference[1:].split("/")):
            name = part.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, Mapping) else None
        schema = found if isinstance(found, Mapping) else {}
    return schema
