"""Files that hold secrets, by their names."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import PurePath
from typing import Final

_FOLDERS: Final = frozenset((".ssh", ".gnupg", ".aws", ".kube", ".docker"))
_SETTINGS: Final = (".env", ".env.*", "*.env", ".envrc", ".netrc", "_netrc", ".pgpass", ".npmrc")
_KEYS: Final = ("*.pem", "*.key", "*.p12", "*.pfx", "*.kdbx", "*.jks", "id_rsa*", "id_dsa*")
_MORE: Final = ("id_ecdsa*", "id_ed25519*", ".pypirc", ".git-credentials", "credentials.json")
_HARMLESS: Final = ("*.example", "*.sample", "*.template", "*.pub")


def is_sensitive(path: PurePath) -> bool:
    """Whether a file of this name, or what a folder of it holds, is not to be read without
    asking."""
    name = path.name.lower()
    if not _FOLDERS.isdisjoint(part.lower() for part in path.parts):
        return True
    if any(fnmatchcase(name, pattern) for pattern in _HARMLESS):
        return False
    return any(fnmatchcase(name, pattern) for pattern in (*_SETTINGS, *_KEYS, *_MORE))
