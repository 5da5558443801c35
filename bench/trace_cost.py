"""What --trace costs: the same load with and without it, in turn, on one engine in one process.

Usage: python -m bench.trace_cost [--threads 1 2] [--streams 1 8] [--tokens 128] [--repeats 7]

The API is called in process, and the trace goes to a file in the temporary directory. A figure is the
median of the rounds; which of the two comes first alternates. Wants a quiet machine.

The second table is this process's CPU time over the scripted engine, which other work disturbs less: without
a trace, with lines that go nowhere, and with lines that the trace's own thread writes.
"""

import argparse
import asyncio
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import process_time

import uvloop
from starlette.types import ASGIApp

from bench import inside
from bench.load import Load, Stream, decode_rate, first_token, prompt
from bench.machine import busy, describe
from ds4 import wiring
from ds4.api.access import Access
from ds4.api.app import build_app
from ds4.config import Config, choose_model, parse
from ds4.core.ports import Engine
from ds4.observe.requests import Journal
from ds4.observe.tee import tee
from ds4.observe.trace.writer import Put, TraceWriter
from ds4.rerun.recorder import Watch
from ds4.rerun.tracing import trace_head, tracing
from ds4.schedule.scheduler import CachePlan
from ds4.schedule.thread import EngineThread
from ds4.testing.backend import ignore
from ds4.testing.inside import Setting
from ds4.testing.inside import inside as scripted

PROMPT_ROWS = 100


@dataclass(frozen=True, slots=True)
class Run:
    """`cpu`: seconds of all threads of this process, which other work disturbs less than the clock."""

    streams: list[Stream]
    cpu: float

    @property
    def rate(self) -> float:
        return decode_rate(self.streams)


@dataclass(frozen=True, slots=True)
class Round:
    """`size`: bytes of the trace, without its head."""

    plain: Run
    traced: Run
    size: int


class Bench:
    """`config` has no trace; the one with a trace differs in that alone."""

    def __init__(self, config: Config, trace: Path) -> None:
        self._plain, self._traced = config, replace(config, trace=trace)
        self._trace = trace
        self._plan = wiring.blueprint(config, choose_model(config, Path.cwd()))
        self._engine: Engine
        self._runs = 0

    def open(self) -> None:
        self._engine = self._plan.open_engine()

    def close(self) -> None:
        self._engine.close()

    async def round(self, streams: int, tokens: int) -> Round:
        both = (self._plain, self._traced) if self._runs % 2 else (self._traced, self._plain)
        found = {config.trace is not None: await self._run(config, streams, tokens) for config in both}
        self._runs += 1
        with self._trace.open("rb") as lines:
            head = len(lines.readline())
        size = self._trace.stat().st_size - head
        self._trace.unlink()
        return Round(found[False], found[True], size)

    async def _run(self, config: Config, streams: int, tokens: int) -> Run:
        with tracing(config, ignore) as watch:
            # A thread for each, since the clock is the watch's. The engine is used by one at a time.
            thread = EngineThread(watch.clock, tee(Journal(watch.clock), watch.observe))
            opened = await thread.open(lambda: self._engine)
            app = self._app(config, watch, thread, opened)
            started = process_time()
            found = await inside.run(app, self._load(streams, tokens))
            spent = process_time() - started
            await thread.halt()
        return Run(found, spent)

    def _app(self, config: Config, watch: Watch, thread: EngineThread, opened: Engine) -> ASGIApp:
        engine, cache = watch.engine(opened), watch.cache(CachePlan())
        limits = wiring.limits(config, engine)
        backend = thread.serve(engine, limits, 64, cache, make=watch.scheduler)
        ids, journal = watch.ids(wiring.new_ids()), Journal(watch.clock)
        parts = wiring.services(
            config,
            self._plan,
            engine,
            backend,
            ids,
            ignore,
            journal,
            Access(),
            None,
            watch.clock,
            vocabulary=opened.tokenizer,
        )
        watch.begin(lambda: trace_head(config, self._plan, opened, parts, limits, cache))
        return watch.app(build_app(watch.services(parts)))

    def _load(self, streams: int, tokens: int) -> Load:
        """The same for both of a round: each has a scheduler of its own, which knows nothing yet."""
        n_vocab = self._engine.info.n_vocab
        first = self._runs * 64
        return Load(tuple(prompt(first + n, PROMPT_ROWS, n_vocab) for n in range(streams)), tokens)


