"""What folder is somebody's project, in which a model may be of use with tools."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final

_MARKS: Final = frozenset(
    (
        *(".git", ".hg", ".jj", "pyproject.toml", "setup.py", "package.json", "Cargo.toml"),
        *("go.mod", "Makefile", "CMakeLists.txt", "meson.build", "pom.xml", "build.gradle"),
        *("build.gradle.kts", "Gemfile", "composer.json", "mix.exs", "deno.json", "flake.nix"),
        *("Package.swift", "AGENTS.md", "CLAUDE.md", "GEMINI.md"),
    )
)
_MARKED_ENDINGS: Final = (".sln", ".csproj", ".cabal", ".xcodeproj")
"""What lies in a project's folder, and hardly in another."""
_SOURCE_ENDINGS: Final = (
    *(".py", ".ipynb", ".rb", ".php", ".pl", ".lua", ".r", ".jl", ".sh", ".ps1", ".sql", ".tex"),
    *(".js", ".jsx", ".mjs", ".ts", ".tsx", ".vue", ".svelte", ".css", ".scss", ".elm", ".dart"),
    *(".c", ".h", ".cc", ".cpp", ".hpp", ".m", ".rs", ".go", ".zig", ".nim", ".swift", ".cs"),
    *(".java", ".kt", ".scala", ".clj", ".groovy", ".fs", ".hs", ".ml", ".ex", ".exs", ".erl"),
)
"""Of what is written in a language that programs read."""


def is_project(folder: Path) -> bool:
    """Whether a folder, or one that it lies in, holds what only projects do.

    One with source code is a project without that, and one with nothing in it is one that begins.
    The home folder and what it lies in never are, nor is what cannot be read.
    """
    folder, home = folder.resolve(), Path.home().resolve()
    for place in (folder, *folder.parents):
        if place == home or place == Path(place.anchor):
            return False
        try:
            names = [path.name for path in place.iterdir()]
        except OSError:
            return False
        if _is_marked(names) or (place == folder and _may_become_one(names)):
            return True
    return False


def _is_marked(names: Iterable[str]) -> bool:
    return any(name in _MARKS or name.endswith(_MARKED_ENDINGS) for name in names)


def _may_become_one(names: Iterable[str]) -> bool:
    """Whether there is source code, or nothing but what is hidden."""
    seen = [name for name in names if not name.startswith(".")]
    return not seen or any(name.lower().endswith(_SOURCE_ENDINGS) for name in seen)
