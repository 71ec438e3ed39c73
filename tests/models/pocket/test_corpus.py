"""The corpus: what it teaches is right, and what is held out stays out of it."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from gemma_local.app import quick_tasks
from gemma_local.app.attachments import attach
from gemma_local.models.message import Message
from gemma_local.models.pocket.train.corpus import (
    attached,
    everyday,
    guide,
    helpers,
    mix,
    project,
    tool_head,
    tool_sessions,
    words,
)
from gemma_local.models.pocket.train.corpus.sample import Sample
from gemma_local.models.pocket.train.held_out import SIZES, held_out, questions_by_hand
from gemma_local.models.pocket.train.judge import judged
from gemma_local.models.reply import Reply


def _texts(sample: Sample) -> str:
    parts = [message.text for message in sample.messages]
    parts += [str(dict(call.arguments)) for m in sample.messages for call in m.calls]
    return "\n".join(parts)


def test_the_same_seed_gives_the_same_samples() -> None:
    one, other = random.Random(5), random.Random(5)
    assert [mix.plain(one) for _ in range(50)] == [mix.plain(other) for _ in range(50)]
    begin = tool_head.make_head(one, "train")
    assert begin == tool_head.make_head(other, "train")
    assert mix.with_tools(one, begin) == mix.with_tools(other, begin)


def test_each_fact_has_a_name_of_its_own_and_right_answers() -> None:
    facts = guide.facts()
    assert len({fact.id for fact in facts}) == len(facts) > 150
    for fact in facts:
        assert len(fact.answers) >= 2, fact.id
        for answer in fact.answers:
            assert guide.has_fact(answer, fact.must), (fact.id, answer)
            assert "\n" not in answer


def test_each_fact_is_asked_for_in_many_ways() -> None:
    rng = random.Random(1)
    for fact in guide.facts():
        asked = {guide.question(fact, rng, "train").casefold() for _ in range(400)}
        assert len(asked) >= 10, fact.id


def test_no_fact_answers_another_facts_question() -> None:
    """Two facts that are asked for in the same words would teach neither."""
    known: dict[str, str] = {}
    for fact in guide.facts():
        for kind, topics in fact.asked.items():
            for topic in topics:
                assert known.setdefault(f"{kind} {topic}".casefold(), fact.id) == fact.id, topic


def test_questions_written_by_hand_are_never_trained_on() -> None:
    by_hand = {question.casefold() for _, question in questions_by_hand()}
    assert len(by_hand) >= 100
    rng = random.Random(2)
    for fact in guide.facts():
        for _ in range(60):
            assert guide.question(fact, rng, "train").casefold() not in by_hand


def test_names_of_the_held_out_sets_are_never_trained_on() -> None:
    rng = random.Random(3)
    trained = {words.identifier(rng, "train") for _ in range(2000)}
    held = {words.identifier(rng, "test") for _ in range(2000)}
    assert not trained & held
    parts = {part for name in trained for part in name.split("_")}
    nouns = {*words.NOUNS} - {*words.VERBS}
    assert not any(words.is_held_out(part) for part in parts & nouns)
    assert all(words.is_held_out(words.made_up(rng, "test")) for _ in range(50))
    assert not any(words.is_held_out(words.made_up(rng, "train")) for _ in range(50))


def test_every_helper_does_what_it_says() -> None:
    for helper in helpers.helpers():
        assert len(helper.does) >= 5
        space: dict[str, object] = {}
        exec(helper.code("f", helper.parameters), space)
        for check in helper.checks:
            assert eval(check, space), (helper.names, check)


def _spoken(sample: Sample) -> Reply:
    """The expected answer, as if the model had said it."""
    reply = Reply({}, sample.tools)
    reply.feed(-1, sample.answer.text)
    reply.finish()
    return reply


@pytest.mark.parametrize(
    "name", [name for name in SIZES if name != "guide" and "tools" not in name]
)
def test_judges_take_the_right_answer_and_no_other(name: str) -> None:
    for sample in held_out(name, 20):
        assert judged(sample, _spoken(sample)).right, sample
        for wrong in ("", "No.", "```python\ndef nothing():\n    return None\n```"):
            answer = Message("assistant", wrong)
            other = Sample(sample.kind, (*sample.asked, answer), judged_by=sample.judged_by)
            assert not judged(other, _spoken(other)).right, (name, wrong)


def test_commands_are_asked_for_as_the_program_asks() -> None:
    for task in ("summarize", "proofread", "reply"):
        source = quick_tasks.Source("Some text, see?")
        planned = quick_tasks.plan(task, source, 8192, len)
        assert planned.messages(0) == everyday.by_command(task, "Some text, see?")


def test_edits_and_lookups_copy_from_what_was_read() -> None:
    """A call's ``old`` text stands in a result before it: the model can copy it."""
    rng = random.Random(4)
    seen = 0
    for _ in range(400):
        sample = tool_sessions.sample(rng, "train")
        results = ""
        for message in sample.messages:
            if message.role == "tool":
                results += message.text
            for call in message.calls:
                if call.name == "edit":
                    seen += 1
                    assert str(call.arguments["old"]) in results
    assert seen > 50


def test_what_one_task_changed_the_next_ones_find_changed() -> None:
    """Files of a conversation as its results show them, followed through its edits."""
    rng = random.Random(6)
    tasks, later_reads = 0, 0
    for _ in range(150):
        sample = project.conversation(rng, "train", tool_head.Head())
        shown: dict[str, str] = {}
        call = None
        for message in sample.messages:
            tasks += message.role == "user"
            if message.calls:
                call = message.calls[0]
                continue
            if message.role != "tool" or call is None or "path" not in call.arguments:
                continue
            path = str(call.arguments["path"])
            if call.name == "edit":
                old, new = str(call.arguments["old"]), str(call.arguments["new"])
                assert old != new
                assert old in shown[path]
                count = -1 if call.arguments.get("all") else 1
                shown[path] = shown[path].replace(old, new, count)
            elif call.name == "read" and "limit" not in call.arguments:
                lines = re.sub(r"(?m)^\d+(?:\||\t|: )", "", message.text)
                later_reads += path in shown
                assert shown.get(path, lines) == lines
                shown[path] = lines
    assert tasks > 400
    assert later_reads > 100


def test_questions_about_attached_files_are_put_as_the_program_puts_them(tmp_path: Path) -> None:
    rng = random.Random(7)
    for _ in range(40):
        sample = attached.sample(rng, "train")
        question, heading, rest = sample.messages[0].text.partition("\n\nFile ")
        path, _, content = rest.partition(":\n")
        text = content.partition("\n")[2].removesuffix("```")
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        assert heading
        assert attach(question, tmp_path, may_read_secrets=True).text == sample.messages[0].text
