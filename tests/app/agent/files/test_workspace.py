"""Where a path of the model's leads."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from gemma_local.app.agent.files.workspace import UnfitWorkspace, Workspace
from gemma_local.app.agent.tool import ToolProblem

posix = pytest.mark.skipif(os.name == "nt", reason="links and special files of POSIX")


class TestInside:
    @pytest.mark.parametrize(
        "written",
        [
            "src/app.py",
            "./src/app.py",
            " src/app.py\n",
            "`src/app.py`",
            "src//app.py",
            "src/../src/app.py",
            "@src/app.py",
            "missing/../src/app.py",
            "src\\app.py",
        ],
    )
    def test_many_ways_to_write_one_path(self, workspace: Workspace, written: str) -> None:
        place = workspace.writing(written)
        assert place.path == workspace.folder / "src" / "app.py"
        assert (place.shown, place.why, place.is_inside) == ("src/app.py", "", True)

    def test_absolute(self, workspace: Workspace) -> None:
        assert workspace.writing(str(workspace.folder / "src/app.py")).shown == "src/app.py"
        assert workspace.writing(f"file://{workspace.folder}/src/app.py").shown == "src/app.py"

    def test_home(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(root.parent))
        monkeypatch.setenv("USERPROFILE", str(root.parent))
        assert Workspace([root]).writing("~/project/src/app.py").shown == "src/app.py"

    def test_what_is_not_there_yet(self, workspace: Workspace) -> None:
        assert workspace.writing("new/deep/file.py").path == workspace.folder / "new/deep/file.py"

    def test_a_second_root(self, root: Path) -> None:
        other = root.parent / "outside"
        place = Workspace([root, other]).writing(str(other / "file.txt"))
        assert place.is_inside
        assert place.shown == str(other.resolve() / "file.txt")

    def test_an_at_sign_may_be_part_of_a_name(self, workspace: Workspace) -> None:
        (workspace.folder / "@scope").mkdir()
        assert workspace.reading("@scope").shown == "@scope"


class TestOutside:
    @posix
    @pytest.mark.parametrize(
        "written",
        [
            "../outside/file.txt",
            "src/../../outside/file.txt",
            "link/file.txt",
            "link/new/file.txt",
            "file-link",
            "dangling",
            "chain/file.txt",
            "src/up/outside/file.txt",
        ],
    )
    def test_every_way_out_is_seen(self, workspace: Workspace, written: str) -> None:
        root, outside = workspace.folder, workspace.folder.parent / "outside"
        (root / "link").symlink_to(outside)
        (root / "chain").symlink_to(root / "link")
        (root / "file-link").symlink_to(outside / "file.txt")
        (root / "dangling").symlink_to(outside / "nothing" / "here")
        (root / "src" / "up").symlink_to("../..")
        assert workspace.reading(written).why == "outside the workspace"
        with pytest.raises(ToolProblem, match="outside the workspace"):
            workspace.writing(written)
        assert Workspace([root], writes_outside=True).writing(written).why

    @posix
    def test_a_link_that_stays_inside_is_its_target(self, workspace: Workspace) -> None:
        (workspace.folder / "alias.py").symlink_to("src/app.py")
        place = workspace.writing("alias.py")
        assert (place.shown, place.why) == ("src/app.py", "")

    @posix
    def test_kept_outputs_may_be_looked_at_and_nothing_beside_them(self, root: Path) -> None:
        own = root.parent / "own"
        (own / "outputs").mkdir(parents=True)
        (own / "outputs" / "run-0001.txt").write_text("long")
        (own / "outputs" / "link.txt").symlink_to(own / "before.txt")
        (own / "before.txt").write_text("kept")
        workspace = Workspace([root], outputs=own / "outputs")
        assert workspace.reading(str(own / "outputs" / "run-0001.txt")).why == ""
        for other in ("before.txt", "outputs/link.txt", "outputs/../before.txt", "outputs/a/b"):
            assert workspace.reading(str(own / other)).why == "outside the workspace"
        with pytest.raises(ToolProblem, match="outside the workspace"):
            workspace.writing(str(own / "outputs" / "run-0001.txt"))

    def test_a_folder_of_a_longer_name_is_another(self, root: Path) -> None:
        beside = root.parent / "project-2"
        beside.mkdir()
        assert not Workspace([root]).reading("../project-2/x").is_inside


class TestSecrets:
    @pytest.mark.parametrize(
        "written",
        [
            *(".env", "conf/.env.local", "id_rsa", ".ssh/config", "server.pem", "a/b.key"),
            *(".ssh", "a/.aws", ".kube/"),
        ],
    )
    def test_by_name(self, workspace: Workspace, written: str) -> None:
        place = workspace.reading(written)
        assert place.why == "may hold secrets"
        assert place.rule("read") == ""

    @posix
    def test_by_the_name_of_either_end_of_a_link(self, workspace: Workspace) -> None:
        root = workspace.folder
        (root / "notes.txt").symlink_to(".env")
        (root / ".npmrc").symlink_to("src/app.py")
        assert workspace.reading("notes.txt").why == "may hold secrets"
        assert workspace.reading(".npmrc").why == "may hold secrets"

    def test_a_workspace_may_have_any_name(self, root: Path) -> None:
        folder = root / ".kube"
        folder.mkdir()
        assert Workspace([folder]).reading(".").why == ""

    def test_git_is_asked_for(self, workspace: Workspace) -> None:
        assert workspace.writing(".git/hooks/pre-commit").why == "belongs to git"
        assert workspace.writing(".gitignore").why == ""


class TestRefused:
    @posix
    @pytest.mark.parametrize("written", ["/proc/self/environ", "/dev/zero", "/sys/kernel"])
    def test_the_system(self, workspace: Workspace, written: str) -> None:
        if not Path(written).exists():
            pytest.skip("not on this system")
        with pytest.raises(ToolProblem, match="belongs to the system"):
            workspace.reading(written)

    @pytest.mark.skipif(not Path("/proc/self/cwd").exists(), reason="no /proc")
    def test_the_way_through_the_system(self, workspace: Workspace) -> None:
        with pytest.raises(ToolProblem, match="belongs to the system"):
            workspace.reading("/proc/self/cwd/file")

    @pytest.mark.parametrize("written", ["", "  ", "a\0b", "long", "~nobody-knows-me/x"])
    def test_no_path(self, workspace: Workspace, written: str) -> None:
        with pytest.raises(ToolProblem, match="Give one relative to the workspace"):
            workspace.reading("x" * 5000 if written == "long" else written)

    @posix
    def test_links_in_a_circle(self, workspace: Workspace) -> None:
        (workspace.folder / "a").symlink_to("b")
        (workspace.folder / "b").symlink_to("a")
        with pytest.raises(ToolProblem, match="no usable path"):
            workspace.reading("a/file")

    @pytest.mark.skipif(sys.platform == "win32", reason="there they are usual")
    @pytest.mark.parametrize("written", ["C:\\Users\\x", "\\\\server\\share\\x", "D:/x\\y"])
    def test_paths_of_windows(self, workspace: Workspace, written: str) -> None:
        with pytest.raises(ToolProblem, match="path of Windows"):
            workspace.reading(written)

    @pytest.mark.parametrize("which", ["home", "above", "top"])
    def test_roots_that_hold_everything(
        self, which: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        home = tmp_path / "home"
        home.mkdir()
        monkeypatch.setenv("HOME", str(home))
        monkeypatch.setenv("USERPROFILE", str(home))
        root = {"home": home, "above": tmp_path, "top": Path(tmp_path.anchor)}[which]
        with pytest.raises(UnfitWorkspace, match="project's own folder"):
            Workspace([root])

    def test_roots_that_are_none(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        for name in ("file", "nothing"):
            with pytest.raises(UnfitWorkspace, match="cannot be worked in"):
                Workspace([tmp_path / name])


class TestNearest:
    @pytest.mark.parametrize(
        ("written", "meant"), [("app.py", "src/app.py"), ("src/ap.py", "src/app.py"), ("zzz", "")]
    )
    def test_what_was_meant(self, workspace: Workspace, written: str, meant: str) -> None:
        assert workspace.nearest(workspace.reading(written)) == ((meant,) if meant else ())


@posix
@pytest.mark.parametrize("written", ["**/x", "*", "a?/x", "a*b", "src/** /x", "a\nb"])
def test_a_name_is_no_pattern_for_others(workspace: Workspace, written: str) -> None:
    assert workspace.writing(written).rule("edit") == ""


def test_rules(workspace: Workspace) -> None:
    assert workspace.writing("src/app.py").rule("edit") == "edit: src/**"
    assert workspace.writing("README.md").rule("edit") == "edit: README.md"
    outside = workspace.reading("../outside/file.txt")
    assert outside.rule("read") == f"read: {outside.path.parent.as_posix()}/**"
