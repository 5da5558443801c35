"""What a long prefill does to the others: gaps between their tokens, and how long /health takes.

Usage: python -m bench.stall [--model FILE] [--threads N] [--streams 4] [--rows 6000] [--no-peer]

Runs the same on ours, on ours with a cache directory, and on llama-server, one after the other. With the
directory, states are saved every 512 rows, in prefill and in decoding, and a second long prompt parks
the first. A quantum is the median gap during the prefill without saving.
"""

import argparse
import asyncio
import re
import shutil
from collections import Counter
from collections.abc import Iterator
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
LOGS = Path(".cache/bench")
OFTEN = (
    *("--kv-cache-min-tokens", "64", "--kv-cache-continued-interval-tokens", "512"),
    *("--kv-cache-boundary-align-tokens", "512", "--kv-ram-mb", "2048"),
)


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
    (other,) = await client.run(port, Load((prompt(98, rows // 4, n_vocab),), 1))
    pinging.cancel()
    done = await decoding
    begin, end = long.sent, other.tokens[-1]
    return Stall(_gaps(done, 0, begin), _gaps(done, begin, end), sorted(health), long.tokens[-1] - begin)


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


def row(name: str, stall: Stall, quantum: float) -> str:
    """`quantum` in seconds."""
    late = f"{(stall.loaded[-1] - _value(stall.loaded, 0.5)) / quantum:.2f}" if stall.loaded else "-"
    return (
        f"| {name} | {_at(stall.quiet, 0.5)} | {_at(stall.loaded, 0.5)} | {_at(stall.loaded, 1)} | {late} "
        f"| {_at(stall.health, 0.99)} | {stall.prefill:.1f} s |"
    )


def _at(ordered: list[float], share: float) -> str:
    return f"{1000 * _value(ordered, share):.0f} ms" if ordered else "-"


def _value(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def contenders(setting: Setting, *, peer: bool) -> Iterator[tuple[str, list[str]]]:
    yield "ours", setting.ours()
    shutil.rmtree(LOGS / "stall-kv", ignore_errors=True)
    yield "ours, saving", [*setting.ours(), "--kv-disk-dir", str(LOGS / "stall-kv"), *OFTEN]
    if peer:
        yield "llama-server", setting.llama_server(llama_server_program())


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--model", type=Path, default=demo_model())
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--streams", type=int, default=4)
    parser.add_argument("--rows", type=int, default=6000)
    parser.add_argument("--peer", action=argparse.BooleanOptionalAction, default=True)
    args = parser.parse_args()
    setting = Setting(args.model, args.streams + 1, max(8192, args.rows + 256), args.threads)
    n_vocab = LlamaTokenizer.open(args.model).n_vocab
    LOGS.mkdir(parents=True, exist_ok=True)
    print(describe())
    print(f"model {args.model.name}, threads {args.threads}, load before: {busy():.2f}")
    print(f"{args.streams} streams decode while a prompt of {args.rows} rows is computed\n")
    print("| server | gap, quiet | median | worst | worst - median, quanta | /health p99 | prefill |")
    print("|" + " --- |" * 7)
    quantum = 0.0
    for name, command in contenders(setting, peer=args.peer):
        log = LOGS / f"stall-{name}.log"
        log.unlink(missing_ok=True)
        with running(command, log) as port:
            stall = asyncio.run(watch(port, args.streams, args.rows, n_vocab))
        quantum = quantum or _value(stall.loaded, 0.5)
        print(row(name, stall, quantum), flush=True)
        saves = re.findall(r"kv cache stored .*reason=(\w+)", log.read_text(errors="replace"))
        if saves:
            print(f"\nsaved: {dict(Counter(saves))}\n", flush=True)


if __name__ == "__main__":
    main()
