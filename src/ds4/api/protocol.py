"""uvicorn's HTTP/1.1 protocol with limits it does not have.

Rules:
- Bytes that are neither body nor a finished head are counted: a head (also one that never
  ends), trailers and chunk extensions may take HEAD_BYTES together.
- A head must be complete HEAD_SECONDS after its first byte. A connection without any request
  lives as long as an idle one.
- A client that does not read for WRITE_SECONDS is cut off, and its request ends like any other
  whose client left.
- Nothing is ever upgraded. The parser stops behind a head that offers to upgrade (Java's client
  offers HTTP/2 with every request), and is given the head again without the offer.
- A client that closes only its sending side counts as gone: what arrives is the same as from one
  that closed both, and most of those that leave are not waiting for an answer.
- HTTP/1.0 has no chunks: an answer without a length ends with the connection.
"""

import asyncio
import http
from typing import Any

import httptools
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from ds4.api.errors import openai
from ds4.core.errors import BadRequest

HEAD_BYTES = 64 * 1024
HEAD_SECONDS = 10.0
WRITE_SECONDS = 30.0
_CHUNKLESS = ("0.9", "1.0")


class _UntilClose(RequestResponseCycle):
    """An answer that is not chunked, with or without a length."""

    _sized = False

    async def send(self, message: ASGISendEvent) -> None:
        if message["type"] == "http.response.start":
            self._sized = any(name.lower() == b"content-length" for name, _ in message.get("headers", ()))
            self.chunked_encoding = None if self._sized else False
        elif message["type"] == "http.response.body" and not self._sized:
            self.expected_content_length = len(message.get("body", b""))
        await super().send(message)


class LimitedProtocol(HttpToolsProtocol):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._head = 0
        self._unplaced = 0
        self._in_body = False
        self._offered = False
        self._refused = False
        self._head_timer: asyncio.TimerHandle | None = None
        self._write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._expect_request()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_head_timer()
        self._stop_write_timer()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._refused:
            return
        self._unplaced += len(data)
        if self._head_timer is None and not self._in_body:
            self._head_timer = self.loop.call_later(HEAD_SECONDS, self._head_late)
        self._unset_keepalive_if_required()
        self._parse(data)
        if max(self._head, self._unplaced) > HEAD_BYTES:
            self._refuse(431, f"the request's head is larger than {HEAD_BYTES} bytes")
        elif self.cycle is not None and self.cycle.response_complete:
            # Answered before its body was read: uvicorn would wait for the rest forever.
            self._expect_request()

    def _parse(self, data: bytes) -> None:
        rest: memoryview | None = memoryview(data)
        try:
            while rest:
                rest = self._feed(rest)
        except httptools.HttpParserError:
            self._refuse(400, "bad HTTP request")

    def _feed(self, data: memoryview) -> memoryview | None:
        """What is behind a head with an offer, once the parser has taken the head without it."""
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade as stop:
            # Without an offer it is CONNECT: what follows is not HTTP.
            if self._offered and self._head <= HEAD_BYTES:
                self.parser.feed_data(self._head_without_offer())
                return data[stop.args[0] :]
        return None

    def _head_without_offer(self) -> bytes:
        self._offered = False
        version = self.parser.get_http_version().encode()
        lines = [self.parser.get_method() + b" " + self.url + b" HTTP/" + version]
        lines += [name + b": " + value for name, value in self.headers if name != b"upgrade"]
        return b"\r\n".join([*lines, b"", b""])

    def on_message_begin(self) -> None:
        self._head = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._head += len(url)
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._head += len(name) + len(value) + len(": \r\n")
        if self._head <= HEAD_BYTES:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._unplaced = 0
        self._offered = self.parser.should_upgrade() and self.parser.get_method() != b"CONNECT"
        if self._offered:
            return
        self._in_body = True
        self._stop_head_timer()
        codings = [value.strip().lower() for name, value in self.headers if name == b"transfer-encoding"]
        if codings not in ([], [b"chunked"]):
            self._refuse(501, "the only transfer coding this server knows is chunked")
        elif self._head <= HEAD_BYTES:
            super().on_headers_complete()
            if self.parser.get_http_version() in _CHUNKLESS:
                # uvicorn has no hook for another kind of cycle. Its task has not begun yet.
                self.cycle.__class__ = _UntilClose

    def on_body(self, body: bytes) -> None:
        self._unplaced = 0
        if self._head <= HEAD_BYTES and not self._refused:
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._in_body = False
        self._unplaced = 0
        if self._head <= HEAD_BYTES and not self._offered and not self._refused:
            super().on_message_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._write_timer = self.loop.call_later(WRITE_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        self._stop_write_timer()
        super().resume_writing()

    def _expect_request(self) -> None:
        if self.timeout_keep_alive_task is None and not self.transport.is_closing():
            self.timeout_keep_alive_task = self.loop.call_later(
                self.timeout_keep_alive, self.timeout_keep_alive_handler
            )

    def _head_late(self) -> None:
        self._head_timer = None
        if self._answering():
            # Bytes behind the request (some clients send a line break): not worth the answer.
            return
        self._refuse(408, f"the request's head was not complete after {HEAD_SECONDS:g} s")

    def _refuse(self, status: int, message: str) -> None:
        """Answers and closes. An answer that is already under way is cut instead."""
        if self._refused or self.transport.is_closing():
            return
        self._refused = True
        if self._answering():
            self.transport.abort()
            return
        self.transport.write(_answer(status, openai().body(BadRequest(message))))
        self.transport.close()

    def _answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _stop_write_timer(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None


def _answer(status: int, body: bytes) -> bytes:
    head = (
        f"HTTP/1.1 {status} {http.HTTPStatus(status).phrase}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
