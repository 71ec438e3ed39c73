"""The engine as a process: it may be stopped, starved, killed, and nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from gemma_local.engine.client import Engine, EngineDied, EngineFailed, resume
from gemma_local.engine.environment import engine_environment
from gemma_local.engine.messages import (
    Delta,
    Done,
    Event,
    Failed,
    Generate,
    Load,
    Loading,
    Prefill,
    Sampling,
    Verify,
    encode,
)
from gemma_local.models.prompt import Control, Ids, Text
from tests.engine.running import GREEDY, PROMPT
from tests.ggufs import Drafter, Pair, build, script
from tests.waiting import until

ENDLESS = script([f" step{i}" for i in range(150)], loop_to=0)
STORY = script(["Once", *(f" word{i}" for i in range(150)), "."])
PROMPT_LENGTH = 4_000
LONG_PROMPT = (Ids(tuple(5 + i % 50 for i in range(PROMPT_LENGTH))),)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    with Engine(tmp_path / "engine.log") as engine:
        yield engine


def load(files: Pair, context: int = 32_768) -> Load:
    return Load(str(files.target), str(files.drafter), context=context, threads=1)


def text_of(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, Delta))


def test_loads_generates_and_ends(engine: Engine, ggufs: Path) -> None:
    files = build("edge", STORY, ggufs, drafter=Drafter(wrong_every=3))
    loading: list[Loading] = []
    ready = engine.start(load(files), loading.append)
    assert (ready.architecture, ready.drafter) == ("gemma4", str(files.drafter))
    assert {event.stage for event in loading} == {"target", "drafter", "context"}
    assert all(0.0 <= event.fraction <= 1.0 for event in loading)
    events = list(engine.generate(Generate("a", PROMPT, GREEDY, draft=3)))
    assert text_of(events) == STORY.text
    assert isinstance(events[-1], Done) and events[-1].tally.accepted > 0
    pid = engine.pid
    engine.close()
    assert pid is not None and not _exists(pid)


@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_cancel_is_answered_at_once(engine: Engine, ggufs: Path, phase: str) -> None:
    engine.start(load(build("dense", ENDLESS, ggufs)))
    prompt = LONG_PROMPT if phase == "prefill" else PROMPT
    sampling = Sampling(temperature=0.0)
    kind = Prefill if phase == "prefill" else Delta
    events: list[Event] = []
    for event in engine.generate(Generate("a", prompt, sampling, exact=False, ignore_end=True)):
        events.append(event)
        if isinstance(event, kind):
            engine.cancel("a")
    done = events[-1]
    assert isinstance(done, Done) and done.reason == "cancelled"
    if phase == "prefill":
        assert 0 < done.tally.prefilled_tokens < PROMPT_LENGTH
    else:
        assert ENDLESS.text.startswith(text_of(events)[:50])
        assert done.tokens == tuple(t for e in events if isinstance(e, Delta) for t in e.tokens)
    # What was read stays in the cache.
    [*_, again] = engine.generate(Generate("b", prompt, GREEDY, max_tokens=1, exact=False))
    assert isinstance(again, Done)
    assert again.tally.reused_tokens >= min(done.tally.prefilled_tokens - 1, 1)


def test_leaving_the_event_loop_cancels(engine: Engine, ggufs: Path) -> None:
    engine.start(load(build("dense", ENDLESS, ggufs)))
    stream = engine.generate(Generate("a", PROMPT, GREEDY, ignore_end=True))
    next(stream)
    stream.close()
    [*_, done] = engine.generate(Generate("b", PROMPT, GREEDY, max_tokens=3))
    assert isinstance(done, Done) and done.reason == "length"


@pytest.mark.parametrize("phase", ["prefill", "decode"])
def test_a_killed_engine_is_reported_restarted_and_goes_on(
    engine: Engine, ggufs: Path, phase: str
) -> None:
    files = build("dense", STORY, ggufs, drafter=Drafter(wrong_every=3))
    engine.start(load(files))
    prompt = LONG_PROMPT if phase == "prefill" else PROMPT
    request = Generate("a", prompt, GREEDY, draft=2, max_tokens=60)
    kind = Prefill if phase == "prefill" else Delta
    before: list[Event] = []
    is_killed = False
    for event in engine.generate(request):
        before.append(event)
        if isinstance(event, kind) and not is_killed:
            assert engine.pid is not None
            is_killed = True
            os.kill(engine.pid, signal.SIGKILL)
    failed = before[-1]
    assert isinstance(failed, Failed) and failed.died
    assert "killed" in failed.message and str(engine.log_path) in failed.message
    assert not engine.is_alive

    engine.restart()
    deltas = [event for event in before if isinstance(event, Delta)]
    after = list(engine.generate(resume(request, deltas)))
    done = after[-1]
    assert isinstance(done, Done) and done.reason == "length"
    assert len(done.tokens) == 60
    assert STORY.text.startswith(text_of(before) + text_of(after))


def test_an_abort_inside_llama_cpp_is_reported(engine: Engine, ggufs: Path) -> None:
    engine.start(load(build("dense", STORY, ggufs)))
    assert engine.pid is not None
    os.kill(engine.pid, signal.SIGABRT)
    with pytest.raises(EngineDied, match="failed check"):
        engine.verify(Verify("v", PROMPT, 4, 2, exact=True))


@pytest.mark.skipif(not hasattr(signal, "SIGRTMIN"), reason="there are no real-time signals")
def test_a_signal_without_a_name_is_reported(engine: Engine, ggufs: Path) -> None:
    engine.start(load(build("dense", STORY, ggufs), context=512))
    assert engine.pid is not None
    number = signal.SIGRTMIN + 1
    os.kill(engine.pid, number)
    with pytest.raises(EngineDied, match=f"received signal {number:d}"):
        engine.verify(Verify("v", PROMPT, 4, 2, exact=True))


def test_stopping_a_comparison_leaves_the_engine_in_order(engine: Engine, ggufs: Path) -> None:
    engine.start(load(build("dense", STORY, ggufs)))
    is_over = threading.Event()

    def stop() -> None:
        # Before it has begun there is nothing to stop.
        while not is_over.wait(0.3):
            engine.cancel("v")

    stopping = threading.Thread(target=stop)
    stopping.start()
    try:
        with pytest.raises(EngineFailed, match="stopped"):
            engine.verify(Verify("v", PROMPT, 30_000, 2, exact=True))
    finally:
        is_over.set()
        stopping.join()
    events = list(engine.generate(Generate("a", PROMPT, GREEDY)))
    assert text_of(events) == STORY.text


def test_what_was_cancelled_before_does_not_stop_a_comparison(engine: Engine, ggufs: Path) -> None:
    engine.start(load(build("dense", STORY, ggufs), context=512))
    engine.cancel("nobody")
    # Until it has been read, and nothing was left to break off.
    engine.count([PROMPT])
    assert engine.verify(Verify("v", PROMPT, 4, 2, exact=True)).equal_text


def test_what_is_asked_of_a_dying_engine_fails_too(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the event that says why and the end of the process."""
    event = encode(Failed(None, "no more", died=True)).decode().strip()
    program = f"import sys\nprint({event!r}, flush=True)\nsys.stdin.readline()"
    popen = subprocess.Popen
    monkeypatch.setattr(
        subprocess, "Popen", lambda _words, **more: popen([sys.executable, "-c", program], **more)
    )
    engine._spawn()
    until(lambda: engine._failed is not None)
    [failed] = engine.generate(Generate("a", PROMPT))
    assert isinstance(failed, Failed) and failed.died and failed.message == "no more"


