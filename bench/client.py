"""A client process: reads a load as JSON on stdin, streams it from a server, writes the times as JSON."""

import asyncio
import json
import sys
from time import perf_counter

from bench.inside import request
from bench.load import Load, Stream


async def run(port: int, load: Load) -> list[Stream]:
    return list(await asyncio.gather(*(_stream(port, ids, load.tokens) for ids in load.prompts)))


async def _stream(port: int, ids: tuple[int, ...], tokens: int) -> Stream:
    body = json.dumps(request(ids, tokens)).encode()
    head = (
        f"POST /v1/completions HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\n"
        f"Connection: close\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    sent = perf_counter()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(head.encode() + body)
    times: list[float] = []
    while data := await reader.read(1 << 16):
        times += [perf_counter()] * data.count(b'"finish_reason":null')
    writer.close()
    # A token that shows no text makes no event; then the answer's end is when it came.
    return Stream(sent, tuple(times) or (perf_counter(),))


def main() -> None:
    asked = json.load(sys.stdin)
    load = Load(tuple(tuple(ids) for ids in asked["prompts"]), asked["tokens"])
    streams = asyncio.run(run(asked["port"], load))
    json.dump([[stream.sent, list(stream.tokens)] for stream in streams], sys.stdout)


if __name__ == "__main__":
    main()
