from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gemma_local.app.reply_choices import reply_choices

THREE = ["Yes, gladly.", "Sorry, not this week.", "Which day do you mean?"]


@pytest.mark.parametrize(
    "answer",
    [
        "1. Yes, gladly.\n2. Sorry, not this week.\n3. Which day do you mean?",
        "1) Yes, gladly.\n\n2) Sorry, not this week.\n\n3) Which day do you mean?\n",
        (
            "Here are three replies:\n\n**1.** Yes, gladly.\n**2.** Sorry, not this week.\n"
            "**3.** Which day do you mean?"
        ),
        (
            "**Option 1:** Yes, gladly.\n**Option 2:** Sorry, not this week.\n"
            "**Option 3:** Which day do you mean?"
        ),
        (
            "### Reply 1:\nYes, gladly.\n### Reply 2:\nSorry, not this week.\n### Reply 3:\n"
            "Which day do you mean?"
        ),
        "- Yes, gladly.\n- Sorry, not this week.\n- Which day do you mean?",
        '1. "Yes, gladly."\n2. "Sorry, not this week."\n3. \u201cWhich day do you mean?\u201d',
        json.dumps(THREE),
        f"```json\n{json.dumps(THREE, indent=2)}\n```",
        json.dumps({"replies": [{"tone": "kind", "text": text} for text in THREE]}),
        json.dumps({"1": THREE[0], "2": THREE[1], "3": THREE[2]}),
        "\n\n".join(THREE),
        "1 - Yes, gladly.\n2 - Sorry, not this week.\n3 - Which day do you mean?",
    ],
)
def test_three_replies_however_they_are_written(answer: str) -> None:
    assert reply_choices(answer) == THREE


def test_a_reply_of_several_lines_stays_together() -> None:
    answer = "1. Dear Ann,\n\nyes.\n- Bo\n2. No, because:\n1. it rains\n2. it is late\n3. Why?"
    assert reply_choices(answer)[0] == "Dear Ann,\n\nyes.\n- Bo"
    assert len(reply_choices(answer)) == 3


def test_what_cannot_be_told_apart_is_one_reply() -> None:
    assert reply_choices("Yes, I will come at 3. See you then.") == [
        "Yes, I will come at 3. See you then."
    ]
    assert reply_choices(" \n") == []
    assert reply_choices('["unfinished') == ['["unfinished']


words = st.lists(st.sampled_from(["yes", "no", "why?", "at 3.", "(really)", "-"]), min_size=1).map(
    lambda parts: "Well " + " ".join(parts)
)


@given(st.lists(words, min_size=3, max_size=3), st.sampled_from(["{}. ", "{}) ", "**{}.** "]))
def test_numbered_replies_come_back(replies: list[str], form: str) -> None:
    lines = [form.format(number + 1) + reply for number, reply in enumerate(replies)]
    assert reply_choices("\n".join(lines)) == replies


@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_anything_gives_at_most_three_texts(answer: str) -> None:
    choices = reply_choices(answer)
    assert len(choices) <= 3
    assert bool(choices) == bool(answer.strip())
    assert all(choice == choice.strip() and choice for choice in choices)
