"""Checks and makes a release: ``python packaging/release.py VERSION [OPTIONS]``.

It goes through the list below, stops at the first thing that is not right and says what to do. What
it makes lies in ``dist``: wheel, source distribution, bill of materials, formula, manifests and
checksums. It uploads nothing: the commands that do are printed at the end.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from importlib.metadata import version as installed_version
from pathlib import Path
from typing import Final

from distributions import ROOT, BuildFailed, build, source_epoch
from manifests import BadManifest, Release, formula, sha256, winget

TESTS: Final = (".ci/run",)


class NotReady(Exception):
    """What is not right yet, and what to do about it."""


class Checklist:
    """The steps of one release, in their order."""

    def __init__(self, root: Path, release: Release, options: argparse.Namespace) -> None:
        self._root = root
        self._release = release
        self._options = options
        self._out: Path = options.out

    def steps(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Each step with what it is about. A step raises NotReady."""
        yield "the version", self.version
        yield "the list of changes", self.changes
        yield "nothing is uncommitted", self.clean_tree
        yield "what is generated is up to date", self.generated
        if self._options.tests:
            yield "checks and tests", self.tests
            yield "the ways to install it", self.installations
        yield "two builds are the same", self.builds
        yield "the bill of materials", self.bill_of_materials
        yield "formula and manifests", self.manifests
        yield "checksums", self.checksums

    def version(self) -> None:
        """The project says so, and there is no such release yet."""
        text = (self._root / "pyproject.toml").read_text(encoding="utf-8")
        has = tomllib.loads(text)["project"]["version"]
        wanted = self._release.version
        if has != wanted:
            raise NotReady(f"pyproject.toml has version {has}: change it to {wanted}")
        if self._git("tag", "--list", f"v{wanted}"):
            raise NotReady(f"there is a tag v{wanted} already: choose the next version")

    def changes(self) -> None:
        """CHANGELOG.md has a dated entry with something in it."""
        wanted = self._release.version
        text = (self._root / "CHANGELOG.md").read_text(encoding="utf-8")
        entry = re.search(
            rf"^## {re.escape(wanted)}, (.*)\n((?:(?!## ).*\n?)*)", text, flags=re.MULTILINE
        )
        if entry is None or not entry[2].strip():
            raise NotReady(f"CHANGELOG.md has no entry for {wanted}: write what changed")
        if not re.fullmatch(r"\d{4}-\d\d-\d\d", entry[1].strip()):
            raise NotReady(f"CHANGELOG.md: write the day, as in `## {wanted}, 2026-01-31`")

    def clean_tree(self) -> None:
        """What is built is what is committed."""
        if changed := self._git("status", "--porcelain"):
            raise NotReady(f"commit or remove these first:\n{changed}")

    def generated(self) -> None:
        """Man page, completions and the reference of the settings fit the sources."""
        self._run(sys.executable, "packaging/generate.py", "--check")

    def tests(self) -> None:
        """All that every change must pass."""
        self._run(*TESTS)

    def installations(self) -> None:
        """Each from nothing: it installs, starts, answers and goes without a trace."""
        ways = ("pipx", "uv", "sdist", "editable", "bundle", "make_run")
        self._run(sys.executable, "packaging/installations.py", *ways)

    def builds(self) -> None:
        """Wheel and source distribution are the same bytes when they are built again."""
        self._out.mkdir(parents=True, exist_ok=True)
        if others := _of_other_releases(self._out, self._release.version):
            raise NotReady(f"{self._out} holds {', '.join(others)}: move what is not published now")
        epoch = source_epoch(self._root)
        try:
            first = build(self._root, self._out, epoch)
            with tempfile.TemporaryDirectory() as scratch:
                for one, other in zip(first, build(self._root, Path(scratch), epoch), strict=True):
                    if one.read_bytes() != other.read_bytes():
                        raise NotReady(f"{one.name} differs from build to build: find out why")
        except BuildFailed as error:
            raise NotReady(f"the build failed:\n{error}") from error

    def bill_of_materials(self) -> None:
        """What this release was tested with."""
        wanted, has = self._release.version, installed_version("gemma-local")
        if has != wanted:
            raise NotReady(f"gemma-local {has} is installed here: run `make run ARGS=--version`")
        target = self._out / f"gemma-local-{wanted}.cdx.json"
        self._run(sys.executable, "packaging/sbom.py", str(target))

    def manifests(self) -> None:
        """The formula for the bundles, the manifests for the ZIP file, where there are some."""
        bundles = sorted(self._out.glob(f"gemma-local-{self._release.version}-*-py*.tar.gz"))
        try:
            if bundles:
                text = formula(self._release, bundles)
                (self._out / "gemma-local.rb").write_text(text, encoding="utf-8")
            else:
                print(f"   no formula: put the bundles (packaging/bundle.py) into {self._out}")
            if archive := self._options.windows_zip:
                for name, text in winget(self._release, archive).items():
                    (self._out / name).write_text(text, encoding="utf-8")
                if archive.resolve() != (self._out / archive.name).resolve():
                    # The manifests name it as one of the files that are published.
                    shutil.copy(archive, self._out)
            else:
                print("   no manifests for winget: give the ZIP file with --windows-zip")
        except (BadManifest, OSError) as error:
            raise NotReady(str(error)) from error

    def checksums(self) -> None:
        """SHA256SUMS of all that lies there."""
        files = sorted(
            file for file in self._out.iterdir() if file.is_file() and file.name != "SHA256SUMS"
        )
        text = "".join(f"{sha256(file)}  {file.name}\n" for file in files)
        (self._out / "SHA256SUMS").write_text(text, encoding="utf-8", newline="\n")

    def farewell(self) -> str:
        """What is left to do by hand."""
        name, folder = self._release.version, self._out
        return (
            f"All of it lies in {folder}. To publish it:\n"
            f"  git tag -s v{name} -m 'gemma-local {name}' && git push origin v{name}\n"
            f"  twine upload {folder}/gemma_local-{name}-py3-none-any.whl "
            f"{folder}/gemma_local-{name}.tar.gz\n"
            f"  gh release create v{name} {folder}/*"
        )

    def _run(self, *words: str) -> None:
        if subprocess.run(words, cwd=self._root, check=False).returncode != 0:
            raise NotReady(f"`{' '.join(words)}` failed; see above")

    def _git(self, *words: str) -> str:
        done = subprocess.run(
            ["git", *words], cwd=self._root, capture_output=True, text=True, check=False
        )
        if done.returncode != 0:
            raise NotReady(f"git {words[0]} failed: {done.stderr.strip()}")
        return done.stdout.strip()


