"""Another llama-cpp-python than the one that was tried gives a sentence, not an attribute error."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gemma_local.engine.client import Engine, EngineDied
from gemma_local.engine.messages import Load
from gemma_local.engine.runtime.library import REQUIRED, Log


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


def importing(program: str, *folders: Path) -> str:
    """The last line of what an import of the engine's bindings ends with."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport gemma_local.engine.runtime.library"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, folders))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    return done.stderr.strip().splitlines()[-1]


UNINSTALLED = (
    "import os, sys\n"
    "sys.path = [p for p in sys.path if not os.path.isdir(os.path.join(p, 'llama_cpp', 'lib'))]"
)


def test_where_it_is_not_installed_that_is_said(tmp_path: Path) -> None:
    last = importing(UNINSTALLED)
    assert "RuntimeUnusable: llama-cpp-python is not installed; run: pip install" in last
    # In another way than pip's: its version counts all the same.
    (tmp_path / "llama_cpp_python.egg-info").mkdir()
    (tmp_path / "llama_cpp_python.egg-info" / "PKG-INFO").write_text(
        "Metadata-Version: 2.1\nName: llama-cpp-python\nVersion: 0.2.91\n"
    )
    last = importing(UNINSTALLED, tmp_path)
    assert "RuntimeUnusable: llama-cpp-python 0.2.91 is installed, but gemma-local needs" in last


@pytest.mark.parametrize(
    ("raises", "sentence"),
    [
        (
            "OSError('libllama.so: cannot open shared object file')",
            "llama.cpp could not be loaded (libllama.so: cannot open shared object file)",
        ),
        (
            "AttributeError('undefined symbol: llama_new')",
            "lacks a function that MTP drafting needs (undefined symbol: llama_new)",
        ),
    ],
)
def test_a_build_that_is_damaged_is_named_with_the_remedy(
    tmp_path: Path, raises: str, sentence: str
) -> None:
    pretend_version(tmp_path, REQUIRED)
    (tmp_path / "llama_cpp").mkdir()
    (tmp_path / "llama_cpp" / "__init__.py").touch()
    (tmp_path / "llama_cpp" / "llama_cpp.py").write_text(f"raise {raises}\n")
    last = importing("", tmp_path)
    assert "RuntimeUnusable: " in last and sentence in last
    assert "reinstall" in last and f'"llama-cpp-python=={REQUIRED}"' in last


def test_the_cause_of_a_problem_is_told_and_not_what_came_of_it() -> None:
    log = Log()
    assert log.last_problem() == ""
    # As llama.cpp says it, in pieces.
    for text in ("error: of before\nload", "ing\n", "Error: no tensor\nfailed to load\n", "done\n"):
        log._receive(2, text.encode(), None)
    assert log.last_problem() == "Error: no tensor"


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
