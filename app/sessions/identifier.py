"""Names of sessions: eight characters that can be read aloud and typed.

Crockford's base 32 (digits and letters without i, l, o and u), in lower case: 40 random
bits: two of a thousand sessions are the same once in two million times, and the store looks.
"""

from __future__ import annotations

import secrets
from typing import Final

ALPHABET: Final = "0123456789abcdefghjkmnpqrstvwxyz"
LENGTH: Final = 8

_MISREAD: Final = str.maketrans("oil", "011")


def new_id() -> str:
    """A random name."""
    return "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))


def is_id(name: str) -> bool:
    """Whether ``name`` is a whole id in our spelling."""
    return len(name) == LENGTH and set(name) <= set(ALPHABET)


def as_typed(text: str) -> str | None:
    """An id or its beginning as a person wrote it, in our spelling; None if it can't be one."""
    name = text.strip().lower().translate(_MISREAD)
    return name if 0 < len(name) <= LENGTH and set(name) <= set(ALPHABET) else None
