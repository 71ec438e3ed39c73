"""The predicted footprint against what llama.cpp says and does, on pairs of every kind."""

from __future__ import annotations

import ctypes
import io
import json
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from gemma_local.engine.measure import Measured, NotMeasured, measure, question_of
from gemma_local.engine.planned_buffers import plan_buffers
from gemma_local.engine.runtime import library
from gemma_local.engine.runtime.context import Context, ContextOptions
from gemma_local.engine.runtime.library import C, X
from gemma_local.engine.runtime.model import Model
from gemma_local.models.drafter import inspect_drafter
from gemma_local.models.footprint import Footprint, Use, footprint, full_cells, sliding_cells
from gemma_local.models.target import inspect_target
from tests.ggufs import Pair, build
from tests.ggufs.architecture import KINDS
from tests.ggufs.random_pair import Random

HALF_A_DIGIT = 0.005 * (1 << 20) + 1
"""llama.cpp's log has MiB with two decimals."""
USES = (
    Use(512, ubatch=64),
    Use(8192),
    Use(2000, sequences=3, ubatch=128, rows=12),
    Use(4096, sequences=2, kv_type="bf16", ubatch=256, rows=8),
    Use(8192, kv_type="q8_0"),
    Use(32768),
)


@pytest.fixture
def quiet_log() -> Iterator[None]:
    """Planning sends llama.cpp's log elsewhere; afterwards it goes where it went before."""
    yield
    library.log.install(None)


def forecast_of(files: Pair, use: Use) -> Footprint:
    return footprint(inspect_target(files.target), inspect_drafter(files.drafter), use)


@pytest.mark.usefixtures("quiet_log")
@pytest.mark.parametrize("kind", KINDS)
def test_caches_are_exact_and_compute_buffers_near(ggufs: Path, kind: str) -> None:
    files = build(kind, Random(), ggufs)
    window = files.shape.window
    for use in USES:
        planned = plan_buffers(question_of(files.target, files.drafter, use))
        forecast = forecast_of(files, use)
        (full, full_bytes), (sliding, sliding_bytes) = planned.target.caches
        assert (full, sliding) == (full_cells(use), sliding_cells(use, window))
        assert abs(forecast.of("full cache") - full_bytes) <= HALF_A_DIGIT
        assert abs(forecast.of("sliding cache") - sliding_bytes) <= HALF_A_DIGIT
        assert planned.drafter is not None
        assert planned.drafter.caches == ()
        assert planned.target.compute_device == planned.drafter.compute_device == 0
        compute = forecast.of("compute") / planned.target.compute_host
        assert 0.97 < compute < 1.2, (use, compute)
        drafting = forecast.of("drafter compute") / planned.drafter.compute_host
        assert 0.9 < drafting < 1.3, (use, drafting)


@pytest.mark.usefixtures("quiet_log")
@pytest.mark.parametrize("kind", ["dense", "edge"])
def test_the_real_buffers_are_those_that_were_planned(
    ggufs: Path, tmp_path: Path, kind: str
) -> None:
    files = build(kind, Random(), ggufs)
    use = Use(2048, ubatch=128)
    planned = measure(files.target, None, use, tmp_path)
    heard = io.StringIO()
    library.start(heard)
    model = Model(files.target, gpu_layers=0)
    context = Context(model, options_of(use))
    context.close()
    model.close()
    text = heard.getvalue()
    compute = re.findall(r"CPU compute buffer size = +([\d.]+) MiB", text)
    allocated = re.findall(r"CPU KV buffer size = +([\d.]+) MiB", text)
    assert [mebibytes(planned.target.compute_host)] == compute
    assert [mebibytes(size) for _, size in planned.target.caches] == allocated


def mebibytes(size: int) -> str:
    return f"{size / (1 << 20):.2f}"


def options_of(use: Use) -> ContextOptions:
    return ContextOptions(use.context, use.sequences, use.ubatch, use.rows, 1, use.kv_type)


