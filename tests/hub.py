"""A hub of models on this machine: it answers as huggingface.co does, and misbehaves when told to.

    with HubServer() as hub:
        hub.commit("maker/model", {"a.gguf": content})
        hub.cdn_trouble.append(Cut(after=100_000))

Large files are redirected to a "CDN", which is the same server under another name (``localhost``),
so that what must not go there, the token, can be seen to stay away.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import unquote, urlsplit

LOGIN_PAGE = b"<!DOCTYPE html><html><body>Welcome to the hotel. Please sign in.</body></html>"


@dataclass(frozen=True)
class Cut:
    """The connection ends after so many bytes of the body."""

    after: int


@dataclass(frozen=True)
class Stall:
    """After so many bytes nothing comes any more, and the connection stays."""

    after: int


@dataclass(frozen=True)
class Status:
    """This status in place of an answer."""

    code: int
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    """This JSON in place of an answer."""

    body: bytes


@dataclass(frozen=True)
class IgnoreRange:
    """The whole file with status 200, whatever part was asked for."""


@dataclass(frozen=True)
class RefuseRange:
    """Status 416 to whoever asks for a part."""


@dataclass(frozen=True)
class LoginPage:
    """HTML with status 200."""


@dataclass(frozen=True)
class Flip:
    """One bit of the byte at this offset of the file is wrong."""

    at: int


@dataclass(frozen=True)
class OtherContent:
    """Another file, as if it had been replaced in the middle of the download."""

    content: bytes


@dataclass(frozen=True)
class Unsized:
    """No length is told, and the body ends so many bytes early."""

    missing: int = 0
    extra: bytes = b""


@dataclass(frozen=True)
class OtherRange:
    """The part that begins so many bytes later than the one that was asked for."""

    later: int


Trouble = (
    Answer
    | Cut
    | Stall
    | Status
    | IgnoreRange
    | LoginPage
    | RefuseRange
    | OtherRange
    | Flip
    | OtherContent
    | Unsized
)


@dataclass(frozen=True)
class Request:
    """What came in. ``host`` is the one that the client believed to talk to."""

    method: str
    path: str
    host: str
    headers: dict[str, str]


@dataclass
class Repository:
    commits: dict[str, dict[str, bytes]] = field(default_factory=dict)
    main: str = ""
    gated: bool = False
    private: bool = False


class HubServer:
    """The server, in threads of this process."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.requests: list[Request] = []
        self.sent: dict[str, int] = defaultdict(int)
        """Bytes of bodies that went out, by SHA-256 of the file."""
        self.api_trouble: deque[Trouble] = deque()
        self.resolve_trouble: deque[Trouble] = deque()
        self.cdn_trouble: deque[Trouble] = deque()
        """One for each request, in their order; when there are none left all goes well."""
        self.token = "hf_right"
        self.pace = 0.0
        """Seconds to wait after every 64 KiB."""
        self._closing = threading.Event()
        self._lock = threading.Lock()
        handler = type("Handler", (_Handler,), {"hub": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    def __enter__(self) -> HubServer:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def port(self) -> int:
        return int(self._server.server_address[1])

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def commit(self, repository: str, files: dict[str, bytes]) -> str:
        """A new commit at ``main`` with these files in place of those of the same names."""
        repo = self.repositories.setdefault(repository, Repository())
        content = {**repo.commits.get(repo.main, {}), **files}
        listing = "".join(f"{name}{sha256(data)}" for name, data in sorted(content.items()))
        commit = hashlib.sha1(f"{repo.main}{listing}".encode()).hexdigest()
        repo.commits[commit] = content
        repo.main = commit
        return commit

    def requests_for(self, part: str) -> list[Request]:
        return [request for request in self.requests if part in request.path]

    # ------------------------------------------------------------------ used by the handler

    def count(self, digest: str, count: int) -> None:
        with self._lock:
            self.sent[digest] += count

    def next(self, troubles: deque[Trouble]) -> Trouble | None:
        with self._lock:
            return troubles.popleft() if troubles else None

    def by_digest(self, digest: str) -> bytes | None:
        for repository in self.repositories.values():
            for files in repository.commits.values():
                for content in files.values():
                    if sha256(content) == digest:
                        return content
        return None

    def closing(self, seconds: float) -> bool:
        return self._closing.wait(seconds)


_DIGESTS: dict[int, tuple[bytes, str]] = {}


def sha256(content: bytes) -> str:
    """Of contents that live as long as a test: each is hashed once."""
    known = _DIGESTS.get(id(content))
    if known is None or known[0] is not content:
        known = _DIGESTS[id(content)] = (content, hashlib.sha256(content).hexdigest())
    return known[1]


class _Handler(BaseHTTPRequestHandler):
    hub: HubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - as it is there
        pass

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        # With a proxy between, the whole address comes as the path.
        address = urlsplit(self.path)
        path = unquote(address.path)
        host = address.netloc or self.headers.get("Host", "")
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.hub.requests.append(Request(self.command, self.path, host, headers))
        if (
            match := re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/(.+))?", path)
        ) is not None:
            self._api(match[1], match[2])
        elif (match := re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)) is not None:
            self._resolve(match[1], match[2], match[3])
        elif (match := re.fullmatch(r"/cdn/([0-9a-f]{64})", path)) is not None:
            self._cdn(match[1])
        else:
            self._answer(404, b"not here")

    def _api(self, name: str, revision: str | None) -> None:
        if self._disturbed(self.hub.next(self.hub.api_trouble)):
            return
        if (found := self._commit(name, revision, listing=True)) is None:
            return
        commit, files = found
        siblings = []
        for file, content in files.items():
            sibling: dict[str, Any] = {"rfilename": file, "size": len(content)}
            sibling["blobId"] = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            if file.endswith(".gguf"):
                lfs = {"sha256": sha256(content), "size": len(content), "pointerSize": 134}
                sibling["lfs"] = lfs
            siblings.append(sibling)
        body = {"id": name, "modelId": name, "sha": commit, "siblings": siblings, "tags": []}
        self._answer(200, json.dumps(body).encode(), {"Content-Type": "application/json"})

    def _resolve(self, name: str, revision: str, file: str) -> None:
        if self._disturbed(self.hub.next(self.hub.resolve_trouble)):
            return
        if (found := self._commit(name, revision)) is None:
            return
        commit, files = found
        if file not in files:
            self._answer(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": commit})
            return
        content = files[file]
        if not file.endswith(".gguf"):
            oid = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            self._answer(200, content, {"ETag": f'"{oid}"', "X-Repo-Commit": commit})
            return
        digest = sha256(content)
        headers = {
            "Location": f"http://localhost:{self.hub.port}/cdn/{digest}?signature=s",
            "X-Repo-Commit": commit,
            "X-Linked-Size": str(len(content)),
            "X-Linked-ETag": f'"{digest}"',
            "ETag": f'"{digest[:32]}"',
        }
        self._answer(302, b"", headers)

    def _commit(
        self, name: str, revision: str | None, *, listing: bool = False
    ) -> tuple[str, dict[str, bytes]] | None:
        """The commit that is meant, or None when the client was told why not. The hub lists a gated
        repository to everybody, but hands out no file."""
        repository = self.hub.repositories.get(name)
        sent = self.headers.get("Authorization")
        allowed = sent == f"Bearer {self.hub.token}"
        if sent is not None and not allowed:
            message = "Invalid credentials in Authorization header"
            self._answer(401, b"", {"X-Error-Message": message})
        elif repository is None or (repository.private and not allowed):
            # It does not tell a stranger which of the two it is.
            self._answer(404 if allowed else 401, b"", {"X-Error-Code": "RepoNotFound"})
        elif repository.gated and not allowed and not listing:
            self._answer(401, b"", {"X-Error-Code": "GatedRepo"})
        else:
            commit = repository.main if revision in (None, "main") else str(revision)
            if commit in repository.commits:
                return commit, repository.commits[commit]
            self._answer(404, b"", {"X-Error-Code": "RevisionNotFound"})
        return None

    def _cdn(self, digest: str) -> None:
        trouble = self.hub.next(self.hub.cdn_trouble)
        if self._disturbed(trouble):
            return
        content = self.hub.by_digest(digest)
        if content is None:
            self._answer(403, b"")
            return
        match trouble:
            case OtherContent(content=other):
                content = other
            case Flip(at=place):
                content = content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]
        start, end, status = 0, len(content), 200
        headers = {"ETag": f'"{digest[:32]}"', "Content-Type": "binary/octet-stream"}
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked is not None and not isinstance(trouble, IgnoreRange):
            start = int(asked[1])
            if start >= len(content) or isinstance(trouble, RefuseRange):
                self._answer(416, b"", {"Content-Range": f"bytes */{len(content)}"})
                return
            start += trouble.later if isinstance(trouble, OtherRange) else 0
            end = min(len(content), int(asked[2]) + 1 if asked[2] else len(content))
            status = 206
            headers["Content-Range"] = f"bytes {start}-{end - 1}/{len(content)}"
        self.send_response(status)
        body = content[start:end]
        if isinstance(trouble, Unsized):
            body = body[: len(body) - trouble.missing] + trouble.extra
            headers["Connection"] = "close"
            self.close_connection = True
        else:
            headers["Content-Length"] = str(len(body))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command == "GET":
            self._send(digest, body, trouble)

    def _send(self, digest: str, body: bytes, trouble: Trouble | None) -> None:
        limit = trouble.after if isinstance(trouble, Cut | Stall) else len(body)
        sent = 0
        try:
            while sent < min(limit, len(body)):
                piece = body[sent : min(sent + 65536, limit)]
                self.wfile.write(piece)
                sent += len(piece)
                self.hub.count(digest, len(piece))
                if self.hub.pace:
                    time.sleep(self.hub.pace)
            if isinstance(trouble, Stall):
                self.hub.closing(30)
        except OSError:
            # The client left.
            self.close_connection = True
        if sent < len(body):
            self.close_connection = True

    def _disturbed(self, trouble: Trouble | None) -> bool:
        """Whether the trouble is one that replaces the whole answer; it was given then."""
        match trouble:
            case Status(code=code, headers=headers):
                self._answer(code, b"trouble", headers)
            case Answer(body=body):
                self._answer(200, body, {"Content-Type": "application/json"})
            case LoginPage():
                self._answer(200, LOGIN_PAGE, {"Content-Type": "text/html; charset=utf-8"})
            case _:
                return False
        return True

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(body)
