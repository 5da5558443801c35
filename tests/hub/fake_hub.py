"""A hub on loopback: the listing of a repository, file heads, and a content server on another host name."""

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

COMMIT = "c0ffee" + "0" * 34


@dataclass(frozen=True)
class Seen:
    method: str
    path: str
    range: str | None
    token: str | None
    agent: str


@dataclass
class FakeHub:
    """What the server holds, how it misbehaves, and what it saw.

    `cuts` are the numbers of body bytes after which the next downloads break off, or with `hangs` go
    silent; `statuses` the answers to the next downloads instead of a body. `damaged` changes one byte of
    every body.
    """

    repo: str = "some/model-GGUF"
    files: dict[str, bytes] = field(default_factory=dict)
    token: str | None = None
    gated: bool = False
    lists: bool = True
    error: tuple[int, str] | None = None
    cuts: list[int] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    hangs: bool = False
    ranges: bool = True
    damaged: bool = False
    content_addressed: bool = True
    seen: list[Seen] = field(default_factory=list)
    port: int = 0
    stopping: threading.Event = field(default_factory=threading.Event)

    @property
    def endpoint(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def downloads(self) -> list[str | None]:
        """The ranges of the downloads so far."""
        return [seen.range for seen in self.seen if seen.method == "GET" and "/content/" in seen.path]

    @contextmanager
    def running(self) -> Iterator["FakeHub"]:
        hub = self

        class Handler(_Handler):
            owner = hub

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        self.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield self
        finally:
            self.stopping.set()
            server.shutdown()
            server.server_close()
            thread.join()


class _Handler(BaseHTTPRequestHandler):
    owner: FakeHub
    protocol_version = "HTTP/1.1"

    def log_request(self, code: object = "-", size: object = "-") -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        self.owner.seen.append(
            Seen(
                self.command,
                self.path,
                self.headers.get("Range"),
                self.headers.get("Authorization"),
                self.headers.get("User-Agent", ""),
            )
        )
        path = unquote(urlsplit(self.path).path)
        if path.startswith("/content/"):
            self._content(path.removeprefix("/content/"))
        elif not self._refused():
            self._hub(path)

    def _refused(self) -> bool:
        hub = self.owner
        sent = self.headers.get("Authorization")
        if hub.error is not None:
            self._error(*hub.error)
        elif hub.token is not None and sent != f"Bearer {hub.token}":
            self._error(401, "GatedRepo" if hub.gated else "RepoNotFound" if sent is None else "")
        elif hub.gated and hub.token is None:
            self._error(403, "GatedRepo")
        else:
            return False
        return True

    def _hub(self, path: str) -> None:
        hub = self.owner
        api = re.fullmatch(r"/api/models/([^/]+/[^/]+)/revision/([^/]+)", path)
        file = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        found = api or file
        if found is None or found[1] != hub.repo:
            self._error(404, "RepoNotFound")
        elif found[2] not in ("main", COMMIT):
            self._error(404, "RevisionNotFound")
        elif api:
            self._listing()
        elif found[3] not in hub.files:
            self._error(404, "EntryNotFound")
        else:
            self._file(found[3])

    def _listing(self) -> None:
        hub = self.owner
        if not hub.lists:
            self._send(200, b"<html>please log in to the network</html>")
            return
        siblings = [self._sibling(name, data) for name, data in hub.files.items()]
        body = {"id": hub.repo, "modelId": hub.repo, "sha": COMMIT, "siblings": siblings}
        self._send(200, json.dumps(body).encode(), {"Content-Type": "application/json"})

    def _sibling(self, name: str, data: bytes) -> dict[str, Any]:
        entry: dict[str, Any] = {"rfilename": name, "size": len(data), "blobId": "0" * 40}
        if self.owner.content_addressed:
            entry["lfs"] = {"sha256": sha256(data), "size": len(data), "pointerSize": 130}
        return entry

    def _file(self, name: str) -> None:
        data = self.owner.files[name]
        etag = sha256(data)
        self._send(
            302,
            b"",
            {
                "X-Repo-Commit": COMMIT,
                "X-Linked-Etag": f'"{etag}"',
                "X-Linked-Size": str(len(data)),
                "Location": f"http://localhost:{self.owner.port}/content/{etag}",
            },
        )

    def _content(self, etag: str) -> None:
        hub = self.owner
        if hub.statuses:
            self._error(hub.statuses.pop(0), "")
            return
        data = next(data for data in hub.files.values() if sha256(data) == etag)
        body = bytes([data[0] ^ 1]) + data[1:] if hub.damaged else data
        asked = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", "")) if hub.ranges else None
        if asked:
            body = body[int(asked[1]) : int(asked[2]) + 1]
        self._send(206 if asked else 200, body, cut=hub.cuts.pop(0) if hub.cuts else None)

    def _error(self, status: int, code: str) -> None:
        self._send(status, b"", {"X-Error-Code": code} if code else {})

    def _send(
        self, status: int, body: bytes, headers: dict[str, str] | None = None, cut: int | None = None
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body if cut is None else body[:cut])
        if cut is not None:
            if self.owner.hangs:
                self.owner.stopping.wait()
            self.close_connection = True


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
