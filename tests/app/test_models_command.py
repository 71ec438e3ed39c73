"""``gemma-local models`` as a person or a script uses it, with a hub on this machine."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from huggingface_hub import close_session, constants

from gemma_local.app.errors import UsageError
from gemma_local.app.models_command.arguments import parse_models
from gemma_local.app.models_command.command import run
from gemma_local.models.catalog import load_catalog
from gemma_local.models.store.errors import HubRefused, NotOnHub, Offline
from tests.app.running import Command, Terminal
from tests.ggufs import Pair
from tests.hub import Cut, HubServer, Status, sha256
from tests.models.store import local_files as make

REPOSITORY = "maker/gemma-4-tiny-GGUF"

linux = pytest.mark.skipif(
    sys.platform in ("win32", "darwin"), reason="platformdirs' folders of Linux"
)


@dataclass(frozen=True)
class Shell:
    """The command with a hub, and with its caches in the folder of this test.

    ``run`` starts a process; ``ok``, ``json`` and ``names`` do the same in this one.
    """

    command: Command
    hub: HubServer
    captured: pytest.CaptureFixture[str]

    @property
    def variables(self) -> dict[str, str]:
        return {
            "HF_ENDPOINT": self.hub.endpoint,
            "HF_HOME": str(self.command.home / "hf"),
            "NO_PROXY": "*",
            "HF_TOKEN": "",
        }

    def run(self, *words: object, **more: str) -> tuple[int, str, str]:
        done = self.command.run("models", *words, **{**self.variables, **more})
        return done.returncode, done.stdout, done.stderr

    def ok(self, *words: object) -> str:
        code = run(parse_models([str(word) for word in words]))
        out, err = self.captured.readouterr()
        assert code == 0, err
        return out

    def json(self, *words: object) -> dict[str, Any]:
        return dict(json.loads(self.ok(*words, "--json")))

    def names(self) -> list[str]:
        return [model["name"] for model in self.json("list")["models"]]


@pytest.fixture
def hub(story: Pair) -> Iterator[HubServer]:
    padding = bytes(range(256)) * 4096
    with HubServer() as hub:
        hub.commit(
            REPOSITORY,
            {
                "tiny-Q4.gguf": story.target.read_bytes() + padding * 5,
                "MTP/any-name.gguf": story.drafter.read_bytes(),
                "README.md": b"# Tiny",
            },
        )
        yield hub


@pytest.fixture
def shell(
    command: Command,
    hub: HubServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Shell]:
    command.home.mkdir()
    for name, value in command.environment(NO_PROXY="*").items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    # huggingface_hub has read its environment when it was imported.
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(command.home / "hf" / "hub"))
    monkeypatch.setattr(constants, "ENDPOINT", hub.endpoint)
    template = hub.endpoint + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    close_session()
    yield Shell(command, hub, capsys)
    close_session()


# ----------------------------------------------------------------------------------------- get


@linux
def test_a_model_comes_with_its_drafter_and_can_be_used(shell: Shell, story: Pair) -> None:
    code, out, err = shell.run("get", f"{REPOSITORY}:tiny-Q4.gguf")
    assert code == 0, err
    assert f"from {REPOSITORY} into {shell.command.home / 'hf' / 'hub'}" in err
    assert "100%" in err and "\r" not in err
    model = Path(out.strip())
    assert model.name == "tiny-Q4.gguf"
    (entry,) = (m for m in shell.json("list")["models"] if m["kind"] == "model")
    assert entry["drafter"] == str(model.parent / "MTP" / "any-name.gguf")
    answer = shell.command.json("--model", model, "-p", "Go on", "--threads", "1")
    assert answer["drafted"] > 0
    # Everything is here: no more requests, by name or by repository, on the network or off.
    before = len(shell.hub.requests)
    assert shell.ok("get", f"{REPOSITORY}:tiny-Q4.gguf").strip() == str(model)
    assert shell.json("get", f"{REPOSITORY}:tiny-Q4.gguf", "--offline") == {
        "model": str(model),
        "drafter": entry["drafter"],
        "projector": None,
    }
    _, out, _ = shell.run("get", f"{REPOSITORY}:tiny-Q4.gguf", HF_HUB_OFFLINE="1")
    assert out.strip() == str(model)
    assert len(shell.hub.requests) == before


def test_offline_says_so_and_asks_nobody(shell: Shell) -> None:
    with pytest.raises(Offline, match="nothing may be fetched"):
        shell.ok("get", f"{REPOSITORY}:tiny-Q4.gguf", "--offline")
    code, out, err = shell.run("get", f"{REPOSITORY}:tiny-Q4.gguf", HF_HUB_OFFLINE="1")
    assert (code, out) == (1, "") and "nothing may be fetched" in err
    assert not shell.hub.requests


def test_a_repository_stands_for_its_only_model(shell: Shell, story: Pair, tmp_path: Path) -> None:
    projector = make.projector(tmp_path).read_bytes()
    shell.hub.commit(REPOSITORY, {"a-projector.gguf": projector})
    got = shell.json("get", REPOSITORY, "--projector")
    assert {key: Path(value).name for key, value in got.items()} == {
        "model": "tiny-Q4.gguf",
        "drafter": "any-name.gguf",
        "projector": "a-projector.gguf",
    }
    shell.hub.commit(REPOSITORY, {"tiny-Q8.gguf": story.target.read_bytes() + bytes(6 << 20)})
    with pytest.raises(UsageError, match=r"2 models; say which.* tiny-Q4\.gguf, tiny-Q8\.gguf"):
        shell.ok("get", REPOSITORY)
    drafter = Path(shell.json("get", f"{REPOSITORY}:tiny-Q8.gguf")["drafter"])
    assert drafter.samefile(got["drafter"])


@linux
def test_a_size_stands_for_the_files_of_the_catalogue(shell: Shell, story: Pair) -> None:
    size = load_catalog().size("E2B")
    drafter = size.drafter_for(size.default)
    assert drafter is not None and drafter.repository == size.default.repository
    files = {size.default.file: story.target.read_bytes(), drafter.file: story.drafter.read_bytes()}
    shell.hub.commit(drafter.repository, files)
    code, out, err = shell.run("get", "e2b", "--json")
    assert code == 0, err
    assert Path(json.loads(out)["model"]).name == size.default.file
    assert Path(json.loads(out)["drafter"]).name == drafter.file
    # They are no Gemma 4 of that size, and the hub's checksum is what they are checked against.
    assert err.count("is not the version that was tried out") == 2
    # A repository of the catalogue is its first file; offline needs no more than the files.
    assert shell.json("get", drafter.repository, "--offline") == json.loads(out)
    assert len(shell.hub.requests_for("/api/")) == 1


def test_what_is_no_size_and_no_repository(shell: Shell) -> None:
    for words, hint in (
        (["E99"], "There are E2B, E4B, .*OWNER/NAME"),
        (["E2B", "--revision", "v1"], "--revision goes with a repository"),
    ):
        with pytest.raises(UsageError, match=hint):
            shell.ok("get", *words)
    assert not shell.hub.requests


def test_a_repository_without_what_is_asked_for_is_named(shell: Shell) -> None:
    shell.hub.commit("maker/words", {"README.md": b"# Words"})
    for words, hint in (
        (["maker/words"], r"maker/words has no GGUF file of a model; .* ends in -GGUF"),
        ([REPOSITORY, "--projector"], f"{REPOSITORY} has no projector; leave --projector out"),
    ):
        with pytest.raises(NotOnHub, match=hint):
            shell.ok("get", *words)
    assert shell.names() == []


def test_a_model_stays_as_it_is_until_it_is_to_be_newer(shell: Shell, story: Pair) -> None:
    model = f"{REPOSITORY}:tiny-Q4.gguf"
    first = shell.hub.repositories[REPOSITORY].main
    old = Path(shell.ok("get", model, "--no-drafter").strip())
    newer = story.target.read_bytes() + bytes(1 << 20)
    shell.hub.commit(REPOSITORY, {"tiny-Q4.gguf": newer})
    assert shell.ok("get", model, "--no-drafter").strip() == str(old)
    new = Path(shell.ok("get", model, "--no-drafter", "--update").strip())
    assert new != old and new.read_bytes() == newer
    # What it was can still be had.
    assert shell.ok("get", REPOSITORY, "--revision", first, "--no-drafter").strip() == str(old)


def test_a_cut_is_told_and_the_file_is_whole(shell: Shell) -> None:
    shell.hub.cdn_trouble.append(Cut(9))
    code, out, err = shell.run("get", f"{REPOSITORY}:tiny-Q4.gguf", "--no-drafter")
    assert code == 0 and "trying again in 1 s" in err
    files = shell.hub.repositories[REPOSITORY].commits[shell.hub.repositories[REPOSITORY].main]
    assert sha256(Path(out.strip()).read_bytes()) == sha256(files["tiny-Q4.gguf"])


def test_errors_come_as_asked(shell: Shell) -> None:
    code, out, err = shell.run("get", "maker/none:a.gguf", "--json")
    assert code == 1 and json.loads(out)["error"] in err and "maker/none" in err
    code, out, _ = shell.run("info", "zzz", "--json")
    assert code == 2 and "there is no model 'zzz'" in json.loads(out)["error"]


def test_a_proxy_is_used(shell: Shell) -> None:
    proxied = {"HF_ENDPOINT": "http://hub.example", "HTTP_PROXY": shell.hub.endpoint,
               "http_proxy": shell.hub.endpoint, "NO_PROXY": "", "no_proxy": ""}  # fmt: skip
    code, out, err = shell.run("get", f"{REPOSITORY}:tiny-Q4.gguf", "--no-drafter", **proxied)
    assert code == 0, err
    assert Path(out.strip()).is_file()
    assert {"hub.example"} < {request.host for request in shell.hub.requests}


@linux
def test_only_the_hub_is_talked_to_and_only_about_the_files(shell: Shell) -> None:
    shell.ok("get", f"{REPOSITORY}:tiny-Q4.gguf")
    paths = {re.sub(r"[0-9a-f]{40,}", "X", r.path.partition("?")[0]) for r in shell.hub.requests}
    assert paths == {
        f"/api/models/{REPOSITORY}",
        f"/{REPOSITORY}/resolve/X/tiny-Q4.gguf",
        f"/{REPOSITORY}/resolve/X/MTP/any-name.gguf",
        "/cdn/X",
    }
    # Our name and version, those of huggingface_hub and of Python: no more about the machine.
    agents = {r.headers["user-agent"] for r in shell.hub.requests}
    known = r"gemma-local/[\w.]+; hf_hub/[\w.]+; python/[\w.]+"
    assert all(re.fullmatch(known, agent) for agent in agents)


# ------------------------------------------------------------------------------- on a terminal


def terminal(shell: Shell, *words: object) -> Terminal:
    environment = shell.command.environment(TERM="xterm", COLUMNS="100", **shell.variables)
    return Terminal(shell.command.words("models", *words), environment)


@linux
def test_a_person_sees_how_far_it_is_and_may_stop_it(shell: Shell) -> None:
    shell.hub.pace = 0.03
    with terminal(shell, "get", f"{REPOSITORY}:tiny-Q4.gguf") as screen:
        screen.wait_for(r"\[#+\.*\] +[1-9][0-9]?%.*MB/s, \d+ s left")
        screen.type("\x03")
        assert screen.end() == 130
        assert "Traceback" not in screen.screen
    shell.hub.pace = 0.0
    assert shell.json("list")["unfinished_bytes"] > 0
    before = sum(shell.hub.sent.values())
    _, _, err = shell.run("get", f"{REPOSITORY}:tiny-Q4.gguf")
    assert "more)" in err
    repository = shell.hub.repositories[REPOSITORY]
    whole = sum(len(c) for n, c in repository.commits[repository.main].items() if n != "README.md")
    assert sum(shell.hub.sent.values()) - before < whole


@linux
def test_a_person_is_asked_before_anything_is_deleted(shell: Shell, tmp_path: Path) -> None:
    reference = make.target(tmp_path / "mine", "reference.gguf")
    shell.ok("add", reference)
    shell.ok("add", "--copy", make.target(tmp_path / "mine", "copy.gguf"))
    with pytest.raises(UsageError, match="give --yes"):
        shell.ok("rm", "copy")
    for answer, left in (("n", ["copy", "reference"]), ("y", ["reference"])):
        with terminal(shell, "rm", "copy") as screen:
            screen.wait_for(r"delete copy \(.*\) from the disk\? \[y/N\] ")
            screen.line(answer)
            assert screen.end() == 0
        assert shell.names() == left
    # Nothing is deleted, so nobody is asked.
    shell.ok("rm", "ref")
    assert shell.names() == [] and reference.exists()


@linux
def test_what_nobody_wants_to_finish_can_be_deleted(shell: Shell) -> None:
    shell.hub.cdn_trouble.extend([Cut(5 << 20), Status(403), Status(403)])
    with pytest.raises(HubRefused):
        shell.ok("get", f"{REPOSITORY}:tiny-Q4.gguf", "--no-drafter")
    assert shell.json("list")["unfinished_bytes"] > 4 << 20
    _, _, err = shell.run("list")
    assert re.search(r"[5-9]\.\d+ MB of unfinished downloads are kept", err)
    with pytest.raises(UsageError, match="unfinished downloads would be deleted"):
        shell.ok("rm", "--unfinished")
    shell.ok("rm", "--unfinished", "--yes")
    assert shell.json("list")["unfinished_bytes"] == 0
    assert not list((shell.command.home / "hf").rglob("*.incomplete"))


@linux
def test_a_file_of_the_hub_can_be_deleted_and_fetched_again(shell: Shell) -> None:
    shell.ok("get", f"{REPOSITORY}:tiny-Q4.gguf")
    assert shell.names() == ["any-name", "tiny-Q4"]
    shell.ok("rm", "tiny", "any", "--yes")
    assert shell.names() == [] and not list((shell.command.home / "hf" / "hub").glob("models--*"))
    shell.ok("get", f"{REPOSITORY}:tiny-Q4.gguf")
    assert shell.names() == ["any-name", "tiny-Q4"]


# --------------------------------------------------------------------------------- local files


@linux
def test_a_life_without_a_network(shell: Shell, tmp_path: Path) -> None:
    assert shell.ok() == ""
    here = make.split_target(tmp_path / "here", "big")
    make.drafter(tmp_path / "here", "small.gguf")
    assert shell.ok("add", here[0], tmp_path / "here" / "small.gguf") == "big\nsmall\n"
    listed = shell.ok("list")
    assert re.search(
        r"^big +\S+ +F32 +[\d.]+ kB +yes +" + str(tmp_path / "here"), listed, re.MULTILINE
    )
    assert re.search(r"^small .* drafter ", listed, re.MULTILINE)
    info = shell.ok("info", "b")
    assert str(tmp_path / "here" / "small.gguf") in info and "big-00003-of-00003" in info
    assert "not compared yet" in info
    assert shell.ok("verify").count("noted") == 4
    assert shell.ok("verify").count("is whole (as the last time has it)") == 4
    stick = tmp_path / "stick"
    assert shell.ok("export", stick, "big").count("\n") == 4
    assert {path.name for path in stick.iterdir()} == {
        "gemma-local-models.json",
        "small.gguf",
        *(path.name for path in here),
    }
    shell.ok("rm", "big", "small")
    assert all(path.exists() for path in here)
    imported = shell.json("import", stick)["models"]
    assert [model["name"] for model in imported] == ["big", "small"]
    assert imported[0]["drafter"] == imported[1]["path"]
    assert shell.ok("verify", "big").count("is whole") == 3
    part = Path(imported[0]["parts"][1])
    content = bytearray(part.read_bytes())
    content[-1] ^= 1
    part.write_bytes(content)
    code, out, _ = shell.run("verify", "big")
    assert code == 1 and "big-00002-of-00003.gguf WAS CHANGED" in out
    assert not shell.hub.requests


@linux
def test_files_of_other_programs_are_found_and_added(shell: Shell) -> None:
    studio = shell.command.home / ".lmstudio" / "models"
    make.target(studio / "maker", "gemma.gguf")
    make.drafter(studio / "maker", "broken.gguf").write_bytes(b"GGUF and no more")
    found = shell.ok("scan")
    assert re.search(r"^gemma +LM Studio +[\d.]+ kB$", found, re.MULTILINE)
    assert shell.ok("scan", "--add") == "gemma\n"
    assert shell.names() == ["gemma"]
    assert [row["name"] for row in shell.json("scan")["found"]] == ["broken"]


@linux
def test_programs_are_told_the_same_in_json(shell: Shell, tmp_path: Path) -> None:
    code, out, err = shell.run("verify", "--json")
    assert (code, json.loads(out), err) == (0, {"files": []}, "")
    assert "there is no model to verify" in shell.run("verify")[2]
    big, small = make.target(tmp_path, "big.gguf"), make.drafter(tmp_path, "small.gguf")
    added = shell.json("add", big, small)["models"]
    assert [(model["name"], model["path"]) for model in added] == [
        ("big", str(big)),
        ("small", str(small)),
    ]
    told = shell.json("info", "big")
    assert (told["kind"], told["drafter"]) == ("model", str(small))
    assert told["parts"] == [str(big)] and told["bytes"] == big.stat().st_size
    exported = shell.json("export", tmp_path / "stick", "big")
    assert {file["file"]: file["sha256"] for file in exported["files"]} == {
        path.name: sha256(path.read_bytes()) for path in (big, small)
    }
    [noted] = shell.json("verify", "big")["files"]
    assert (noted["name"], noted["verdict"], noted["expected"]) == ("big", "recorded", None)
    assert noted["checksum"] == sha256(big.read_bytes())
    big.write_bytes(big.read_bytes() + b"x")
    code, out, _ = shell.run("verify", "big", "--json")
    [changed] = json.loads(out)["files"]
    assert (code, changed["verdict"]) == (1, "changed")
    assert changed["expected"] == noted["checksum"] != changed["checksum"]
