from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from textual.app import App, ComposeResult
from textual.widgets import Input, Static, TextArea

from gemma_local.app.agent.consent import Proposal, Verdict
from gemma_local.app.agent.file_diff import FileDiff
from gemma_local.app.tui.approval.card import GRACE, ApprovalCard
from gemma_local.app.tui.approval.details import DetailsScreen
from gemma_local.app.tui.glyphs import ASCII
from gemma_local.app.tui.lines_pane import LinesPane

COMMAND = Proposal(
    "7",
    "run",
    "pytest -q",
    command="pytest -q",
    folder="src",
    why="deletes files",
    always="run: pytest *",
)
CHANGE = Proposal(
    "8",
    "edit",
    "src/app.py",
    diff=FileDiff(
        "src/app.py",
        "".join(f"line {n}\n" for n in range(90)),
        "".join(f"line {n}!\n" for n in range(90)),
    ),
    always="edit: src/*",
)


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@dataclass
class Heard:
    verdicts: list[tuple[str, Verdict]] = field(default_factory=list)


class Host(App[None]):
    """A card above something to write in."""

    CSS = "TextArea { height: 3; }"

    def __init__(self, proposal: Proposal) -> None:
        super().__init__()
        self.clock = Clock()
        self.heard: list[tuple[str, Verdict]] = []
        self.card = ApprovalCard(proposal, glyphs=ASCII, clock=self.clock)

    def compose(self) -> ComposeResult:
        yield self.card
        yield TextArea()

    def on_approval_card_given(self, event: ApprovalCard.Given) -> None:
        self.heard.append((event.id, event.verdict))

    def rest(self) -> None:
        self.clock.now += GRACE

    def shown(self, name: str) -> str:
        return str(self.card.query_one(f".{name}", Static).content)


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        (["y"], Verdict("once")),
        (["s"], Verdict("session")),
        (["a"], Verdict("always")),
        (["escape"], Verdict("no")),
        (["n", "enter"], Verdict("no")),
        (["n", *"too slow", "enter"], Verdict("no", "too slow")),
        (["n", *"yes a", "escape"], Verdict("no")),
        (["enter"], Verdict("once")),
        (["down", "down", "enter"], Verdict("always")),
        (["up", "enter", "x", "enter"], Verdict("no", "x")),
        (["down", "down", "down", "down", "enter"], Verdict("once")),
    ],
)
async def test_every_answer(keys: list[str], verdict: Verdict) -> None:
    app = Host(COMMAND)
    async with app.run_test(size=(80, 24)) as pilot:
        app.rest()
        await pilot.press(*(key if key != " " else "space" for key in keys))
        assert app.heard == [("7", verdict)]
        await pilot.press("y", "enter", "escape")
        assert len(app.heard) == 1


async def test_keys_that_come_too_early_are_lost_and_begin_the_wait_anew() -> None:
    app = Host(COMMAND)
    async with app.run_test(size=(80, 24)) as pilot:
        assert not app.card.is_ready
        assert app.shown("hint") == "a moment"
        app.clock.now += GRACE / 2
        await pilot.press("y", "enter", "escape", "n")
        assert app.shown("hint") == "that key came too early to count"
        # Long enough after the card has come, but not after the last key.
        app.clock.now += GRACE * 0.75
        await pilot.press("a")
        assert app.heard == []
        app.clock.now += GRACE
        await pilot.press("a")
        assert app.heard == [("7", Verdict("always"))]


async def test_the_choices_brighten_when_keys_count() -> None:
    app = Host(COMMAND)
    async with app.run_test(size=(80, 24)) as pilot:
        choices = app.card.query_one(".choices", Static)
        assert "dim" in str(choices.content.spans)  # type: ignore[union-attr]
        app.rest()
        await pilot.pause(GRACE + 0.1)
        assert "dim" not in str(choices.content.spans)  # type: ignore[union-attr]
        assert "Enter choose" in app.shown("hint")


async def test_what_is_asked_is_all_there() -> None:
    app = Host(COMMAND)
    async with app.run_test(size=(80, 24)):
        assert app.shown("question") == "Run this?"
        assert app.shown("where") == "in src"
        assert app.shown("why").endswith("deletes files")
        assert app.shown("choices").splitlines() == [
            "> y  Yes, once",
            "  s  Yes, in this session without asking: run: pytest *",
            "  a  Yes, always without asking: run: pytest *",
            "  n  No, and say why",
        ]
        assert app.card.query_one(LinesPane).text == "$ pytest -q"


@pytest.mark.parametrize("rule", ["", " ", "run: " + "x" * 400])
async def test_without_a_rule_that_can_be_shown_it_is_once_or_no(rule: str) -> None:
    app = Host(replace(COMMAND, always=rule))
    async with app.run_test(size=(80, 24)) as pilot:
        app.rest()
        await pilot.press("s", "a")
        assert app.heard == []
        assert len(app.shown("choices").splitlines()) == 2


