"""A relay between client and server that notes every request and the status it got.

Agents retry what they are refused, often in another form, so that a run can end well after a fault: the
relay sees it. Clients do not pipeline: the first bytes from the server after bytes from the client are the
head of an answer.
"""

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_REQUEST = re.compile(rb"([A-Z]+) (\S+) HTTP/1\.")
_STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) ")
_PIECE = 64 * 1024
_SNIPPET = 600


@dataclass(slots=True)
class Exchange:
    """`answer` is the beginning of the answer, head and all. It grows."""

    request: str
    status: int
    answer: str = ""

    def words(self) -> str:
        """The answer's last line: what a refusal says."""
        return self.answer.rstrip().rpartition("\n")[2]


@dataclass(slots=True)
class Watch:
    url: str
    exchanges: list[Exchange] = field(default_factory=list)

    def refused(self) -> list[Exchange]:
        return [exchange for exchange in self.exchanges if exchange.status >= 400]


@contextmanager
def watched(url: str) -> Iterator[Watch]:
    """The relay's address stands in for `url` while this is open."""
    target = urlsplit(url)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="watch", daemon=True)
    thread.start()
    watch = Watch("")

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await _relay(reader, writer, str(target.hostname), int(target.port or 80), watch.exchanges.append)

    start = asyncio.start_server(connect, "127.0.0.1", 0)
    server = asyncio.run_coroutine_threadsafe(start, loop).result()
    watch.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield watch
    finally:
        asyncio.run_coroutine_threadsafe(_close(server), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _close(server: asyncio.Server) -> None:
    server.close()
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for other in others:
        other.cancel()
    await asyncio.gather(*others, return_exceptions=True)


async def _relay(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    host: str,
    port: int,
    note: Callable[[Exchange], None],
) -> None:
    to_client, to_server = writer, None
    try:
        from_server, to_server = await asyncio.open_connection(host, port)
        heads = _Heads(note)
        there = asyncio.create_task(_copy(reader, to_server, heads.sent))
        back = asyncio.create_task(_copy(from_server, to_client, heads.received))
        try:
            await asyncio.wait({there, back}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            there.cancel()
            back.cancel()
            await asyncio.gather(there, back, return_exceptions=True)
    finally:
        for each in (to_client, to_server):
            if each is not None:
                each.close()


async def _copy(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, look: Callable[[bytes], None]
) -> None:
    with suppress(ConnectionError):
        while piece := await reader.read(_PIECE):
            look(piece)
            writer.write(piece)
            await writer.drain()


class _Heads:
    """Of one connection."""

    def __init__(self, note: Callable[[Exchange], None]) -> None:
        self._note = note
        self._request = ""
        self._current: Exchange | None = None

    def sent(self, piece: bytes) -> None:
        found = _REQUEST.match(piece)
        if found and not self._request:
            self._request = b" ".join(found.groups()).decode()

    def received(self, piece: bytes) -> None:
        if self._request and (found := _STATUS.match(piece)):
            self._current = Exchange(self._request, int(found[1]))
            self._request = ""
            self._note(self._current)
        if self._current is not None and len(self._current.answer) < _SNIPPET:
            self._current.answer += piece[:_SNIPPET].decode(errors="replace")
