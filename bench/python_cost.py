"""Python's share of a step: scheduling, parsing, delivery and rendering, everything but the engine.

Usage: python -m bench.python_cost [--streams 1 8] [--tokens 500] [--profile]

The whole server runs on one event loop over the scripted engine, whose own time is taken off.
"""

import argparse
import asyncio
import cProfile
import pstats
import statistics
from collections.abc import Callable
from time import perf_counter

from bench import inside as client
from bench.load import Load
from bench.machine import busy, describe
from ds4.core.step import StepPlan, StepResult
from ds4.testing.inside import Inside, Setting, inside


class Stopwatch:
    """Takes the time inside a function that it stands in for."""

    def __init__(self, step: Callable[[StepPlan], StepResult]) -> None:
        self._step = step
        self.seconds = 0.0
        self.steps = 0

    def __call__(self, plan: StepPlan) -> StepResult:
        started = perf_counter()
        result = self._step(plan)
        self.seconds += perf_counter() - started
        self.steps += 1
        return result


async def run(desk: Inside, streams: int, tokens: int) -> float:
    """Microseconds of Python per step, the client's own part included."""
    watch = Stopwatch(type(desk.engine).step.__get__(desk.engine))
    desk.engine.step = watch  # type: ignore[method-assign]
    prompts = tuple(tuple(range(10 + i, 60 + i)) for i in range(streams))
    started = perf_counter()
    await client.run(desk.app, Load(prompts, tokens))
    desk.records.clear()
    return 1e6 * (perf_counter() - started - watch.seconds) / watch.steps


async def measure(streams: int, tokens: int, *, profile: bool) -> float:
    desk = inside(lambda prompt: "word " * tokens, Setting(n_slots=streams))  # noqa: ARG005
    await run(desk, streams, 50)
    if profile:
        with cProfile.Profile() as profiler:
            await run(desk, streams, tokens)
        pstats.Stats(profiler).sort_stats("tottime").print_stats(25)
    return statistics.median([await run(desk, streams, tokens) for _ in range(5)])


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--tokens", type=int, default=500)
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    print(describe())
    print(f"load before: {busy():.2f}\n\n| streams | Python per step |\n| --- | --- |")
    for streams in args.streams:
        cost = asyncio.run(measure(streams, args.tokens, profile=args.profile))
        print(f"| {streams} | {cost:.0f} us |")


if __name__ == "__main__":
    main()