@pytest.mark.parametrize("sequences", [1, 3])
def test_the_output_buffer_is_exact(ggufs: Path, sequences: int) -> None:
    files = build("dense", Random(), ggufs)
    use = Use(512, sequences, ubatch=64, rows=4 * sequences)
    model = Model(files.target, gpu_layers=0)
    context = Context(model, options_of(use))
    context.enable_nextn(masked=False)
    rows = range(use.rows)
    context.decode(
        [5] * use.rows,
        [i // sequences for i in rows],
        [i % sequences for i in rows],
        [1] * use.rows,
    )
    logits, activations = (
        ctypes.cast(function(context.pointer), ctypes.c_void_p).value
        for function in (C.llama_get_logits, X.llama_get_embeddings_nextn)
    )
    assert logits is not None and activations is not None
    # The activations of every row of a slice lie behind the logits.
    behind = activations - logits
    context.close()
    model.close()
    facts = inspect_target(files.target)
    assert footprint(facts, None, use).of("output") == behind
    assert forecast_of(files, use).of("output") == behind + 4 * use.ubatch * facts.embedding_length


def test_answers_are_kept_for_the_same_files_and_use(ggufs: Path, tmp_path: Path) -> None:
    files = build("moe", Random(), ggufs)
    use, folder = Use(1024, ubatch=64), tmp_path / "new" / "folder"
    first = measure(files.target, files.drafter, use, folder)
    (kept,) = folder.iterdir()
    # What is kept is what is answered: shown by an answer that no llama.cpp gave.
    answer = json.loads(kept.read_text(encoding="utf-8"))
    answer["target"]["compute_host"] += 1
    kept.write_text(json.dumps(answer), encoding="utf-8")
    again = measure(files.target, files.drafter, use, folder)
    assert again.target.compute_host == first.target.compute_host + 1
    # Another use and a changed file are asked about anew, and so is what cannot be read.
    assert measure(files.target, None, use, folder).drafter is None
    assert len(list(folder.iterdir())) == 2
    kept.write_text("{", encoding="utf-8")
    assert measure(files.target, files.drafter, use, folder) == first
    copy = tmp_path / "copy.gguf"
    copy.write_bytes(files.target.read_bytes())
    assert measure(copy, files.drafter, use, folder) == first
    assert len(list(folder.iterdir())) == 3


def test_a_folder_that_cannot_be_written_to_costs_no_answer(ggufs: Path, tmp_path: Path) -> None:
    files = build("dense", Random(), ggufs)
    (tmp_path / "file").write_bytes(b"")
    answer = measure(files.target, None, Use(512, ubatch=64), tmp_path / "file" / "folder")
    assert isinstance(answer, Measured)


def test_files_and_uses_that_do_not_work_are_sentences(ggufs: Path, tmp_path: Path) -> None:
    files = build("dense", Random(), ggufs)
    other = build("dense", Random(), ggufs, width=256)
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(files.target.read_bytes()[:5000])
    use = Use(512, ubatch=64)
    for target, drafter, asked, says in (
        (damaged, None, use, "damaged.gguf is damaged"),
        (files.target, other.drafter, use, "does not fit"),
        (tmp_path / "none.gguf", None, use, "cannot be read"),
        # llama.cpp takes at most 256 sequences.
        (files.target, None, Use(512, sequences=300, rows=300), "llama.cpp cannot make a context"),
    ):
        with pytest.raises(NotMeasured, match=says):
            measure(target, drafter, asked, tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_modules_of_the_working_folder_are_not_run(
    ggufs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = build("dense", Random(), ggufs)
    (tmp_path / "json.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.chdir(tmp_path)
    answer = measure(files.target, None, Use(512, ubatch=64), tmp_path / "kept")
    assert isinstance(answer, Measured)


@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
@pytest.mark.parametrize("status", [1, 3, 77])
def test_what_ends_with_a_status_has_refused_nothing(
    ggufs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    # 3 is what a process ends with that aborts on Windows.
    crashing = tmp_path / "python"
    crashing.write_text(f"#!/bin/sh\necho 'GGML_ASSERT failed' >&2\nexit {status}\n")
    crashing.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(crashing))
    files = build("dense", Random(), ggufs)
    with pytest.raises(NotMeasured, match=f"ended with status {status}"):
        measure(files.target, None, Use(512, ubatch=64), tmp_path / "kept")


def test_a_process_that_dies_is_a_sentence(ggufs: Path, tmp_path: Path) -> None:
    files = build("dense", Random(), ggufs)

    is_over = threading.Event()

    def kill_the_child() -> None:
        # Other tests may have left children of their own, so only this one, and until it is over.
        while not is_over.wait(0.001):
            for child in psutil.Process().children():
                with suppress(psutil.Error):
                    if "gemma_local.engine.planned_buffers" in child.cmdline():
                        child.kill()

    killer = threading.Thread(target=kill_the_child)
    killer.start()
    try:
        with pytest.raises(NotMeasured, match="ended with status"):
            measure(files.target, None, Use(512, ubatch=64), tmp_path)
    finally:
        is_over.set()
        killer.join()
    assert not list(tmp_path.glob("buffers-*"))
