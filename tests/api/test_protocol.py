"""HTTP/1.1 over real sockets, with a stub behind the server."""

import asyncio

import pytest
from sockets import GET, Address, against, asked, connect, echo, everything
from starlette.types import Receive, Scope, Send

from ds4.api import protocol

pytestmark = pytest.mark.server


def test_one_connection_carries_several_requests() -> None:
    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            for _ in range(3):
                await connection.send(GET)
                assert await connection.answer() == (200, b"/a 0")

    against(echo, scenario)


def test_requests_sent_together_are_answered_in_order() -> None:
    assert asked(GET + GET.replace(b"/a", b"/b"), 2) == [(200, b"/a 0"), (200, b"/b 0")]


def test_a_chunked_body() -> None:
    head = b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
    assert asked(head + b"5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n") == [(200, b"/a 8")]


def test_a_body_that_trickles_in_does_not_hold_up_others() -> None:
    async def scenario(address: Address) -> None:
        async with connect(address) as slow, connect(address) as quick:
            await slow.send(b"POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\na")
            await quick.send(GET)
            assert await quick.answer() == (200, b"/a 0")
            await slow.send(b"bc")
            assert await slow.answer() == (200, b"/slow 3")

    against(echo, scenario)


def test_a_body_nobody_read_does_not_spoil_the_connection() -> None:
    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            await connection.send(b"POST /deaf HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n")
            assert await connection.answer() == (200, b"/deaf 0")
            await connection.send(b"hello" + GET)
            assert await connection.answer() == (200, b"/a 0")

    against(echo, scenario)


def test_an_offer_to_upgrade_is_ignored_and_the_body_kept() -> None:
    head = b"POST /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\n"
    assert asked(head + b"hello") == [(200, b"/a 5")]


OFFER = b"POST /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"


@pytest.mark.parametrize("cut", range(len(OFFER) - 20, len(OFFER) + 3))
def test_an_offer_to_upgrade_may_come_in_two_segments(cut: int) -> None:
    data = OFFER + b"Content-Length: 5\r\n\r\nhello"

    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            await connection.send(data[:cut])
            await asyncio.sleep(0.01)
            await connection.send(data[cut:] + GET)
            assert await connection.answer() == (200, b"/a 5")
            assert await connection.answer() == (200, b"/a 0")

    against(echo, scenario)


def test_an_offer_to_upgrade_may_stand_in_pipelined_requests() -> None:
    sized = OFFER + b"Content-Length: 5\r\n\r\nhello"
    chunked = OFFER + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
    bodiless = OFFER.replace(b"POST", b"GET") + b"\r\n"
    answers = [(200, b"/a 5"), (200, b"/a 2"), (200, b"/a 0"), (200, b"/a 5"), (200, b"/a 0")]
    assert asked(sized + chunked + bodiless + sized + GET, 5) == answers


def test_a_tunnel_is_refused() -> None:
    assert (
        asked(b"CONNECT a:80 HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")[0][0] == 400
    )


@pytest.mark.parametrize("coding", [b"xchunked", b"gzip, chunked", b"identity"])
def test_an_unknown_transfer_coding_is_501(coding: bytes) -> None:
    head = b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: " + coding + b"\r\n\r\n"
    ((status, body),) = asked(head + b"0\r\n\r\n")
    assert (status, b"the only transfer coding" in body) == (501, True)


async def stream(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
    await send({"type": "http.response.start", "status": 200, "headers": []})
    for part in (b"one ", b"", b"two"):
        await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def test_http_1_0_gets_a_stream_without_chunks() -> None:
    head, rest = everything(b"GET /a HTTP/1.0\r\n\r\n", stream)
    assert (b"connection: close" in head, b"transfer-encoding" in head) == (True, False)
    assert rest == b"one two"


def test_http_1_0_gets_the_length_where_there_is_one() -> None:
    head, rest = everything(
        b"POST /a HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", echo
    )
    assert b"content-length: 4" in head
    assert rest == b"/a 2"


def sized_head(size: int) -> bytes:
    """A request whose path, header names and values come to `size` bytes, as the server counts them."""
    fixed = len("/a") + len("Host") + len("x") + 4 + len("Pad") + 4
    return b"GET /a HTTP/1.1\r\nHost: x\r\nPad: " + b"p" * (size - fixed) + b"\r\n\r\n"


def test_the_limit_of_the_head_is_64_kib() -> None:
    assert asked(sized_head(65_000)) == [(200, b"/a 0")]
    ((status, body),) = asked(sized_head(65_537))
    assert (status, b"larger than 65536 bytes" in body) == (431, True)


@pytest.mark.parametrize(
    "endless",
    [
        pytest.param(b"GET /" + b"a" * 140_000, id="request line"),
        pytest.param(b"GET / HTTP/1.1\r\nA: " + b"a" * 140_000, id="one header"),
        pytest.param(b"GET / HTTP/1.1\r\n" + b"A: a\r\n" * 24_000, id="many headers"),
    ],
)
def test_a_head_without_end_is_431(endless: bytes) -> None:
    assert asked(endless)[0][0] == 431


@pytest.mark.parametrize("endless", [b"5;" + b"x" * 300_000, b"0\r\nT: " + b"x" * 300_000])
def test_chunk_extensions_and_trailers_count_too(endless: bytes) -> None:
    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            head = b"POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
            await connection.send(head)
            assert await connection.cut_off(endless)

    against(echo, scenario)


@pytest.mark.parametrize(
    "data", [b"nonsense\r\n\r\n", "GET /\u00e9 HTTP/1.1\r\n\r\n".encode(), b"\x16\x03\x01\r\n"]
)
def test_what_is_not_http_is_400_in_the_apis_shape(data: bytes) -> None:
    ((status, body),) = asked(data)
    assert (status, b'"message":"bad HTTP request"' in body) == (400, True)


def test_a_head_that_is_never_finished_is_408(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.05)

    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            await connection.send(GET)
            assert await connection.answer() == (200, b"/a 0")
            await connection.send(b"GET / HTTP/1.1\r\n")
            assert (await connection.answer())[0] == 408
            assert await connection.cut_off()

    against(echo, scenario)


def test_a_line_break_behind_the_body_does_not_end_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "HEAD_SECONDS", 0.01)

    async def slow(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await asyncio.sleep(0.05)
        await echo({**scope, "path": "/deaf"}, receive, send)

    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            await connection.send(b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi")
            await asyncio.sleep(0.01)
            await connection.send(b"\r\n")
            assert await connection.answer() == (200, b"/deaf 0")

    against(slow, scenario)


def test_a_client_that_does_not_read_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "WRITE_SECONDS", 0.05)
    left = asyncio.Event()

    async def flood(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(64 * 2**20), "more_body": True})
        assert (await receive())["type"] == "http.disconnect"
        left.set()

    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            await connection.send(GET)
            await left.wait()

    against(flood, scenario)


def test_a_client_that_leaves_is_noticed() -> None:
    left = asyncio.Event()

    async def wait(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
        while (await receive())["type"] != "http.disconnect":
            pass
        left.set()

    async def scenario(address: Address) -> None:
        async with connect(address) as connection:
            await connection.send(GET)
        await left.wait()

    against(wait, scenario)