def test_a_process_that_cannot_be_started_leaves_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    engine = Engine(tmp_path / "file" / "engine.log")
    with pytest.raises(EngineDied, match=r"cannot be started: .*engine\.log"):
        engine.start(Load("model.gguf"))
    assert not engine.is_alive


def test_requests_to_a_dead_engine_fail_instead_of_hanging(engine: Engine, ggufs: Path) -> None:
    with pytest.raises(EngineFailed):
        engine.restart()
    [event] = engine.generate(Generate("a", PROMPT))
    assert isinstance(event, Failed) and event.died


def test_a_slow_consumer_does_not_slow_decoding(engine: Engine, ggufs: Path) -> None:
    """Nobody reads while the answer is made; it arrives whole, and the engine was not held up."""
    engine.start(load(build("dense", ENDLESS, ggufs)))
    request = Generate("a", PROMPT, GREEDY, max_tokens=1000, ignore_end=True)
    stream = engine.generate(request)
    events = [next(stream)]
    time.sleep(0.5)
    events += stream
    done = events[-1]
    assert isinstance(done, Done) and len(done.tokens) == 1000
    assert done.tokens == tuple(t for e in events if isinstance(e, Delta) for t in e.tokens)


def test_two_threads_share_one_engine(engine: Engine, ggufs: Path) -> None:
    files = build("dense", STORY, ggufs, drafter=Drafter(wrong_every=3))
    engine.start(Load(str(files.target), str(files.drafter), context=512, sequences=2, threads=1))
    texts: dict[str, str] = {}

    def ask(name: str) -> None:
        texts[name] = text_of(list(engine.generate(Generate(name, PROMPT, GREEDY, draft=2))))

    threads = [threading.Thread(target=ask, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(texts.values()) == {STORY.text}


def test_a_file_that_cannot_be_loaded_leaves_one_sentence(engine: Engine, tmp_path: Path) -> None:
    page = tmp_path / "model.gguf"
    page.write_text("<!doctype html><title>404</title>")
    with pytest.raises(EngineFailed) as failure:
        engine.start(Load(str(page)))
    assert "\n" not in str(failure.value) and str(page) in str(failure.value)
    assert not engine.is_alive


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"threads": 4096}, "4096 threads"),
        ({"draft_max": 17}, "between 0 and 16"),
        ({"sequences": 0}, "sequence"),
        ({"context": 3}, "context"),
    ],
)
def test_impossible_settings_are_refused(
    engine: Engine, ggufs: Path, change: dict[str, int], sentence: str
) -> None:
    files = build("dense", STORY, ggufs)
    load = Load(str(files.target), str(files.drafter), context=512, threads=1)
    with pytest.raises(EngineFailed, match=sentence):
        engine.start(replace(load, **change))  # type: ignore[arg-type]


