"""A machine for what the documents tell people to type: with a hub, a model and a project."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gemma_local.models.catalog import load_catalog
from tests.documents.blocks import ROOT
from tests.ggufs import Pair
from tests.hub import HubServer
from tests.waiting import PATIENCE

SIZES: Final = ("E2B", "E4B")
REPOSITORY: Final = "maker/tiny"
FILE: Final = "tiny-Q4.gguf"
SESSION: Final = "trouble"
FETCHED: Final = "gemma-4-E2B"
"""The beginning of the name of what `models get E2B` brings."""


@dataclass(frozen=True)
class Stage:
    """``home`` is a person's, ``project`` where they type."""

    home: Path
    project: Path
    pair: Pair
    endpoint: str

    @property
    def stick(self) -> Path:
        return self.home / "stick"

    @property
    def environment(self) -> dict[str, str]:
        left_out = ("XDG_", "GEMMA_LOCAL_", "HF_", "OLLAMA_", "LLAMA_")
        kept = {k: v for k, v in os.environ.items() if not k.startswith(left_out)}
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            kept.pop(name, None)
            kept.pop(name.upper(), None)
        return {
            **kept,
            "HOME": str(self.home),
            "HF_ENDPOINT": self.endpoint,
            "PATH": f"{self.home / 'bin'}{os.pathsep}{kept['PATH']}",
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }

    def filled(self, command: str) -> str:
        """A command with its placeholders filled."""
        for word, value in self._values.items():
            # Not within GEMMA_LOCAL_MODEL.
            command = value.join(re.split(rf"(?<![A-Z_]){re.escape(word)}", command))
        return command

    @property
    def _values(self) -> dict[str, str]:
        model = shlex.quote(str(self.pair.target))
        return {
            "OWNER/NAME:FILE": f"{REPOSITORY}:{FILE}",
            "models rm MODEL": f"models rm {shlex.quote(self.pair.target.stem)}",
            # A size is known by its layers and its width, which the tiny one has not.
            "--model E2B": "--model MODEL",
            "/media/stick E2B": f"/media/stick {FETCHED}",
            "/media/stick": shlex.quote(str(self.stick)),
            "/path/to/MODEL": model,
            "MODEL": model,
            "SESSION": SESSION,
            "add FILE": f"add {model}",
        }

    def run(self, command: str, *, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run a line in a shell, to its end."""
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            input=stdin,
            capture_output=True,
            text=True,
            env=self.environment,
            cwd=self.project,
            timeout=PATIENCE,
            check=False,
        )

    def prepare(self, command: str) -> None:
        """Run a line that is not shown but has to come before."""
        done = self.run(command)
        assert done.returncode == 0, (command, done.stderr)


@contextmanager
def set_up(folder: Path, pair: Pair) -> Iterator[Stage]:
    """A stage with everything that the documents speak of."""
    home, project = folder / "home", folder / "home" / "project"
    for place in (home / "bin", project, home / ".config/fish/completions", home / "stick"):
        place.mkdir(parents=True)
    command = home / "bin" / "gemma-local"
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    command.write_text(
        f"#!/bin/sh\nPYTHONPATH={shlex.quote(path)} "
        f'exec {shlex.quote(sys.executable)} -m gemma_local.app.cli "$@"\n'
    )
    command.chmod(0o755)
    (project / "questions.jsonl").write_text('{"prompt": "Name three rivers"}\n' * 2)
    target, drafter = pair.target.read_bytes(), pair.drafter.read_bytes()
    with HubServer() as hub:
        hub.commit(REPOSITORY, {FILE: target, "mtp-tiny.gguf": drafter})
        for label in SIZES:
            size = load_catalog().size(label)
            found = size.drafter_for(size.default)
            assert found is not None
            files: dict[str, dict[str, bytes]] = {}
            files.setdefault(size.default.repository, {})[size.default.file] = target
            files.setdefault(found.repository, {})[found.file] = drafter
            for repository, contents in files.items():
                hub.commit(repository, contents)
        yield Stage(home, project, pair, hub.endpoint)
