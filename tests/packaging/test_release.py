"""The list before a release, on a repository of its own: each thing that can be wrong is said."""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.packaging.conftest import Script

HOME = "https://example.org/us/gemma-local"
URL = f"{HOME}/releases/download/v1.2.3"


@pytest.fixture
def release(script: Script) -> ModuleType:
    return script("release")


@pytest.fixture
def manifests(script: Script) -> ModuleType:
    return script("manifests")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    (root / "pyproject.toml").write_text('[project]\nname = "small"\nversion = "1.2.3"\n')
    (root / "CHANGELOG.md").write_text("# Changes\n\n## 1.2.3, 2026-01-31\n\n- All.\n\n## 1.0, x\n")
    for words in (
        ("init", "--quiet"),
        ("add", "."),
        (*("-c", "user.name=a", "-c", "user.email=a@b"), "commit", "--quiet", "-m", "all"),
    ):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


def checklist(release: ModuleType, root: Path, version: str = "1.2.3") -> Any:
    options = argparse.Namespace(out=root / "dist", tests=False, windows_zip=None)
    options.out.mkdir(exist_ok=True)
    return release.Checklist(root, release.Release(version, HOME, URL, "us"), options)


def test_a_repository_that_is_ready_passes(release: ModuleType, repository: Path) -> None:
    steps = checklist(release, repository)
    steps.version()
    steps.changes()
    (repository / "dist").rmdir()
    steps.clean_tree()


def test_the_version_must_be_the_projects_and_new(release: ModuleType, repository: Path) -> None:
    with pytest.raises(release.NotReady, match=r"has version 1\.2\.3: change it to 2\.0"):
        checklist(release, repository, "2.0").version()
    subprocess.run(["git", "tag", "v1.2.3"], cwd=repository, check=True)
    with pytest.raises(release.NotReady, match="choose the next version"):
        checklist(release, repository).version()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("# Changes\n", "no entry for 1.2.3"),
        ("## 1.2.3, 2026-01-31\n\n## 1.0, 2025-01-01\n\n- Old.\n", "no entry for 1.2.3"),
        ("## 1.2.3, not yet released\n\n- All.\n", "write the day"),
        ("## 1.2.30, 2026-01-31\n\n- All.\n", "no entry for 1.2.3"),
    ],
)
def test_the_changes_must_be_written_down(
    release: ModuleType, repository: Path, text: str, sentence: str
) -> None:
    (repository / "CHANGELOG.md").write_text(text)
    with pytest.raises(release.NotReady, match=sentence):
        checklist(release, repository).changes()


def test_what_is_not_committed_is_named(release: ModuleType, repository: Path) -> None:
    (repository / "stray.py").touch()
    with pytest.raises(release.NotReady, match=r"stray\.py"):
        checklist(release, repository).clean_tree()


def test_the_steps_come_in_their_order_and_nothing_uploads(
    release: ModuleType, repository: Path
) -> None:
    steps = checklist(release, repository)
    assert [what for what, _ in steps.steps()] == [
        "the version",
        "the list of changes",
        "nothing is uncommitted",
        "what is generated is up to date",
        "two builds are the same",
        "the bill of materials",
        "formula and manifests",
        "checksums",
    ]
    assert "twine upload" in steps.farewell()


def test_what_is_left_of_other_releases_would_be_published(
    release: ModuleType, repository: Path
) -> None:
    for name in (
        *("gemma_local-1.2.3-py3-none-any.whl", "gemma_local-1.2.3.tar.gz", "windows.zip"),
        *("gemma-local-1.2.3.cdx.json", "gemma-local-1.2.3-linux-x86_64-py3.12.tar.gz"),
        *("gemma_local-1.2.30.tar.gz", "gemma-local-1.2.2-darwin-arm64-py3.12.tar.gz"),
    ):
        (repository / "dist" / name).parent.mkdir(exist_ok=True)
        (repository / "dist" / name).touch()
    others = (
        r"gemma-local-1\.2\.2-darwin-arm64-py3\.12\.tar\.gz, gemma_local-1\.2\.30\.tar\.gz: move"
    )
    with pytest.raises(release.NotReady, match=others):
        checklist(release, repository).builds()


def test_the_zip_file_for_windows_is_published_with_the_rest(
    release: ModuleType, manifests: ModuleType, repository: Path, tmp_path: Path
) -> None:
    archive = tmp_path / "windows.zip"
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr(manifests.WINDOWS_COMMAND, "x")
    steps = checklist(release, repository)
    steps._options.windows_zip = archive
    steps.manifests()
    assert (repository / "dist" / archive.name).read_bytes() == archive.read_bytes()