async def test_a_long_command_can_be_read_to_its_end() -> None:
    command = "\n".join(f"echo {'word ' * 30}{n}" for n in range(12)) + " && rm -rf end"
    app = Host(replace(COMMAND, command=command, title="a script"))
    async with app.run_test(size=(80, 24)) as pilot:
        app.rest()
        pane = app.card.query_one(LinesPane)
        assert pane.size.height <= 8 and app.card.size.height <= 24
        assert "rm -rf end" in " ".join(pane.text.split())
        await pilot.press(*["pagedown"] * 10)
        assert pane.scroll_y == pane.max_scroll_y > 0
        await pilot.press("d")
        assert type(app.screen) is DetailsScreen
        assert "rm -rf end" in " ".join(app.screen.query_one(LinesPane).text.split())
        await pilot.press("y", "space", "j", "k", "escape")
        assert app.screen is app.screen_stack[0]
        assert app.heard == []
        await pilot.press("y")
        assert app.heard == [("7", Verdict("once"))]


async def test_a_change_is_shown_with_its_lines() -> None:
    app = Host(CHANGE)
    async with app.run_test(size=(80, 24)) as pilot:
        app.rest()
        assert app.shown("question") == "Change src/app.py?"
        assert "line 89!" in app.card.query_one(LinesPane).text
        await pilot.press("d", "end")
        assert "line 89!" in app.screen.query_one(LinesPane).text
        await pilot.press("q", "y")
        assert app.heard == [("8", Verdict("once"))]


@pytest.mark.parametrize(
    ("before", "after", "question"),
    [
        (None, "x\n", "Write the new file src/app.py?"),
        ("x\n", None, "Delete src/app.py?"),
    ],
)
async def test_new_and_deleted_files(before: str | None, after: str | None, question: str) -> None:
    app = Host(replace(CHANGE, diff=FileDiff("src/app.py", before, after)))
    async with app.run_test(size=(80, 24)):
        assert app.shown("question") == question


async def test_what_looks_like_markup_or_escapes_is_shown_as_it_is() -> None:
    nasty = "[red]a[/] [@click=app.quit]b\x1b[31m\nc"
    app = Host(Proposal("1", nasty, nasty, folder=nasty, why=nasty, always=nasty))
    async with app.run_test(size=(80, 40)) as pilot:
        app.rest()
        await pilot.pause(GRACE + 0.1)
        for name in ("question", "where", "why", "choices"):
            assert "[red]a[/] [@click=app.quit]b" in app.shown(name)
            assert "\x1b" not in app.shown(name)
        await pilot.press("d", "y")
        assert app.heard == [("1", Verdict("once"))]


async def test_writing_goes_on_elsewhere_and_tab_leads_back() -> None:
    app = Host(COMMAND)
    async with app.run_test(size=(80, 24)) as pilot:
        app.rest()
        app.query_one(TextArea).focus()
        await pilot.press("y", "e", "s")
        assert app.heard == []
        assert app.query_one(TextArea).text == "yes"
        assert app.shown("hint") == "Tab leads back to this question"
        app.card.focus()
        await pilot.press("y")
        assert app.heard == [("7", Verdict("once"))]


async def test_the_reason_is_one_line_that_takes_every_letter() -> None:
    app = Host(COMMAND)
    async with app.run_test(size=(80, 24)) as pilot:
        app.rest()
        await pilot.press("n", *"yands", "up", "down")
        assert app.card.query_one(Input).value == "yands"
        assert "without a reason" in app.shown("hint")
        assert app.heard == []


@pytest.mark.parametrize(("height", "lines"), [(24, 11), (40, 27), (12, 3)])
async def test_the_change_has_the_room_that_there_is(height: int, lines: int) -> None:
    host = Host(CHANGE)
    async with host.run_test(size=(80, height)) as pilot:
        await pilot.pause()
        await pilot.pause()
        pane = host.card.query_one(LinesPane)
        assert pane.size.height == lines
        if height > 12:
            # Two lines of what is above stay, and everything of the card is seen.
            assert host.query_one(TextArea).region.bottom == height - 2
        await pilot.resize_terminal(80, 30)
        await pilot.pause()
        await pilot.pause()
        assert pane.size.height == 17


@pytest.mark.parametrize(
    ("proposal", "question"),
    [
        (replace(CHANGE, tool="files", title="take back the changes to [a].py"),
         "Take back the changes to [a].py?"),
        (Proposal("1", "files", "take back 2 files", command="a.py\nb.py"), "Take back 2 files?"),
        (Proposal("2", "plan", "carry the plan out"), "Carry the plan out?"),
        (COMMAND, "Run this?"),
        (CHANGE, "Change src/app.py?"),
    ],
)  # fmt: skip
async def test_the_question_is_a_sentence(proposal: Proposal, question: str) -> None:
    host = Host(proposal)
    async with host.run_test(size=(80, 24)):
        assert host.shown("question") == question
        if proposal.tool == "files" and proposal.command:
            assert host.card.query_one(LinesPane).text.split() == ["a.py", "b.py"]


async def test_only_what_can_be_scrolled_says_so() -> None:
    for proposal, scrolls in ((CHANGE, True), (COMMAND, False)):
        host = Host(proposal)
        async with host.run_test(size=(80, 24)) as pilot:
            host.rest()
            await pilot.pause()
            await pilot.press("down")
            assert ("scroll" in host.shown("hint")) is scrolls
