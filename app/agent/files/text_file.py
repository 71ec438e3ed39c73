"""A text file as it is on the disk: its encoding, its mark, and the end of each of its lines.

Whoever changes it sees plain text with "\\n" at the end of lines; what they do not change stays
byte for byte as it was.
"""

from __future__ import annotations

import bisect
import codecs
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from typing import Final

from gemma_local.models.errors import GemmaLocalError

MOST_BYTES: Final = 16_000_000
"""Of a file that is read or changed."""

_HEAD: Final = 8_192
_MARKS: Final = (
    # The longer ones first: UTF-32's mark begins like that of UTF-16.
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_KINDS: Final = {
    "an image": "png jpg jpeg gif bmp webp ico tif tiff heic avif psd",
    "a sound": "mp3 wav flac ogg m4a aac opus",
    "a film": "mp4 mkv mov avi webm m4v",
    "an archive": "zip gz tgz bz2 xz zst 7z rar tar whl jar",
    "a document that is no plain text": "pdf doc docx xls xlsx ppt pptx odt ods odp epub",
    "a font": "ttf otf woff woff2",
    "a program or library": "exe dll so dylib a o obj pyc pyd class wasm",
    "a model or data file": "gguf safetensors onnx pt pth npy npz parquet pickle pkl",
    "a database": "sqlite sqlite3 db",
}
_BY_SUFFIX: Final = {f".{suffix}": kind for kind, all_ in _KINDS.items() for suffix in all_.split()}
_LINE_END: Final = re.compile(r"\r?\n")


class NotText(GemmaLocalError):
    """What cannot be read as text; ``str`` says what it is instead, as in "is an image"."""


def check_name(path: PurePath) -> None:
    """Raises NotText for a file that is not text by its name."""
    if kind := _BY_SUFFIX.get(path.suffix.lower()):
        raise NotText(f"is {kind}")


@dataclass(frozen=True)
class TextFile:
    """``raw`` is the decoded text with the lines' own ends, without ``mark``, the bytes of a byte
    order mark."""

    raw: str
    encoding: str = "utf-8"
    mark: bytes = b""

    @classmethod
    def decoded(cls, data: bytes) -> TextFile:
        """UTF-8, what a byte order mark says, or else Latin-1. Raises NotText."""
        for mark, encoding in _MARKS:
            if data.startswith(mark):
                found = cls._with_mark(data, mark, encoding)
                if found is not None:
                    return found
        if b"\0" in data[:_HEAD]:
            raise NotText("is binary")
        try:
            return cls(data.decode("utf-8"))
        except UnicodeDecodeError:
            return cls(data.decode("latin-1"), "latin-1")

    @classmethod
    def _with_mark(cls, data: bytes, mark: bytes, encoding: str) -> TextFile | None:
        try:
            raw = data[len(mark) :].decode(encoding)
        except UnicodeDecodeError:
            return None
        # Half a character, or one that is spelled in two ways, must not change unseen.
        return cls(raw, encoding, mark) if raw.encode(encoding) == data[len(mark) :] else None

    def encoded(self) -> bytes:
        """The bytes of the file. Raises UnicodeEncodeError for what ``encoding`` lacks."""
        return self.mark + self.raw.encode(self.encoding)

    @property
    def note(self) -> str:
        """What is unusual about it, in a few words, "" if nothing."""
        facts = []
        if self.encoding == "latin-1":
            facts.append("it is not UTF-8: read as Latin-1")
        elif self.encoding != "utf-8":
            facts.append(f"it is {self.encoding[:6].upper()}")
        if self.newline == "\r\n":
            facts.append("its lines end in CRLF")
        return ", ".join(facts)

    @cached_property
    def text(self) -> str:
        """With "\\n" at the end of lines."""
        if self._is_of_old_mac:
            return self.raw.replace("\r", "\n")
        return self.raw.replace("\r\n", "\n")

    @cached_property
    def lines(self) -> list[str]:
        """The lines of ``text`` without their ends; no line behind a final newline."""
        lines = self.text.split("\n")
        if not lines[-1]:
            lines.pop()
        return lines

    @cached_property
    def newline(self) -> str:
        """How most of its lines end; "\\n" if there is none."""
        if self._is_of_old_mac:
            return "\r"
        crlf = self.raw.count("\r\n")
        return "\r\n" if crlf * 2 > self.raw.count("\n") else "\n"

    def replaced(self, spans: Sequence[tuple[int, int]], texts: Sequence[str]) -> TextFile:
        """With ``texts`` in place of ``spans``, which are (start, end) in ``text``, in order and
        apart. What is equal at the ends of a span and its text is not touched, and lines that are
        added end like the one that they come from."""
        pieces: list[str] = []
        done = 0
        for (start, end), new in zip(spans, texts, strict=True):
            old = self.text[start:end]
            front = _common_start(old, new)
            back = _common_start(old[front:][::-1], new[front:][::-1])
            first, last = self._place(start + front), self._place(end - back)
            changed = new[front : len(new) - back]
            pieces += (self.raw[done:first], changed.replace("\n", self._line_end_at(first)))
            done = last
        return TextFile("".join((*pieces, self.raw[done:])), self.encoding, self.mark)

    def rewritten(self, text: str) -> TextFile:
        """With another text in place of all of it; UTF-8 if the encoding cannot hold it."""
        encoding, mark = self.encoding, self.mark
        try:
            text.encode(encoding)
        except UnicodeEncodeError:
            encoding, mark = "utf-8", b""
        plain = text.replace("\r\n", "\n")
        return TextFile(plain.replace("\n", self.newline), encoding, mark)

    @cached_property
    def _is_of_old_mac(self) -> bool:
        # Beside other line ends a lone CR is a character like any other.
        return "\r" in self.raw and "\n" not in self.raw

    @cached_property
    def _pairs(self) -> list[int]:
        """Where in ``text`` the lines end that end in CRLF."""
        if "\r\n" not in self.raw:
            return []
        return [found.start() - i for i, found in enumerate(re.finditer("\r\n", self.raw))]

    def _place(self, at: int) -> int:
        """Where ``at`` of ``text`` is in ``raw``: of a CRLF, in front of both."""
        return at + bisect.bisect_left(self._pairs, at)

    def _line_end_at(self, at: int) -> str:
        """How the line at ``at`` of ``raw`` ends, or if it does not, the one before it."""
        if self._is_of_old_mac:
            return "\r"
        if match := _LINE_END.search(self.raw, at):
            return match[0]
        before = self.raw.rfind("\n", 0, at)
        if before < 0:
            return "\n"
        return "\r\n" if self.raw[before - 1 : before] == "\r" else "\n"


def digest_of(data: bytes) -> str:
    """What a file's content is recognised by."""
    return hashlib.sha256(data).hexdigest()


def _common_start(one: str, other: str) -> int:
    """How many characters two texts have in common at their start."""
    most = min(len(one), len(other))
    if one[:most] == other[:most]:
        return most
    low, high = 0, most
    # The first difference by halves: comparing slices is C's work.
    while high - low > 1:
        middle = (low + high) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle
    return low
