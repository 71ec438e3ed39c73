"""Making room: what goes, what stays word for word, and what the person is told."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gemma_local.app.compaction import PINNED, SUMMARY_REQUEST, describe, old_outputs, to_sum_up
from gemma_local.app.compactor import Compactor
from gemma_local.app.context_count import ContextCounter
from gemma_local.app.context_window import Window
from gemma_local.app.conversation import Conversation
from gemma_local.app.prompts import GemmaWriter
from gemma_local.app.record import Unsaved
from gemma_local.models.chat_format import Rendering
from gemma_local.models.message import Message, Tool, ToolCall
from gemma_local.models.prompt import Control, Ids, Markup, Prompt, Text

WINDOW = Window(2000)
READ = Tool("read", "Reads a file")


def count(prompts: Sequence[Prompt]) -> list[int]:
    """A token a word, and one for each control token: the tokenizer of this test."""
    return [sum(map(_tokens, prompt)) for prompt in prompts]


def _tokens(piece: Control | Text | Markup | Ids) -> int:
    match piece:
        case Text(text) | Markup(text):
            return len(text.split())
        case Ids(ids):
            return len(ids)
        case Control():
            return 1


class Summariser:
    """Answers requests for summaries, and remembers what it was asked."""

    def __init__(self, words: int = 20) -> None:
        self.words = words
        self.asked: list[Rendering] = []

    def __call__(self, rendering: Rendering, most_tokens: int) -> Message | None:
        self.asked.append(rendering)
        return Message("assistant", "sum " * min(self.words, most_tokens)) if self.words else None


def talk() -> Conversation:
    return Conversation(
        GemmaWriter(primes_empty_thought=False), Unsaved(), system="Be brief.", tools=[READ]
    )


def turn(conversation: Conversation, words: int, *outputs: int) -> None:
    """A turn with tool outputs of so many words, and an answer of ``words``."""
    conversation.ask(f"question {len(conversation.entries)}")
    for index, output in enumerate(outputs):
        call = ToolCall("read", {"path": f"file{index}.py"})
        conversation.keep(conversation.answering().finish(Message("assistant", calls=(call,))))
        conversation.add_result("read", "word " * output)
    answer = Message("assistant", "say " * words)
    conversation.keep(conversation.answering().finish(answer))


def tokens_of(conversation: Conversation) -> dict[int, int]:
    return ContextCounter(count, WINDOW).entries(conversation)


def prompt_of(conversation: Conversation) -> int:
    return ContextCounter(count, WINDOW).use(conversation).prompt


def compactor(summarise: Summariser) -> Compactor:
    return Compactor(summarise, ContextCounter(count, WINDOW), WINDOW)


def test_entries_and_parts_add_up_to_the_prompt() -> None:
    conversation = talk()
    turn(conversation, 30, 100)
    use = ContextCounter(count, WINDOW).use(conversation)
    assert use.prompt == count([conversation.history().prompt])[0]
    assert use.system > 0 and use.tools > 0 and use.files == 0
    assert use.history == sum(tokens_of(conversation).values())
    text = "see this: a b c d"
    conversation.ask(text, files=[(len("see this: "), len(text))])
    assert ContextCounter(count, WINDOW).use(conversation).files == 4


def test_old_output_becomes_a_line_that_says_what_it_was() -> None:
    conversation = talk()
    turn(conversation, 10, 400, 300)
    turn(conversation, 10, 60)
    turn(conversation, 10, 120)
    conversation.ask("next")
    [first, second] = old_outputs(conversation.live, tokens_of(conversation), WINDOW)
    assert first.message == Message(
        "tool", "[read file0.py: 406 tokens of output, dropped to save room]", tool="read"
    )
    assert "file1.py" in second.message.text
    # The newest, up to a tenth of the window, stay.
    conversation.stand_in([first, second])
    assert old_outputs(conversation.live, tokens_of(conversation), WINDOW) == []


def test_output_of_the_current_turn_stays() -> None:
    conversation = talk()
    conversation.ask("read")
    call = Message("assistant", calls=(ToolCall("read"),))
    conversation.keep(conversation.answering().finish(call))
    conversation.add_result("read", "word " * 1500)
    assert old_outputs(conversation.live, tokens_of(conversation), WINDOW) == []
    assert to_sum_up(conversation.live, tokens_of(conversation), WINDOW) == []


def test_first_output_goes_then_a_summary_is_made() -> None:
    conversation = talk()
    turn(conversation, 10, 900)
    turn(conversation, 300)
    conversation.ask("next")
    before = prompt_of(conversation)
    summarise = Summariser()
    done = compactor(summarise).compact(conversation)
    # Output alone was enough.
    assert (done.stubs, done.summarised, summarise.asked) == (1, 0, [])
    assert (done.before, done.after) == (before, prompt_of(conversation))
    assert "1 tool output became one line each" in done.sentence()
    turn(conversation, 500)
    turn(conversation, 500)
    conversation.ask("and now?")
    done = compactor(summarise).compact(conversation)
    assert done.summarised > 0 and done.after < WINDOW.compact_at
    assert prompt_of(conversation) == done.after
    texts = [message.text for message in conversation.view().messages]
    assert texts[1] == SUMMARY_REQUEST and texts[2].startswith("sum")
    assert texts[-1] == "and now?"


def test_the_summary_is_asked_for_behind_what_is_in_the_cache() -> None:
    conversation = talk()
    for _ in range(4):
        turn(conversation, 350)
    history = conversation.history().prompt
    conversation.ask("next")
    summarise = Summariser()
    compactor(summarise).compact(conversation)
    [asked] = summarise.asked
    assert asked.prompt[: len(history)] == history
    assert Text(f"user\n{SUMMARY_REQUEST}") in asked.prompt[len(history) :]


def test_output_goes_before_the_summary_where_that_would_not_fit() -> None:
    conversation = talk()
    turn(conversation, 600, 900)
    turn(conversation, 450)
    conversation.ask("next")
    assert prompt_of(conversation) > 1950
    summarise = Summariser()
    done = compactor(summarise).compact(conversation, as_much_as_possible=True)
    assert done.summarised > 0
    assert any("dropped to save room" in str(piece) for piece in summarise.asked[0].prompt)


def test_without_a_summary_the_oldest_turns_go() -> None:
    conversation = talk()
    for _ in range(4):
        turn(conversation, 350)
    conversation.ask("next")
    done = compactor(Summariser(words=0)).compact(conversation)
    assert done.dropped in (2, 4) and done.after < WINDOW.compact_at
    assert "left the context" in done.sentence()
    assert conversation.view().messages[1].role == "user"
    assert conversation.live[-1].message.text == "next"


def test_pinned_entries_stay_word_for_word() -> None:
    conversation = talk()
    turn(conversation, 300)
    pinned = conversation._record.append(Message("user", "open: 1, 2, 3"), info={PINNED: True})
    conversation.keep(pinned)
    for _ in range(4):
        turn(conversation, 300)
    conversation.ask("next")
    compactor(Summariser()).compact(conversation)
    assert "open: 1, 2, 3" in [message.text for message in conversation.view().messages]
    for _ in range(4):
        turn(conversation, 300)
    compactor(Summariser(words=0)).compact(conversation)
    assert pinned in conversation.live


def test_after_one_that_freed_hardly_anything_there_is_no_next_before_more_has_come() -> None:
    conversation = talk()
    conversation.ask("word " * 1500)
    summarise = Summariser()
    one = compactor(summarise)
    counter = ContextCounter(count, WINDOW)
    assert one.may_help(counter.use(conversation))
    done = one.compact(conversation)
    assert done.freed == 0
    assert "nothing can be dropped" in done.sentence()
    assert not one.may_help(counter.use(conversation))
    turn(conversation, WINDOW.worthwhile)
    assert one.may_help(counter.use(conversation))


@settings(max_examples=60, deadline=None)
@given(
    turns=st.lists(
        st.tuples(st.integers(1, 400), st.lists(st.integers(0, 600), max_size=3)), max_size=12
    ),
    words=st.sampled_from([0, 20, 125]),
    forced=st.booleans(),
)
def test_whatever_was_said_compacting_shrinks_and_keeps_the_current_turn(
    turns: list[tuple[int, list[int]]], words: int, forced: bool
) -> None:
    conversation = talk()
    for said, outputs in turns:
        turn(conversation, said, *outputs)
    conversation.ask("the last question")
    originals = [entry.message for entry in conversation.entries]
    before = prompt_of(conversation)
    done = compactor(Summariser(words)).compact(conversation, as_much_as_possible=forced)
    assert done.after == prompt_of(conversation) <= before == done.before
    messages = conversation.view().messages
    assert messages[0].text == "Be brief." and messages[-1].text == "the last question"
    # Nothing that was said is altered, and what the model reads is well formed.
    assert [entry.message for entry in conversation.entries][: len(originals)] == originals
    conversation.rendering()
    if before > WINDOW.compact_at:
        assert done.after <= WINDOW.compact_at


def test_a_call_in_a_few_words() -> None:
    call = ToolCall("edit", {"path": "a.py", "new": "x" * 100 + "\ny", "lines": [1, 2]})
    assert describe(call) == f"edit a.py {'x' * 40}... [1, 2]"


@pytest.mark.parametrize("size", [64, 512])
def test_tiny_windows_do_not_upset_it(size: int) -> None:
    window = Window(size)
    conversation = talk()
    for _ in range(5):
        turn(conversation, 40)
    conversation.ask("next")
    counter = ContextCounter(count, window)
    done = Compactor(Summariser(), counter, window).compact(conversation)
    assert done.after <= done.before
