"""The API called in this process: everything of the server but the sockets."""

import asyncio
from time import perf_counter

from starlette.types import ASGIApp

from bench.load import Load, Stream
from ds4.testing.asgi import Client


async def run(app: ASGIApp, load: Load) -> list[Stream]:
    return list(await asyncio.gather(*(_stream(app, ids, load.tokens) for ids in load.prompts)))


async def _stream(app: ASGIApp, ids: tuple[int, ...], tokens: int) -> Stream:
    sent = perf_counter()
    times = []
    async with Client(app).open("POST", "/v1/completions", value=request(ids, tokens)) as exchange:
        await exchange.start()
        async for chunk in exchange.chunks():
            # Several events may share a chunk, but each token of a greedy run makes one event.
            times += [perf_counter()] * chunk.count(b'"finish_reason":null')
    return Stream(sent, tuple(times))


def request(ids: tuple[int, ...], tokens: int) -> dict[str, object]:
    return {
        "model": "bench",
        "prompt": list(ids),
        "max_tokens": tokens,
        "temperature": 0,
        "ignore_eos": True,
        "stream": True,
    }
