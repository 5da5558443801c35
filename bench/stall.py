"""What a long prefill does to the others: gaps between their tokens, and how long /health takes.

Usage: python -m bench.stall [--model FILE] [--threads N] [--streams 4] [--rows 6000]

Runs the same on ours and on llama-server, one after the other.
"""

import argparse
import asyncio
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from bench import client
from bench.load import Load, Stream, prompt
from bench.machine import busy, describe
from bench.servers import Setting, llama_server_program, running
from ds4.config.model import demo_model
from ds4.engine.llama import LlamaTokenizer

HEALTH_EVERY = 0.02


@dataclass(frozen=True, slots=True)
class Stall:
    """Seconds. Gaps between tokens of running streams, before and while the long prompt is computed."""

    quiet: list[float]
    loaded: list[float]
    health: list[float]
    prefill: float


async def watch(port: int, streams: int, rows: int, n_vocab: int) -> Stall:
    decoding = asyncio.ensure_future(
        client.run(port, Load(tuple(prompt(i, 50, n_vocab) for i in range(streams)), 600))
    )
    await asyncio.sleep(3)
    health: list[float] = []
    pinging = asyncio.ensure_future(_ping(port, health))
    (long,) = await client.run(port, Load((prompt(99, rows, n_vocab),), 1))
    pinging.cancel()
    done = await decoding
    begin, end = long.sent, long.tokens[-1]
    return Stall(_gaps(done, 0, begin), _gaps(done, begin, end), sorted(health), end - begin)


def _gaps(streams: list[Stream], begin: float, end: float) -> list[float]:
    return sorted(
        later - earlier
        for stream in streams
        for earlier, later in zip(stream.tokens, stream.tokens[1:], strict=False)
        if begin <= earlier and later <= end
    )


async def _ping(port: int, seconds: list[float]) -> None:
    while True:
        started = perf_counter()
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        await reader.read()
        writer.close()
        seconds.append(perf_counter() - started)
        await asyncio.sleep(HEALTH_EVERY)


def row(name: str, stall: Stall) -> str:
    return (
        f"| {name} | {_at(stall.quiet, 0.5)} | {_at(stall.loaded, 0.5)} | {_at(stall.loaded, 1)} "
        f"| {_at(stall.health, 0.99)} | {stall.prefill:.1f} s |"
    )


def _at(ordered: list[float], share: float) -> str:
    if not ordered:
        return "-"
    return f"{1000 * ordered[min(len(ordered) - 1, int(share * len(ordered)))]:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--model", type=Path, default=demo_model())
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--rows", type=int, default=6000)
    args = parser.parse_args()
    setting = Setting(args.model, args.streams + 1, max(8192, args.rows + 256), args.threads)
    n_vocab = LlamaTokenizer.open(args.model).n_vocab
    logs = Path(".cache/bench")
    logs.mkdir(parents=True, exist_ok=True)
    print(describe())
    print(f"model {args.model.name}, threads {args.threads}, load before: {busy():.2f}")
    print(f"{args.streams} streams decode while a prompt of {args.rows} rows is computed\n")
    print("| server | gap, quiet | gap, median | gap, worst | /health p99 | prefill |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, command in (
        ("ours", setting.ours()),
        ("llama-server", setting.llama_server(llama_server_program())),
    ):
        with running(command, logs / f"{name}.log") as port:
            print(row(name, asyncio.run(watch(port, args.streams, args.rows, n_vocab))), flush=True)


if __name__ == "__main__":
    main()