def _of_other_releases(folder: Path, version: str) -> list[str]:
    """What lies in a folder and is named after another release: `gh release create` would publish
    it with this one."""
    own = re.compile(rf"gemma[-_]local-{re.escape(version)}(?![\w.]*\d)")
    return sorted(
        file.name
        for file in folder.iterdir()
        if re.match(r"gemma[-_]local-\d", file.name) and not own.match(file.name)
    )


def main(root: Path = ROOT) -> int:
    """Go through the list; the exit code is 1 if something is not right."""
    parser = argparse.ArgumentParser(description="Checks and makes a release; uploads nothing.")
    add = parser.add_argument
    add("version")
    add("--out", type=Path, default=root / "dist", help="where it is put (default: dist)")
    add("--homepage", required=True, help="the project's address, such as https://.../OWNER/NAME")
    add("--windows-zip", type=Path, help="the ZIP file for Windows, for winget")
    add(
        "--skip-tests",
        dest="tests",
        action="store_false",
        help="leave the tests out, for a trial of the rest",
    )
    options = parser.parse_args()
    homepage = options.homepage.rstrip("/")
    address = re.fullmatch(r"https://[^/]+/(?:[^/]+/)*([\w.-]+)/[\w.-]+", homepage)
    if address is None:
        parser.error(f"--homepage {options.homepage} is not of the form https://.../OWNER/NAME")
    base_url = f"{homepage}/releases/download/v{options.version}"
    release = Release(options.version, homepage, base_url, address[1])
    checklist = Checklist(root, release, options)
    for what, step in checklist.steps():
        print(f"-- {what}", flush=True)
        try:
            step()
        except (NotReady, OSError) as problem:
            print(f"Not ready: {problem}.", file=sys.stderr)
            return 1
    print(checklist.farewell())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
