"""A real model of another kind answers as llama-cpp-python's own high-level class does.

SmolLM2-135M-Instruct, the model that ``make demo`` fetches into the user's cache. Tests have no
network: where it has not been fetched, there is nothing to compare with.
"""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import platformdirs
import pytest

from tests.app.running import Command

QUESTIONS = ["What is gravity?", "Name three rivers.", "Say hello in French."]


@pytest.fixture(scope="module")
def smollm2() -> Path:
    demo = platformdirs.user_cache_path("gemma-local", appauthor=False) / "demo"
    model = next(demo.glob("SmolLM2*.gguf"), None)
    if model is None:
        pytest.skip(f"there is no model in {demo}: `make demo` fetches it")
    return model


@pytest.fixture(scope="module")
def reference(smollm2: Path) -> dict[str, str]:
    """What the high-level class says, greedily, with the attention kernel that we use."""
    program = textwrap.dedent(
        f"""
        import json
        from llama_cpp import Llama
        llama = Llama({str(smollm2)!r}, n_ctx=2048, n_threads=1, flash_attn=True, verbose=False)
        said = {{}}
        for question in {QUESTIONS!r}:
            messages = [{{"role": "user", "content": question}}]
            reply = llama.create_chat_completion(messages, temperature=0, max_tokens=48)
            said[question] = reply["choices"][0]["message"]["content"]
        raw = llama("The capital of France is", temperature=0, max_tokens=8)
        said["raw"] = raw["choices"][0]["text"]
        print(json.dumps(said))
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    said: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return said


@pytest.mark.parametrize("question", QUESTIONS)
def test_chat_is_the_same_text(
    command: Command, smollm2: Path, reference: dict[str, str], question: str
) -> None:
    greedy = ("--temperature", 0, "--max-tokens", 48, "--threads", 1, "--ctx", 2048)
    # What is looked up in the text makes larger passes, whose last bits are others.
    plain = ("--draft", "off")
    said = command.json("--model", smollm2, "-p", question, *greedy, *plain)
    assert said["text"] == reference[question]
    assert (said["drafter"], said["acceptance"]) == (None, None)


def test_gravity_is_explained(command: Command, smollm2: Path) -> None:
    done = command.run("--model", smollm2, "-p", "What is gravity?", "--temperature", 0)
    assert "force" in done.stdout and done.stdout.startswith("Gravity is")


def test_raw_text_is_continued(command: Command, smollm2: Path, reference: dict[str, str]) -> None:
    raw = ("--raw", "-p", "The capital of France is", "--temperature", 0, "--max-tokens", 8)
    said = command.json("--model", smollm2, *raw, "--threads", 1)
    assert said["text"] == reference["raw"]
    assert said["text"].startswith(" Paris")
