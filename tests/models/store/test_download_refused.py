"""Downloads that cannot be: refused, offline, without room."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx2
import pytest

from gemma_local.models.store import disk
from gemma_local.models.store.errors import (
    HubRefused,
    HubUnreachable,
    NoSpace,
    NotOnHub,
    Offline,
)
from gemma_local.models.store.hub_errors import explained, is_transient
from gemma_local.models.store.patience import Patience, asked_wait
from gemma_local.models.store.wanted import Wanted
from tests.hub import (
    Answer,
    HubServer,
    LoginPage,
    Status,
    sha256,
)
from tests.models.store.conftest import REPOSITORY, Files, Getter, target_only

MIB = 1 << 20


# ------------------------------------------------------------------------------------ refusals


def test_a_gated_repository_says_where_to_accept(files: Files, getter: Getter) -> None:
    getter.server.repositories[REPOSITORY].gated = True
    with pytest.raises(HubRefused, match="accept them, make a token"):
        getter.get(files.wanted())


def test_a_wrong_token_is_named(
    files: Files, getter: Getter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(HubRefused, match="does not accept the token"):
        getter.get(files.wanted())


def test_a_token_without_rights_is_named(files: Files, getter: Getter) -> None:
    getter.server.cdn_trouble.extend([Status(403)] * 2)
    with pytest.raises(HubRefused, match=r"does not let this token read .*target\.gguf \(403\)"):
        getter.get(target_only(files))


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (
            Wanted(REPOSITORY, "other.gguf"),
            r"'other\.gguf'.*It has mtp-drafter\.gguf, target\.gguf",
        ),
        (Wanted("maker/nothing", "a.gguf"), "no repository maker/nothing"),
        (Wanted(REPOSITORY, "target.gguf", "v9"), "no such revision"),
    ],
    ids=str,
)
def test_what_does_not_exist_is_named(getter: Getter, wanted: Wanted, sentence: str) -> None:
    with pytest.raises(NotOnHub, match=sentence):
        getter.get([wanted])


@pytest.mark.parametrize(
    ("repository", "file"),
    [("no//name", "a"), ("name", "a"), ("a/b--c", "a"), ("../x", "a"), ("a/b/c", "a"),
     ("a/b", "../a"), ("a/b", "/a"), ("a/b", "")],
)  # fmt: skip
def test_names_that_cannot_exist_are_refused(repository: str, file: str) -> None:
    with pytest.raises(NotOnHub, match="is no "):
        Wanted(repository, file)


def test_a_login_page_in_place_of_the_listing(files: Files, getter: Getter) -> None:
    getter.server.api_trouble.append(LoginPage())
    with pytest.raises(HubUnreachable, match="wants you to sign in"):
        getter.get(files.wanted())


@pytest.mark.parametrize(
    "told",
    [{"sha": "main"}, {"sha": None}, {"oid": "../../../outside"}, {"oid": "x" * 64}],
    ids=str,
)
def test_a_mirror_cannot_choose_where_files_lie(
    files: Files, getter: Getter, told: dict[str, str | None]
) -> None:
    lfs = {"sha256": told.get("oid", sha256(files.target)), "size": 9, "pointerSize": 134}
    body = {
        "id": REPOSITORY,
        "sha": told.get("sha", "a" * 40),
        "siblings": [{"rfilename": "target.gguf", "size": 9, "blobId": "b" * 40, "lfs": lfs}],
    }
    getter.server.api_trouble.append(Answer(json.dumps(body).encode()))
    with pytest.raises((HubUnreachable, NotOnHub)):
        getter.get(target_only(files))
    assert not getter.server.requests_for("/resolve/")


def test_nobody_at_the_other_end(files: Files, getter: Getter) -> None:
    with HubServer() as gone:
        pass
    getter.server = gone
    with pytest.raises(HubUnreachable, match="no connection"):
        getter.get(files.wanted())
    assert len(getter.remarks) == getter.patience.attempts - 1


def test_a_certificate_that_is_not_trusted_is_named_at_once() -> None:
    # What httpx makes of ssl.SSLCertVerificationError.
    error = httpx2.ConnectError(
        "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate"
    )
    assert not is_transient(error)
    explanation = explained(error, "https://mirror.example", REPOSITORY)
    assert isinstance(explanation, HubUnreachable)
    assert "the certificate of https://mirror.example is not trusted" in str(explanation)
    assert "SSL_CERT_FILE" in str(explanation)
    assert is_transient(httpx2.ConnectError("[Errno 111] Connection refused"))


# --------------------------------------------------------------------------------- offline, disk


def test_offline_asks_nothing_and_uses_what_is_here(files: Files, getter: Getter) -> None:
    paths = getter.get(files.wanted())
    getter.offline = True
    before = len(getter.server.requests)
    assert getter.get(files.wanted()) == paths
    assert getter.get(files.wanted(sha=False)) == paths
    for ask in (
        lambda: getter.get([Wanted(REPOSITORY, "other.gguf")]),
        lambda: getter.get(files.wanted(), update=True),
        lambda: getter.store.hub.fetch_header(files.wanted()[0], 10),
        lambda: getter.store.hub.look_up(REPOSITORY),
    ):
        with pytest.raises(Offline, match="nothing may be fetched"):
            ask()
    assert len(getter.server.requests) == before


def test_no_room_is_said_before_anything_is_fetched(
    files: Files, getter: Getter, monkeypatch: pytest.MonkeyPatch
) -> None:
    needed = len(files.target) + len(files.drafter)
    monkeypatch.setattr(disk, "SPARE", 1 << 60)
    with pytest.raises(NoSpace, match=r"are needed in .* are free there. Free at least"):
        getter.get(files.wanted())
    assert not getter.server.sent and needed


@pytest.mark.skipif(sys.platform == "win32", reason="limits of processes")
def test_a_disk_that_fills_up_keeps_what_came(files: Files, getter: Getter) -> None:
    code = textwrap.dedent(
        """
        import resource, sys
        from pathlib import Path
        from gemma_local.models.errors import GemmaLocalError
        from gemma_local.models.store.file_record import FileRecord
        from gemma_local.models.store.hub import Hub
        from gemma_local.models.store.hub_cache import HubCache
        from gemma_local.models.store.store import Store
        from gemma_local.models.store.wanted import Wanted
        endpoint, repository, folder = sys.argv[1:]
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        store = Store(Hub(endpoint), HubCache(Path(folder)), FileRecord(Path(folder, "v")))
        try:
            store.carry_out(store.plan([Wanted(repository, "target.gguf")]), lambda event: None)
        except GemmaLocalError as error:
            print(type(error).__name__, error)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", code, getter.server.endpoint, REPOSITORY, getter.cache.folder],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.startswith("NoSpace ") and "goes on from what is there" in done.stdout
    assert done.stderr == ""
    (partial,) = getter.partials()
    there = partial.stat().st_size
    assert there == MIB
    (path,) = getter.get(target_only(files))
    assert path.read_bytes() == files.target
    assert getter.server.requests_for("/cdn/")[-1].headers["range"] == f"bytes={MIB}-"


# -------------------------------------------------------------------------------------- waiting


def test_waits_grow_to_a_limit_and_servers_may_ask_for_more() -> None:
    patience = Patience(first_wait=1.0, longest_wait=5.0, longest_asked=60.0)
    assert [patience.wait_before(n, None) for n in (1, 2, 3, 4)] == [1.0, 2.0, 4.0, 5.0]
    assert patience.wait_before(1, 20.0) == 20.0
    assert patience.wait_before(1, 1e9) == 60.0


def test_what_a_server_asks_for() -> None:
    assert asked_wait({"Retry-After": "7"}) == 7.0
    in_an_hour = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    assert 3500 < (asked_wait({"Retry-After": in_an_hour}) or 0) <= 3600
    assert asked_wait({"Retry-After": "Thu, 01 Jan 1970 00:00:00 GMT"}) == 0.0
    assert asked_wait({"RateLimit": '"api";r=0;t=55'}) == 55.0
    assert asked_wait({"Retry-After": "soon"}) is None
    assert asked_wait({}) is None
