"""Another llama-cpp-python than the one that was tried gives a sentence, not an attribute error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gemma_local.engine.client import Engine, EngineDied
from gemma_local.engine.messages import Load
from gemma_local.engine.runtime.library import REQUIRED


def pretend_version(folder: Path, version: str) -> None:
    info = folder / f"llama_cpp_python-{version}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: llama-cpp-python\nVersion: {version}\n"
    )


def test_the_wrong_version_is_named_with_the_remedy(tmp_path: Path) -> None:
    pretend_version(tmp_path, "0.2.90")
    done = subprocess.run(
        [sys.executable, "-c", "import gemma_local.engine.runtime.library"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    last = done.stderr.strip().splitlines()[-1]
    assert "RuntimeUnusable: llama-cpp-python 0.2.90 is installed" in last
    assert f'pip install "llama-cpp-python=={REQUIRED}"' in last
    assert "AttributeError" not in done.stderr


def test_the_engine_says_it_to_its_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_version(tmp_path, "0.3.99")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    engine = Engine(tmp_path / "engine.log")
    with pytest.raises(EngineDied, match=r"0\.3\.99 is installed, but gemma-local needs"):
        engine.start(Load("model.gguf"))
    assert not engine.is_alive


def test_the_engine_loads_the_c_bindings_and_not_the_interface_above_them() -> None:
    """Jinja and a chat interface would take as long as the rest of the engine."""
    program = (
        "import sys\n"
        "import gemma_local.engine.pair, gemma_local.engine.scheduler\n"
        "assert 'llama_cpp.llama_cpp' in sys.modules\n"
        "print(*sorted({'jinja2', 'llama_cpp.llama', 'textual'} & set(sys.modules)))\n"
    )
    words = [sys.executable, "-P", "-c", program]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