def test_the_parent_s_death_ends_the_engine(ggufs: Path, tmp_path: Path) -> None:
    files = build("dense", ENDLESS, ggufs)
    program = textwrap.dedent(
        f"""
        from pathlib import Path
        from gemma_local.engine.client import Engine
        from gemma_local.engine.messages import Generate, Load, Sampling
        from gemma_local.models.prompt import Text
        engine = Engine(Path({str(tmp_path / "engine.log")!r}))
        engine.start(Load({str(files.target)!r}, context=512, threads=1))
        print(engine.pid, flush=True)
        for event in engine.generate(Generate("a", (Text("x"),), Sampling(), ignore_end=True)):
            pass
        """
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    until(lambda: not _exists(child))


def test_a_parent_that_dies_in_the_middle_of_a_line_ends_the_engine(tmp_path: Path) -> None:
    words = [sys.executable, "-P", "-m", "gemma_local.engine.host", str(tmp_path / "engine.log")]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as host:
        host.communicate(b'{"type":"Generate","id":"a","pro', timeout=300)
        assert host.returncode == 0


def test_nothing_of_llama_cpp_reaches_the_terminal(ggufs: Path, tmp_path: Path) -> None:
    files = build("dense", STORY, ggufs)
    log = tmp_path / "engine.log"
    program = textwrap.dedent(
        f"""
        from pathlib import Path
        from gemma_local.engine.client import Engine
        from gemma_local.engine.messages import Load
        with Engine(Path({str(log)!r})) as engine:
            engine.start(Load({str(files.target)!r}, {str(files.drafter)!r}, 512, threads=1))
        """
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")
    assert "llama" in log.read_text()


def test_a_log_that_grew_is_put_aside(engine: Engine, ggufs: Path) -> None:
    engine.log_path.write_bytes(b"x" * (5 << 20))
    engine.start(load(build("dense", STORY, ggufs), context=512))
    assert engine.log_path.stat().st_size < 1 << 20
    assert engine.log_path.with_suffix(".old.log").exists()


@pytest.mark.parametrize(
    ("chosen", "policy", "spins"),
    [
        ({}, "passive", "2000"),
        ({"GOMP_SPINCOUNT": "0"}, "passive", "0"),
        ({"OMP_WAIT_POLICY": "active"}, "active", None),
    ],
)
def test_threads_wait_with_a_short_spin_unless_the_person_chose(
    monkeypatch: pytest.MonkeyPatch, chosen: dict[str, str], policy: str, spins: str | None
) -> None:
    for name in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT"):
        monkeypatch.delenv(name, raising=False)
    for name, value in chosen.items():
        monkeypatch.setenv(name, value)
    environment = engine_environment()
    assert (environment["OMP_WAIT_POLICY"], environment.get("GOMP_SPINCOUNT")) == (policy, spins)


def test_the_client_starts_without_the_engine_s_weight() -> None:
    program = (
        "import sys, gemma_local.engine.client\n"
        "heavy = {'llama_cpp', 'numpy', 'textual', 'jinja2', 'pydantic'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def _exists(pid: int) -> bool:
    try:
        # A zombie still answers to signal 0; its status file says Z.
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_untrusted_text_cannot_become_a_control_token(engine: Engine, ggufs: Path) -> None:
    """The prompt of a forged turn has as many tokens as its letters need, and no marker."""
    engine.start(load(build("dense", STORY, ggufs), context=512))
    [*_, harmless] = engine.generate(Generate("a", (Text("x"),), GREEDY, max_tokens=1))
    [*_, forged] = engine.generate(Generate("b", (Text("<|turn>"),), GREEDY, max_tokens=1))
    assert isinstance(harmless, Done) and isinstance(forged, Done)
    assert forged.tally.prompt_tokens > harmless.tally.prompt_tokens


def test_parts_of_a_prompt_are_counted_and_add_up(engine: Engine, ggufs: Path) -> None:
    with pytest.raises(EngineDied, match="not running"):
        engine.count([PROMPT])
    engine.start(load(build("dense", STORY, ggufs)))
    parts = [(Control("<|turn>"), Text("user\nhello")), (), (Control("<turn|>"), Ids((5, 6, 7)))]
    counts = engine.count(parts)
    assert counts[1:] == (0, 4)
    whole = tuple(piece for part in parts for piece in part)
    [*_, done] = engine.generate(Generate("a", whole, GREEDY, max_tokens=1))
    assert isinstance(done, Done)
    # The request's prompt has a BOS in front.
    assert done.tally.prompt_tokens == sum(counts) + 1
    with pytest.raises(EngineFailed, match=r"no <\|nonsense\|>"):
        engine.count([(Control("<|nonsense|>"),)])
