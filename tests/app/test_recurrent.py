"""A model whose header tells nothing of a KV cache: the engine plans what the plan cannot."""

from __future__ import annotations

from pathlib import Path

from tests.app.running import FAST, Command
from tests.ggufs.mamba import mamba


def test_it_answers_without_a_plan(command: Command, ggufs: Path) -> None:
    asked = ("-p", "one two", *FAST, "--max-tokens", "8", "--temperature", "0", "--no-save")
    model = mamba(ggufs / "recurrent")
    said = command.json("--model", model, *asked)
    assert (said["emitted_tokens"], said["finish_reason"]) == (8, "length")
    # Nothing in it could be undone, so nothing is drafted, whatever is asked for.
    again = command.json("--model", model, *asked, "--ctx", "256", "--draft", "4")
    assert (again["text"], again["drafted"]) == (said["text"], 0)


def test_what_llama_cpp_does_not_take_is_a_sentence(command: Command, ggufs: Path) -> None:
    """Nothing in its header is wrong; a tensor is missing."""
    model = mamba(ggufs / "lacking", without="blk.1.ssm_d")
    done = command.run("--model", model, "-p", "x", *FAST)
    assert (done.returncode, done.stdout) == (3, "")
    last = done.stderr.splitlines()[-1]
    assert last.startswith("gemma-local: ") and "blk.1.ssm_d" in last
    assert "Traceback" not in done.stderr
