"""What the server costs: the API in process and over sockets against the bare engine loop.

Usage: python -m bench.overhead [--threads 1 2] [--streams 1 8] [--tokens 128] [--repeats 5]

All three run on one engine in one process, in turn, with the same prompts; a figure is the median of
the runs' ratios to the bare loop's run beside it. Wants a quiet machine.
"""

import argparse
import asyncio
import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvloop

from bench import bare, inside
from bench.load import Load, Stream, decode_rate, first_token, prompt
from bench.machine import busy, describe
from ds4 import wiring
from ds4.api.access import Access
from ds4.api.app import build_app
from ds4.api.server import bind, serve
from ds4.config import Config, choose_model, parse
from ds4.core.clock import SystemClock
from ds4.core.ports import Engine
from ds4.engine.llama import LlamaEngine
from ds4.observe.requests import Journal
from ds4.schedule.thread import EngineThread
from ds4.testing.backend import ignore

PROMPT_ROWS = 100


@dataclass(frozen=True, slots=True)
class Round:
    """One run of each contender, with the same load."""

    bare: list[Stream]
    inside: list[Stream]
    sockets: list[Stream]


class Bench:
    def __init__(self, config: Config) -> None:
        self._config = config
        self._journal = Journal(SystemClock())
        self._thread = EngineThread(SystemClock(), self._journal)
        self._plan = wiring.blueprint(config, choose_model(config, Path.cwd()))
        self._engine: Engine
        self._runs = 0

    async def open(self) -> None:
        self._engine = await self._thread.open(self._plan.open_engine)

    async def close(self) -> None:
        await self._thread.close()

    async def round(self, streams: int, tokens: int) -> Round:
        engine = self._engine
        assert isinstance(engine, LlamaEngine)
        floor = await self._thread.call(lambda: bare.run(engine, self._load(streams, tokens)))
        backend = self._thread.serve(engine, wiring.limits(self._config, engine), 64)
        parts = wiring.services(
            self._config,
            self._plan,
            engine,
            backend,
            wiring.new_ids(),
            ignore,
            self._journal,
            Access(),
            None,
            vocabulary=engine.tokenizer,
        )
        app = build_app(parts)
        within = await inside.run(app, self._load(streams, tokens))
        sock = bind("127.0.0.1", 0)
        serving = asyncio.ensure_future(serve(sock, app, lambda: None))
        over = await _client(sock.getsockname()[1], self._load(streams, tokens))
        serving.cancel()
        await asyncio.gather(serving, return_exceptions=True)
        await self._thread.halt()
        return Round(floor, within, over)

    def _load(self, streams: int, tokens: int) -> Load:
        self._runs += 1
        n_vocab = self._engine.info.n_vocab
        return Load(
            tuple(prompt(self._runs * 64 + index, PROMPT_ROWS, n_vocab) for index in range(streams)), tokens
        )


async def _client(port: int, load: Load) -> list[Stream]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "bench.client",
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    asked = json.dumps({"port": port, "prompts": load.prompts, "tokens": load.tokens}).encode()
    out, _ = await process.communicate(asked)
    return [Stream(sent, tuple(times)) for sent, times in json.loads(out)]


def _ratio(rounds: list[Round], of: Callable[[Round], list[Stream]]) -> float:
    return statistics.median(decode_rate(of(r)) / decode_rate(r.bare) for r in rounds)


def row(threads: int, streams: int, rounds: list[Round]) -> str:
    floor = statistics.median(decode_rate(r.bare) for r in rounds)
    ttft = [statistics.median(first_token(s) for s in side) for side in _sides(rounds)]
    return (
        f"| {threads} | {streams} | {floor:.1f} | {_ratio(rounds, lambda r: r.inside):.3f} "
        f"| {_ratio(rounds, lambda r: r.sockets):.3f} | {ttft[0]:.2f} / {ttft[1]:.2f} / {ttft[2]:.2f} |"
    )


def _sides(rounds: list[Round]) -> tuple[list[list[Stream]], ...]:
    return [r.bare for r in rounds], [r.inside for r in rounds], [r.sockets for r in rounds]


async def measure(args: argparse.Namespace) -> None:
    print(describe())
    print(
        f"load before: {busy():.2f}; {args.tokens} tokens, {args.repeats} rounds, prompts of {PROMPT_ROWS}\n"
    )
    print("| threads | streams | bare tok/s | in process / bare | sockets / bare | first token, s (3 ways) |")
    print("| --- | --- | --- | --- | --- | --- |")
    for threads in args.threads:
        words = ["--ctx", "1024", "--batched-session", str(max(args.streams)), *args.options]
        config = parse([*words, "-t", str(threads), "--threads-batch", str(threads)])
        assert isinstance(config, Config)
        bench = Bench(config)
        await bench.open()
        for streams in args.streams:
            await bench.round(streams, 8)  # warm
            rounds = [await bench.round(streams, args.tokens) for _ in range(args.repeats)]
            print(row(threads, streams, rounds), flush=True)
        await bench.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("options", nargs="*", help="further options of ds4-server, after --")
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(measure(parser.parse_args()))


if __name__ == "__main__":
    main()
