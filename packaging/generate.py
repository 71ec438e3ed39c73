"""Writes the files that follow from the sources: ``python packaging/generate.py [--check]``.

They are the man page, the shells' completions, the reference of the settings and its JSON schema.
They lie in the repository, so that a build needs nothing to make them and a change of theirs is
seen. With ``--check`` nothing is written, and the exit code is 1 if a file is out of date.
"""

from __future__ import annotations

import argparse
import json
import sys
import tomllib
from pathlib import Path

from man_page import man_page

from gemma_local.app.completions import script
from gemma_local.app.config_command.reference import reference
from gemma_local.app.config_command.schema import schema

ROOT = Path(__file__).resolve().parent.parent


def generated(root: Path = ROOT) -> dict[str, str]:
    """The texts of the files, by their paths in the repository."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    share = "packaging/share"
    return {
        f"{share}/man/man1/gemma-local.1": man_page(project["version"]),
        f"{share}/bash-completion/completions/gemma-local": script("bash") + "\n",
        f"{share}/zsh/site-functions/_gemma-local": script("zsh") + "\n",
        f"{share}/fish/vendor_completions.d/gemma-local.fish": script("fish") + "\n",
        "docs/settings.md": reference().rstrip() + "\n",
        "docs/settings.schema.json": json.dumps(schema(), indent=2) + "\n",
    }


def outdated(root: Path = ROOT) -> list[str]:
    """The files that are not as they would be written now."""
    return [
        name
        for name, text in generated(root).items()
        if not (root / name).is_file() or (root / name).read_text(encoding="utf-8") != text
    ]


def main() -> int:
    """Write the files, or say which are out of date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only say which are out of date")
    given, old = parser.parse_args(), outdated()
    if given.check:
        for name in old:
            print(f"{name} is out of date: run `python packaging/generate.py`", file=sys.stderr)
        return 1 if old else 0
    texts = generated()
    for name in old:
        (ROOT / name).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / name).write_text(texts[name], encoding="utf-8", newline="\n")
        print(name)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
