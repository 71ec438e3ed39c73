"""Files that people take for a GGUF model, told from their first bytes.

Each sentence names what the file is and where the right one comes from. The order of the checks
matters only where formats share a beginning (zip and PyTorch, JSON and ollama).
"""

from __future__ import annotations

import re
from pathlib import Path

PEEK_BYTES = 4096
"""How much of a file's beginning the checks need."""

_LFS_MAGIC = b"version https://git-lfs.github.com/spec/"
_ARCHIVES: tuple[tuple[bytes, str], ...] = (
    (b"\x1f\x8b", "gzip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"7z\xbc\xaf\x27\x1c", "7-Zip"),
    (b"Rar!", "RAR"),
)
_OLD_GGML: frozenset[bytes] = frozenset({b"lmgg", b"tjgg", b"fmgg", b"algg"})
_GET_GGUF = "Download the .gguf file of the model instead."


def describe_foreign_file(path: Path, head: bytes, size: int) -> str:
    """The sentence for a file that does not begin with ``GGUF``.

    Args:
        path: named in the sentence.
        head: the first `PEEK_BYTES` bytes, fewer only when the file is shorter.
        size: the file's length in bytes, above 0.
    """
    text = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    lower = text[:256].lower()
    if lower.startswith((b"<!doctype", b"<html", b"<head", b"<?xml", b"<error")):
        return (
            f"{path} is a web page that was saved instead of the model, often because the link "
            "needed a login. Download the file again with the site's download button or a direct "
            "link."
        )
    if head.startswith(_LFS_MAGIC):
        return _describe_lfs_pointer(path, head)
    if head.startswith(b"PK\x03\x04"):
        # torch.save writes a zip whose first entry lies in a folder and is named data.pkl.
        if b"/data.pkl" in head[:256]:
            return _describe_pytorch(path)
        return (
            f"{path} is a zip archive, not a model. Unpack it and give the .gguf file inside; "
            "if there is none, download the model in GGUF format."
        )
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05" and len(head) > 1:
        return _describe_pytorch(path)
    if len(head) > 8 and head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= size - 8:
        return (
            f"{path} is a safetensors file, the format for training frameworks. llama.cpp needs "
            f"the same model in GGUF format. {_GET_GGUF}"
        )
    for magic, name in _ARCHIVES:
        if head.startswith(magic):
            return f"{path} is compressed with {name}. Unpack it first and give the .gguf file."
    if text[:1] in (b"{", b"["):
        return _describe_json(path, text)
    if head[:4] in _OLD_GGML:
        return (
            f"{path} is a model in the GGML format of 2023, which llama.cpp no longer reads. "
            f"{_GET_GGUF}"
        )
    if head.startswith(b"LITERTLM") or head[4:8] == b"TFL3":
        return (
            f"{path} is a LiteRT model, made for phones and browsers. llama.cpp needs the same "
            f"model in GGUF format. {_GET_GGUF}"
        )
    if not any(head):
        return (
            f"{path} begins with nothing but zeros: its download was started and never finished. "
            "Download it again."
        )
    return f"{path} is not a GGUF model: it does not begin with the letters GGUF. {_GET_GGUF}"


def _describe_lfs_pointer(path: Path, head: bytes) -> str:
    found = re.search(rb"^size (\d{1,18})\s*$", head, re.MULTILINE)
    real = f" of {human_bytes(int(found.group(1)))}" if found else ""
    return (
        f"{path} is a Git LFS pointer: a short note that stands for the model{real}, not the model "
        "itself. Run `git lfs pull` in that folder, or download the file from the model's page."
    )


def _describe_pytorch(path: Path) -> str:
    return (
        f"{path} is a PyTorch checkpoint, which can run code when it is opened and which llama.cpp "
        f"does not read. {_GET_GGUF}"
    )


def _describe_json(path: Path, text: bytes) -> str:
    if b"ollama" in text or b'"schemaVersion"' in text:
        return (
            f"{path} is an Ollama manifest, a list that only points at the model. Give the blob it "
            "names instead: the layer of type application/vnd.ollama.image.model, in the folder "
            "blobs next to manifests."
        )
    return (
        f"{path} is a JSON text, not a model: a configuration file, or an error message that was "
        "saved in the model's place. Open it to see which, and download the .gguf file."
    )


def human_bytes(count: int) -> str:
    """A size as people write it, such as ``3.35 GB``: powers of ten, as download pages use."""
    for unit, power in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= power:
            return f"{count / power:.2f} {unit}"
    return "1 byte" if count == 1 else f"{count} bytes"
