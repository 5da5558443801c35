import asyncio
from collections.abc import Callable
from dataclasses import replace

import orjson
import pytest
from api_fakes import T, World, run
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Message, Scope

from ds4.api.app import build_app
from ds4.api.body import deeper_than, load_object, refuse_swarm
from ds4.core.errors import BadRequest
from ds4.testing.asgi import Client, Reply

LIMIT = 1000
PATH = "/tokenize"


def small() -> World:
    return World().with_limits(body_bytes=LIMIT, body_patience=0.01)


def post(world: World, body: bytes | list[bytes], **headers: str) -> Reply:
    return run(world.client().request("POST", PATH, body=body, headers=headers))


def padded(size: int) -> bytes:
    return b'{"content":"hi"}'.ljust(size)


def test_a_body_of_exactly_the_limit_is_read() -> None:
    assert post(small(), padded(LIMIT)).status == 200


def test_one_byte_more_is_413() -> None:
    reply = post(small(), padded(LIMIT + 1))
    assert reply.status == 413
    assert reply.headers["connection"] == "close"
    assert reply.json()["error"]["type"] == "invalid_request_error"


def test_a_declared_length_is_refused_before_reading_when_the_client_waits_for_a_go_ahead() -> None:
    async def scenario() -> None:
        headers = {"content-length": str(LIMIT + 1), "expect": "100-continue"}
        async with small().client().open("POST", PATH, body=padded(LIMIT + 1), headers=headers) as exchange:
            await exchange.start()
            assert (exchange.status, exchange.parts_read) == (413, 0)

    run(scenario())


def test_a_chunked_body_without_end_is_given_up() -> None:
    async def scenario() -> None:
        endless = (b"x" * 100 for _ in range(10**9))
        async with small().client().open("POST", PATH, body=endless) as exchange:
            await exchange.start()
            assert exchange.status == 413
            # The limit, and once as much thrown away so that the client gets to read the answer.
            assert exchange.parts_read == 21

    run(scenario())


def test_the_body_may_come_in_pieces() -> None:
    assert post(small(), [b'{"cont', b"", b'ent":"h', b'i"}']).json() == {"tokens": [104, 105]}


def test_a_body_that_stops_coming_is_408() -> None:
    statuses: list[int] = []

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        if "status" in message:
            statuses.append(message["status"])

    async def scenario() -> None:
        scope: Scope = {
            "type": "http",
            "http_version": "1.1",
            "scheme": "http",
            "method": "POST",
            "path": PATH,
            "headers": [(b"host", b"localhost")],
        }
        await small().app()(scope, receive, send)

    run(scenario())
    assert statuses == [408]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"", "invalid JSON request: "),
        (b"{", "line 1, column"),
        (b'{"a": 1,\n "b" 2}', "line 2, column"),
        (b'{"a":NaN}', "line 1, column 6"),
        (b'{"content":"\xff"}', "invalid UTF-8 at byte 12"),
        (b"[]", "top level must be an object"),
        (b'"text"', "top level must be an object"),
        (b'{"a":1} {}', "line 1, column"),
    ],
)
def test_invalid_json_is_400_and_says_where(body: bytes, words: str) -> None:
    reply = post(small(), body)
    assert reply.status == 400
    assert reply.json()["error"]["message"].startswith("invalid JSON request")
    assert words in reply.json()["error"]["message"]


def nested(depth: int) -> bytes:
    return b'{"a":' * (depth - 1) + b"[]" + b"}" * (depth - 1)


def test_the_nesting_limit_is_exact() -> None:
    assert load_object(nested(256), 256)
    with pytest.raises(BadRequest, match="nested deeper than 256"):
        load_object(nested(257), 256)


def test_absurd_nesting_is_an_answer_too() -> None:
    assert post(World(), b'{"a":' + b"[" * 100_000).status == 400


@given(st.recursive(st.none(), lambda child: st.lists(child) | st.dictionaries(st.text(), child)))
def test_deeper_than_agrees_with_the_definition(value: object) -> None:
    def depth(node: object) -> int:
        if not isinstance(node, dict | list):
            return 0
        children = node.values() if isinstance(node, dict) else node
        return 1 + max((depth(child) for child in children), default=0)

    actual = depth(value)
    assert not deeper_than(value, actual)
    assert actual == 0 or deeper_than(value, actual - 1)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (rb"cut \ud83d", "cut \ufffd"),
        (rb"\ude00 tail", "\ufffd tail"),
        (rb"\ud83d\ud83d\ude00", "\ufffd\U0001f600"),
        (rb"\ud83d\n\\ud83d", "\ufffd\n\\ud83d"),
        (rb"\uD83Dx\u00e9", "\ufffdx\u00e9"),
    ],
)
def test_half_surrogate_pairs_become_replacement_characters(text: bytes, expected: str) -> None:
    assert load_object(b'{"a":"' + text + b'"}', 256) == {"a": expected}


@pytest.mark.parametrize("body", [b'{"a":[1,2],"b":{}}', b'{"a":"[,{{"}'])
def test_the_limit_of_commas_and_brackets_is_exact(body: bytes) -> None:
    refuse_swarm(body, 6)
    refuse_swarm(body, 5)
    with pytest.raises(BadRequest, match="more than 4 commas and brackets"):
        refuse_swarm(body, 4)


def test_marks_are_counted_to_the_end_of_a_long_body() -> None:
    refuse_swarm(b"x" * 2**21 + b",[", 2)
    with pytest.raises(BadRequest):
        refuse_swarm(b"x" * 2**21 + b",[{", 2)


@given(st.recursive(st.none(), lambda child: st.lists(child) | st.dictionaries(st.text(), child)))
def test_no_json_holds_more_values_than_it_has_marks(value: object) -> None:
    def values(node: object) -> int:
        if not isinstance(node, dict | list):
            return 1
        return 1 + sum(map(values, node.values() if isinstance(node, dict) else node))

    if (count := values(value)) > 1:
        with pytest.raises(BadRequest):
            refuse_swarm(orjson.dumps(value), count - 2)


def test_a_swarm_of_values_is_400_before_it_is_parsed() -> None:
    reply = post(World().with_limits(json_marks=10), b'{"content":"hi","x":[' + b"[]," * 10 + b"1]}")
    assert (reply.status, "more than 10 commas and brackets" in reply.body.decode()) == (400, True)


def test_the_last_of_equal_keys_wins() -> None:
    assert load_object(b'{"a":1,"a":2}', 256) == {"a": 2}


def test_large_bodies_are_parsed_in_a_worker() -> None:
    handed: list[object] = []

    async def record(work: Callable[[], T], /) -> T:
        handed.append(work)
        return work()

    services = replace(World().services(), run=record)
    client = Client(build_app(services))
    for size, expected in [(services.limits.inline_bytes - 1, 1), (services.limits.inline_bytes, 3)]:
        reply = run(client.request("POST", PATH, body=padded(size)))
        assert reply.status == 200
        # One hand-over is the tokenising itself.
        assert len(handed) == expected