def row(threads: int, streams: int, tokens: int, rounds: list[Round]) -> str:
    def median(of: Callable[[Round], float]) -> float:
        return statistics.median(map(of, rounds))

    rate = median(lambda r: r.plain.rate)
    ratio = median(lambda r: r.traced.rate / r.plain.rate)
    first = median(lambda r: first_token(r.traced.streams) / first_token(r.plain.streams))
    cpu = median(lambda r: r.traced.cpu / r.plain.cpu)
    cost = median(lambda r: 1e6 * (r.traced.cpu - r.plain.cpu) / tokens)
    size = median(lambda r: r.size / (streams * tokens))
    figures = f"{rate:.1f} | {ratio:.3f} | {first:.3f} | {cpu:.3f} | {cost:.0f} | {size:.0f}"
    return f"| {threads} | {streams} | {figures} |"


async def measure(args: argparse.Namespace, trace: Path) -> None:
    print(describe())
    print(
        f"load before: {busy():.2f}; {args.tokens} tokens, {args.repeats} rounds, prompts of {PROMPT_ROWS}\n"
    )
    print("| threads | streams | tok/s | with / without | first token | CPU | us a step | bytes a token |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for threads in args.threads:
        words = ["--ctx", "1024", "--batched-session", str(max(args.streams)), *args.options]
        config = parse([*words, "-t", str(threads), "--threads-batch", str(threads)])
        assert isinstance(config, Config)
        bench = Bench(config, trace)
        bench.open()
        for streams in args.streams:
            await bench.round(streams, 8)  # warm
            rounds = [await bench.round(streams, args.tokens) for _ in range(args.repeats)]
            print(row(threads, streams, args.tokens, rounds), flush=True)
        bench.close()


CONTENDERS = ("without", "noted", "written")


async def cpu(streams: int, tokens: int, repeats: int, trace: Path) -> str:
    """Microseconds of CPU per step, the client's own part included."""
    writer = TraceWriter(trace, ignore)
    puts: dict[str, Put | None] = {"without": None, "noted": lambda _line: None, "written": writer}

    def reply(_prompt: str) -> str:
        return "word " * tokens

    desks = {name: scripted(reply, Setting(n_slots=streams), put) for name, put in puts.items()}
    spent: dict[str, list[float]] = {name: [] for name in desks}
    load = Load(tuple(tuple(range(10 + i, 60 + i)) for i in range(streams)), tokens)
    for _ in range(repeats + 1):
        for name, desk in desks.items():
            started = process_time()
            await inside.run(desk.app, load)
            desk.records.clear()
            spent[name].append(1e6 * (process_time() - started) / tokens)
    writer.close()
    # The first round fills caches.
    cells = (f"{statistics.median(spent[name][1:]):.0f}" for name in CONTENDERS)
    return f"| {streams} | {' | '.join(cells)} |"


async def measure_cpu(args: argparse.Namespace, trace: Path) -> None:
    print(f"\n| streams | {' | '.join(CONTENDERS)} |")
    print("| --- | --- | --- | --- |")
    for streams in args.streams:
        print(await cpu(streams, 400, args.repeats, trace), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("options", nargs="*", help="further options of ds4-server, after --")
    args = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner,
    ):
        runner.run(measure(args, Path(folder) / "trace"))
        runner.run(measure_cpu(args, Path(folder) / "scripted"))


if __name__ == "__main__":
    main()
