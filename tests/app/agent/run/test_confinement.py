"""A confinement, as it is written down and in the words of what carries it out."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gemma_local.app.agent.run import bubblewrap, seatbelt
from gemma_local.app.agent.run.confinement import Confinement
from gemma_local.app.agent.run.landlock import without

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="paths of POSIX")


def test_all_but_what_is_hidden(tmp_path: Path) -> None:
    for name in ("a/b/c", "a/d", "e"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a" / "b")
    assert without(tmp_path, [tmp_path / "a" / "b"]) == [tmp_path / "a" / "d", tmp_path / "e"]
    assert without(tmp_path, [Path("/elsewhere")]) == [tmp_path]
    assert without(tmp_path, [tmp_path]) == []


def test_a_confinement_is_what_was_written_down() -> None:
    given = Confinement(
        "/w", ("/w", "/t"), ("/s",), ("/w/.git/hooks",), True, 7, True, False, ("/w/.git",), ("/o",)
    )
    assert Confinement.from_json(given.to_json()) == given


def test_the_words_for_bubblewrap_and_for_macos(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("")
    (tmp_path / "keys").mkdir()
    given = Confinement(
        "/w", ("/w",), (str(tmp_path / "secret"), str(tmp_path / "keys")), ("/w/.git/hooks",)
    )
    words = " ".join(bubblewrap.wrapped("bwrap", given, ["ls"]))
    assert f"--ro-bind /dev/null {tmp_path}/secret" in words
    assert f"--tmpfs {tmp_path}/keys" in words
    assert words.index("--ro-bind / /") < words.index("--bind /w /w") < words.index("hooks")
    pinned = replace(given, pinned=("/w/.git",))
    words = " ".join(bubblewrap.wrapped("bwrap", pinned, ["ls"]))
    assert (
        words.index("--bind /w /w") < words.index("--bind /w/.git /w/.git") < words.index("hooks")
    )
    assert "--unshare-net" in words and words.endswith("--chdir /w -- ls")
    profile = seatbelt.profile(given)
    assert profile.index("(deny file-write*)") < profile.index('(allow file-write* (subpath "/w"))')
    assert f'(deny file-read* file-write* (literal "{tmp_path}/secret"))' in profile
    assert "(deny network*)" in profile
    profile = seatbelt.profile(replace(pinned, shown=(f"{tmp_path}/keys/own",)))
    assert '(deny file-write* (subpath "/w/.git/hooks"))' in profile
    assert '(deny file-write-unlink (literal "/w/.git"))' in profile
    hiding = f'(deny file-read* file-write* (subpath "{tmp_path}/keys"))'
    assert profile.index(hiding) < profile.index(f'read* (subpath "{tmp_path}/keys/own"))')
    words = " ".join(bubblewrap.wrapped("bwrap", replace(given, shown=("/o",)), ["ls"]))
    assert words.index("--tmpfs") < words.index("--ro-bind /o /o") < words.index("--bind /w /w")
    odd = Confinement("/w", ('/w "x"',), has_network=True)
    assert '(subpath "/w \\"x\\"")' in seatbelt.profile(odd)
    assert "network" not in seatbelt.profile(odd)
