from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from gemma_local.app.tui.composer.clean_text import broken_mouse_report, cleaned
from gemma_local.app.tui.composer.pastes import Pastes, is_long
from gemma_local.app.written import Written

LONG = st.text(st.sampled_from("ab[]#1,\n"), min_size=1, max_size=30)
SHORT = st.text(st.sampled_from("xy[]# ,"), max_size=8)


def test_what_is_long() -> None:
    assert not is_long("a\nb\nc") and not is_long("x" * 800)
    assert is_long("a\nb\nc\n") and is_long("x" * 801)


def test_marks_say_how_much_there_is() -> None:
    pastes = Pastes()
    assert pastes.add("a\n" * 1200) == "[Pasted text #1, 1,200 lines]"
    assert pastes.add("x" * 900) == "[Pasted text #2, 900 characters]"
    assert pastes.add("a\n" * 1200) == "[Pasted text #1, 1,200 lines]"


def test_a_mark_that_is_none_of_ours_is_text() -> None:
    pastes = Pastes()
    mark = pastes.add("a\nb\nc\nd")
    for text in ("[Pasted text #2, 4 lines]", "[Pasted text #1, 5 lines]", mark[:-1]):
        assert pastes.expand(text) == Written(text)
    pastes.forget()
    assert pastes.expand(mark) == Written(mark)


def test_what_a_paste_contains_is_not_looked_through() -> None:
    pastes = Pastes()
    mark = pastes.add("inner\n\n\n")
    outer = pastes.add(f"outer {mark}")
    assert pastes.expand(outer).text == f"outer {mark}"


@given(st.lists(st.tuples(SHORT, LONG), max_size=5), SHORT)
def test_what_is_expanded_can_be_collapsed_again(parts: list[tuple[str, str]], end: str) -> None:
    pastes = Pastes()
    shown = "".join(text + pastes.add(paste) for text, paste in parts) + end
    written = pastes.expand(shown)
    assert written.text == "".join(text + paste for text, paste in parts) + end
    assert [written.text[slice(*span)] for span in written.pastes] == [p for _, p in parts]
    assert pastes.collapse(written) == shown
    assert Pastes().expand(Pastes().collapse(Written("short"))) == Written("short")
    fresh = Pastes()
    assert fresh.expand(fresh.collapse(written)) == written


def test_a_long_text_of_unknown_parts_is_one_mark() -> None:
    pastes = Pastes()
    assert pastes.collapse(Written("a\n" * 300)) == "[Pasted text #1, 300 lines]"
    assert pastes.collapse(Written("a\n" * 50)) == "a\n" * 50


def test_pastes_are_found_again_in_what_was_edited_elsewhere() -> None:
    pastes = Pastes()
    mark = pastes.add("one\ntwo\nthree\nfour")
    written = pastes.found_in("new one\ntwo\nthree\nfour end")
    assert pastes.collapse(written) == f"new {mark} end"
    assert pastes.found_in("one\ntwo\nchanged") == Written("one\ntwo\nchanged")


def test_cleaned_text_has_no_control_characters() -> None:
    assert cleaned("a\r\nb\rc\x0bd\u2028e\x85f") == "a\nb\nc\nd\ne\nf"
    assert cleaned(
        "\x1b[31mred\x1b[0m \x1b]0;title\x07b\x1b]8;;x\x1b\\c \x1b(B \x1bM\tx\0\x07"
    ) == ("red bc  \tx")
    assert cleaned("\ufeffa\x9b1mb\ud800") == "a1mb"


@given(st.text())
def test_cleaned_text_has_the_lines_that_are_seen(text: str) -> None:
    clean = cleaned(text)
    assert cleaned(clean) == clean
    assert clean.splitlines() == clean.removesuffix("\n").split("\n") if clean else True
    assert all(c in "\n\t" or c.isprintable() or ord(c) > 159 for c in clean)


def test_broken_mouse_reports() -> None:
    for report in ("[<35;NaN;NaNM", "^[<0;NaN;12m", "[<64;-3;NaNM"):
        assert broken_mouse_report(f"text {report}") == len(report)
    for text in ("NaNM", "[<35;1;2M", "[NaN;NaNM", "[<35;NaN;NaNM and"):
        assert broken_mouse_report(text) == 0


class Editing(RuleBasedStateMachine):
    """Stand-in for a person: what they see is a list of short texts and pastes."""

    def __init__(self) -> None:
        super().__init__()
        self.pastes = Pastes()
        self.shown = ""
        self.meant = ""

    @rule(paste=LONG)
    def paste_at_end(self, paste: str) -> None:
        self.shown += self.pastes.add(paste)
        self.meant += paste

    @rule(text=st.text(st.sampled_from("xyz "), max_size=5))
    def type_at_start(self, text: str) -> None:
        self.shown = text + self.shown
        self.meant = text + self.meant

    @precondition(lambda self: any(self.pastes.spans(self.shown)))
    @rule(data=st.data())
    def delete_a_mark(self, data: st.DataObject) -> None:
        spans = list(self.pastes.spans(self.shown))
        which = data.draw(st.integers(0, len(spans) - 1))
        start, end = spans[which]
        first, last = self.pastes.expand(self.shown).pastes[which]
        self.shown = self.shown[:start] + self.shown[end:]
        self.meant = self.meant[:first] + self.meant[last:]

    @invariant()
    def what_is_sent_is_what_was_pasted(self) -> None:
        assert self.pastes.expand(self.shown).text == self.meant


TestEditing = Editing.TestCase
TestEditing.settings = settings(max_examples=40, stateful_step_count=15)
