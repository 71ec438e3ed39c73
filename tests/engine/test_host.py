"""What the engine's process answers when it can't do what is asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from gemma_local.engine.client import Engine, EngineFailed
from gemma_local.engine.messages import (
    Count,
    Delta,
    Done,
    Failed,
    Generate,
    Load,
    Read,
    Save,
    Shutdown,
    Verify,
    decode,
    encode,
)
from tests.engine.running import GREEDY, PROMPT
from tests.ggufs import build, script


def test_without_a_model_each_command_is_answered(tmp_path: Path) -> None:
    asked: list[Generate | Read | Save | Count | Verify] = [
        Generate("generate", PROMPT),
        Read("read", PROMPT),
        Save("save"),
        Count("count", (PROMPT,)),
        Verify("verify", PROMPT, 4, 2, exact=True),
    ]
    words = [sys.executable, "-P", "-m", "gemma_local.engine.host", str(tmp_path / "engine.log")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(b"".join(map(encode, asked)))
        process.stdin.flush()
        told = [decode(process.stdout.readline()) for _ in asked]
        process.stdin.write(encode(Shutdown()))
    assert told == [Failed(command.id, "no model is loaded") for command in asked]
    assert process.returncode == 0


def test_nothing_is_compared_while_it_answers(tmp_path: Path, ggufs: Path) -> None:
    endless = build("dense", script([f" step{i}" for i in range(150)], loop_to=0), ggufs)
    with Engine(tmp_path / "engine.log") as engine:
        engine.start(Load(str(endless.target), context=32_768, threads=1))
        events = engine.generate(Generate("g", PROMPT, GREEDY))
        assert any(isinstance(event, Delta) for event in events)
        with pytest.raises(EngineFailed, match="the engine is busy; verify when it is idle"):
            engine.verify(Verify("v", PROMPT, 4, 2, exact=True))
        engine.cancel("g")
        *_, last = events
        assert isinstance(last, Done) and last.reason == "cancelled"
        assert engine.verify(Verify("v", PROMPT, 4, 2, exact=True)).equal_text
