"""What is not changed in a file stays byte for byte."""

from __future__ import annotations

import codecs
from pathlib import PurePath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.agent.files.text_file import NotText, TextFile, check_name

MARKS = {
    "utf-8": [b"", codecs.BOM_UTF8],
    "utf-16-le": [codecs.BOM_UTF16_LE],
    "utf-16-be": [codecs.BOM_UTF16_BE],
    "utf-32-le": [codecs.BOM_UTF32_LE],
}
TEXTS = st.lists(
    st.tuples(
        st.text(
            st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\ufeff"), max_size=8
        ),
        st.sampled_from(["\n", "\r\n"]),
    ),
    max_size=8,
).map(lambda lines: "".join(a + b for a, b in lines))


@st.composite
def files(draw: st.DrawFn) -> bytes:
    text = draw(TEXTS) + draw(st.sampled_from(["", "no end", "\ttabs\t"]))
    encoding = draw(st.sampled_from(sorted(MARKS)))
    return draw(st.sampled_from(MARKS[encoding])) + text.encode(encoding)


@given(files())
def test_reading_and_writing_changes_nothing(data: bytes) -> None:
    file = TextFile.decoded(data)
    assert file.encoded() == data
    assert "\r\n" not in file.text
    assert file.replaced([(0, len(file.text))], [file.text]).encoded() == data


@given(st.binary(max_size=200))
def test_any_bytes_are_kept_or_refused(data: bytes) -> None:
    try:
        file = TextFile.decoded(data)
    except NotText:
        assert b"\0" in data
        return
    assert file.encoded() == data


@given(files(), st.data())
def test_bytes_outside_the_span_stay(data: bytes, draw: st.DataObject) -> None:
    file = TextFile.decoded(data)
    start = draw.draw(st.integers(0, len(file.text)))
    end = draw.draw(st.integers(start, len(file.text)))
    new = draw.draw(st.sampled_from(["", "new", "two\nlines", "\n"]))
    after = file.replaced([(start, end)], [new])
    assert after.text == file.text[:start] + new + file.text[end:]
    head = TextFile(file.raw, file.encoding, file.mark).replaced([(start, len(file.text))], [""])
    tail = file.replaced([(0, end)], [""])
    assert after.encoded().startswith(head.encoded())
    assert after.raw.endswith(tail.raw)


@given(TEXTS, st.lists(st.booleans(), min_size=3, max_size=3))
def test_several_spans_at_once(text: str, chosen: list[bool]) -> None:
    file = TextFile(f"one\r\n{text}two\n{text}three")
    words = [w for w, c in zip(("one", "two", "three"), chosen, strict=True) if c]
    spans = [(file.text.index(word), file.text.index(word) + len(word)) for word in words]
    spans = sorted(set(spans))
    after = file.replaced(spans, ["#"] * len(spans))
    assert after.raw.count("\r\n") == file.raw.count("\r\n")
    assert after.raw.count("\n") == file.raw.count("\n")


class TestLineEnds:
    def test_lines_that_are_added_end_like_the_one_that_they_come_from(self) -> None:
        file = TextFile("a\r\nb\nc\r\n")
        assert file.replaced([(0, 1)], ["a\nA"]).raw == "a\r\nA\r\nb\nc\r\n"
        assert file.replaced([(2, 3)], ["b\nB"]).raw == "a\r\nb\nB\nc\r\n"

    def test_equal_lines_of_a_span_keep_their_ends(self) -> None:
        file = TextFile("a\r\nb\nc\nd\r\n")
        assert file.replaced([(0, 7)], ["a\nb\nC\nd"]).raw == "a\r\nb\nC\nd\r\n"

    def test_a_last_line_without_end_stays_so(self) -> None:
        file = TextFile("a\r\nb")
        assert file.replaced([(2, 3)], ["c\nd"]).raw == "a\r\nc\r\nd"

    def test_old_mac(self) -> None:
        file = TextFile.decoded(b"a\rb\r")
        assert file.lines == ["a", "b"]
        assert file.replaced([(2, 3)], ["x\ny"]).encoded() == b"a\rx\ry\r"

    def test_a_carriage_return_among_other_ends_is_a_character(self) -> None:
        file = TextFile.decoded(b"10%\r20%\nend\n")
        assert file.lines == ["10%\r20%", "end"]

    def test_what_else_ends_lines_for_python_does_not_here(self) -> None:
        assert TextFile("a\x0cb\u2028c\n").lines == ["a\x0cb\u2028c"]

    def test_rewriting_keeps_the_style(self) -> None:
        file = TextFile.decoded(codecs.BOM_UTF8 + b"a\r\nb\r\n")
        assert file.rewritten("c\nd\n").encoded() == codecs.BOM_UTF8 + b"c\r\nd\r\n"


class TestEncodings:
    def test_latin_1_is_said(self) -> None:
        file = TextFile.decoded("caf\xe9\n".encode("latin-1"))
        assert file.text == "caf\xe9\n"
        assert "Latin-1" in file.note

    def test_latin_1_cannot_hold_everything(self) -> None:
        file = TextFile.decoded(b"caf\xe9\n")
        with pytest.raises(UnicodeEncodeError):
            file.replaced([(0, 1)], ["\u2192"]).encoded()
        assert file.rewritten("\u2192\n").encoded() == "\u2192\n".encode()

    @pytest.mark.parametrize("data", [b"\0", b"text\0more", b"\x7fELF\0\0"])
    def test_binary(self, data: bytes) -> None:
        with pytest.raises(NotText, match="is binary"):
            TextFile.decoded(data)

    def test_half_a_character_behind_a_mark(self) -> None:
        with pytest.raises(NotText):
            TextFile.decoded(codecs.BOM_UTF16_LE + b"a\0b")

    def test_binary_by_name(self) -> None:
        with pytest.raises(NotText, match="is an image"):
            check_name(PurePath("a/b.PNG"))
        check_name(PurePath("a/b.svg"))