@pytest.mark.parametrize("homepage", ["example.org", "https://example.org", "https://a.org/us/"])
def test_a_homepage_without_owner_and_name_is_refused(
    release: ModuleType,
    repository: Path,
    homepage: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("sys.argv", ["release.py", "1.2.3", "--homepage", homepage])
    with pytest.raises(SystemExit):
        release.main(repository)
    assert "is not of the form https://.../OWNER/NAME" in capsys.readouterr().err


def test_checksums_are_those_of_the_files(release: ModuleType, repository: Path) -> None:
    steps = checklist(release, repository)
    (repository / "dist" / "b.whl").write_bytes(b"b")
    (repository / "dist" / "a.whl").write_bytes(b"a")
    steps.checksums()
    steps.checksums()
    lines = (repository / "dist" / "SHA256SUMS").read_text().splitlines()
    assert lines == [
        f"{hashlib.sha256(name.encode()).hexdigest()}  {name}.whl" for name in ("a", "b")
    ]


def test_the_formula_has_a_block_for_each_system(manifests: ModuleType, tmp_path: Path) -> None:
    bundles = []
    for system in ("linux-x86_64", "darwin-arm64"):
        bundles.append(tmp_path / f"gemma-local-1.2.3-{system}-py3.12.tar.gz")
        bundles[-1].write_bytes(system.encode())
    text = manifests.formula(manifests.Release("1.2.3", HOME, URL, "us"), bundles)
    assert "@" not in text.replace("python@3.12", "")
    for bundle, words in zip(
        bundles, ("on_linux do\n    on_intel", "on_macos do\n    on_arm"), strict=True
    ):
        checksum = hashlib.sha256(bundle.read_bytes()).hexdigest()
        assert f'  {words} do\n      url "{URL}/{bundle.name}"\n      sha256 "{checksum}"\n' in text


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["gemma-local-1.2.3-plan9-vax-py3.12.tar.gz"], "no plan9 on vax"),
        (["gemma-local-1.0-linux-x86_64-py3.12.tar.gz"], "no bundle of 1.2.3"),
        (
            [
                "gemma-local-1.2.3-linux-x86_64-py3.12.tar.gz",
                "gemma-local-1.2.3-darwin-arm64-py3.11.tar.gz",
            ],
            "one and the same Python",
        ),
    ],
)
def test_bundles_that_make_no_formula_are_refused(
    manifests: ModuleType, tmp_path: Path, names: list[str], sentence: str
) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(manifests.BadManifest, match=sentence):
        manifests.formula(
            manifests.Release("1.2.3", HOME, URL, "us"), [tmp_path / name for name in names]
        )


def test_wingets_manifests_name_the_file_and_its_checksum(
    manifests: ModuleType, tmp_path: Path
) -> None:
    archive = tmp_path / "gemma-local-1.2.3-windows.zip"
    with zipfile.ZipFile(archive, "w") as content:
        content.writestr(manifests.WINDOWS_COMMAND, "x")
    made = manifests.winget(manifests.Release("1.2.3", HOME, URL, "us"), archive)
    assert sorted(made) == [
        "us.GemmaLocal.installer.yaml",
        "us.GemmaLocal.locale.en-GB.yaml",
        "us.GemmaLocal.yaml",
    ]
    facts = [
        dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
        for text in made.values()
    ]
    assert {fact["PackageIdentifier"] for fact in facts} == {"us.GemmaLocal"}
    assert {fact["PackageVersion"] for fact in facts} == {"1.2.3"}
    checksum = hashlib.sha256(archive.read_bytes()).hexdigest().upper()
    assert f"InstallerSha256: {checksum}" in made["us.GemmaLocal.installer.yaml"]


def test_a_zip_file_without_the_command_is_refused(manifests: ModuleType, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "empty.zip", "w"):
        pass
    with pytest.raises(manifests.BadManifest, match="there is no gemma-local/"):
        manifests.winget(manifests.Release("1.2.3", HOME, URL, "us"), tmp_path / "empty.zip")


def test_what_is_no_zip_file_is_refused(manifests: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "page.zip").write_text("<html>")
    with pytest.raises(manifests.BadManifest, match=r"page\.zip is no ZIP file"):
        manifests.winget(manifests.Release("1.2.3", HOME, URL, "us"), tmp_path / "page.zip")


def test_a_place_without_a_value_is_refused(manifests: ModuleType) -> None:
    assert manifests.filled("python@@PYTHON@ @X@", {"PYTHON": "3.12", "X": "y"}) == "python@3.12 y"
    with pytest.raises(manifests.BadManifest, match="@MISSING@"):
        manifests.filled("@MISSING@", {})
