"""Request bodies: bytes within limits, then JSON within limits."""

import asyncio
import re
from collections.abc import Callable, Iterable
from typing import NoReturn, TypeVar

import orjson
from starlette.requests import Request
from starlette.types import Receive

from ds4.api.errors import SlowBody
from ds4.api.race import ClientLeft, while_connected
from ds4.api.services import Limits, Services
from ds4.core.errors import BadRequest, TooLarge

T = TypeVar("T")
JsonObject = dict[str, object]

_MARKS = (b",", b"{", b"[")
_STRETCH = 1024 * 1024

# Every escape of a JSON string, so that an escaped backslash is never taken for the start of another.
_ESCAPE = re.compile(rb"\\(?:(u[dD][89abAB]..)(\\u[dD][c-fC-F]..)?|(u[dD][c-fC-F]..)|.)", re.DOTALL)


async def parsed(
    request: Request, services: Services, parse: Callable[[JsonObject], T], *, blocks: bool = False
) -> T:
    """The body, read and parsed. Large ones are parsed in a worker, and all where `parse` may block. Raises
    RequestError."""
    limits = services.limits
    data = await read_body(request, limits)

    def work() -> T:
        refuse_swarm(data, limits.json_marks)
        return parse(load_object(data, limits.json_depth))

    if len(data) < limits.inline_bytes and not blocks:
        return work()
    return await while_connected(request.receive, services.run(work))


async def read_body(request: Request, limits: Limits) -> bytes:
    """Raises TooLarge as soon as the limit is passed, SlowBody, or ClientLeft."""
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > limits.body_bytes:
        await _refuse(request, limits)
    chunks: list[bytes] = []
    size = 0
    more = True
    while more:
        chunk, more = await _next_chunk(request.receive, limits.body_patience)
        size += len(chunk)
        if size > limits.body_bytes:
            chunks.clear()
            await _refuse(request, limits)
        chunks.append(chunk)
    return b"".join(chunks)


async def _next_chunk(receive: Receive, patience: float) -> tuple[bytes, bool]:
    try:
        async with asyncio.timeout(patience):
            message = await receive()
    except TimeoutError:
        raise SlowBody(f"the request body stopped coming for {patience:g} s") from None
    if message["type"] == "http.disconnect":
        raise ClientLeft("the client left before its request was complete")
    return message.get("body", b""), message.get("more_body", False)


async def _refuse(request: Request, limits: Limits) -> NoReturn:
    """Raises TooLarge. First throws away as much again: most clients read no answer before all is sent,
    and closing on unread data would destroy the answer on its way to them."""
    if "expect" not in request.headers:
        left, more = limits.body_bytes, True
        while more and left > 0:
            chunk, more = await _next_chunk(request.receive, limits.body_patience)
            left -= len(chunk)
    raise TooLarge(f"the request body is larger than {limits.body_bytes} bytes")


def refuse_swarm(data: bytes, limit: int) -> None:
    """Raises BadRequest for JSON that may hold more values than `limit`: every value but the first stands
    behind a comma or an opening bracket, and takes much more memory than its bytes."""
    marks = 0
    for start in range(0, len(data), _STRETCH):
        marks += sum(data.count(mark, start, start + _STRETCH) for mark in _MARKS)
        if marks > limit:
            raise BadRequest(f"invalid JSON request: more than {limit} commas and brackets")


def load_object(data: bytes, max_depth: int) -> JsonObject:
    """Raises BadRequest with the position of the problem."""
    value = _loads(data)
    if not isinstance(value, dict):
        raise BadRequest("invalid JSON request: the top level must be an object")
    if data.count(b"[") + data.count(b"{") > max_depth and deeper_than(value, max_depth):
        raise BadRequest(f"invalid JSON request: nested deeper than {max_depth} levels")
    return value


def deeper_than(value: object, limit: int) -> bool:
    """True when more than `limit` arrays and objects stand inside each other. Not recursive."""
    level: list[object] = [value]
    for _ in range(limit + 1):
        containers = [node for node in level if isinstance(node, dict | list)]
        if not containers:
            return False
        level = [child for node in containers for child in _children(node)]
    return True


def _children(node: JsonObject | list[object]) -> Iterable[object]:
    return node.values() if isinstance(node, dict) else node


def _loads(data: bytes) -> object:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError as error:
        # JavaScript clients cut text in the middle of a surrogate pair and send the half as an escape.
        mended = _ESCAPE.sub(_whole_pairs, data) if "surrogate in string" in error.msg else data
        if mended == data:
            raise BadRequest(_complaint(error, data)) from None
        return _loads(mended)


def _whole_pairs(match: re.Match[bytes]) -> bytes:
    lone_high = match[1] is not None and match[2] is None
    return b"\\ufffd" if lone_high or match[3] is not None else match[0]


def _complaint(error: orjson.JSONDecodeError, data: bytes) -> str:
    try:
        data.decode()
    except UnicodeDecodeError as bad:
        return f"invalid JSON request: invalid UTF-8 at byte {bad.start}"
    return f"invalid JSON request: {error.msg} at line {error.lineno}, column {error.colno}"
