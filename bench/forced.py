"""Forced tool calls of the demo model at a temperature of 1.5, in every family and tool format.

Usage: python -m bench.forced [--model FILE] [--threads N] [--calls 200] [--only STYLE]

Every call must be right: parsed, valid by its schema, of a tool that was demanded, with nothing beside it.
One answer in eleven comes on top: it calls as often as the model likes and may be cut. `forced` is the share
of the tokens that were not sampled. Exit code 1 if an answer is not right.
"""

import argparse
import asyncio
import os
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from bench.forced_calls import ROUND, STYLES, TEMPERATURE, Checked, Style, Way, checked, ways
from bench.machine import describe
from ds4.config.model import demo_model
from ds4.core.ports import Engine
from ds4.engine.llama import LlamaEngine, LlamaOptions
from ds4.testing.wired import Wired, wired

SLOTS = 8


@dataclass(frozen=True, slots=True)
class Run:
    """Of `answers` those are right that neither were `cut`, where they may be, nor have `faults`."""

    style: Style
    answers: int
    cut: int
    tools: Counter[str]
    faults: tuple[str, ...]
    tokens: int
    forced: int
    seconds: float

    @property
    def right(self) -> int:
        return self.answers - self.cut - len(self.faults)

    def __str__(self) -> str:
        share = 100 * self.forced / max(self.tokens, 1)
        length = self.tokens / max(self.answers, 1)
        counts = f"{self.right} | {self.cut} | {len(self.faults)}"
        return f"| {self.style.name} | {counts} | {length:.0f} | {share:.0f} % | {self.seconds:.0f} s |"


async def run(engine: Engine, style: Style, calls: int) -> Run:
    """`calls` in rounds of ROUND, as many at once as there are slots."""
    started = perf_counter()
    server = serve(engine, style)
    gate = asyncio.Semaphore(engine.info.n_slots)

    async def one(seed: int, way: Way) -> list[Checked]:
        async with gate:
            return await checked(server.client, seed, way)

    asked = [(number, way) for number in range(calls // ROUND) for way in every_way(server)]
    parts = await asyncio.gather(*(one(seed, way) for seed, (_, way) in enumerate(asked, 1)))
    found = [each for part in parts for each in part]
    entries = server.services.journal.entries()
    return Run(
        style,
        len(found),
        sum(each.cut for each in found if not each.faults),
        Counter(call.name for each in found for call in each.answer.calls),
        tuple("; ".join(each.faults) for each in found if each.faults),
        sum(entry.generated for entry in entries),
        sum(entry.forced for entry in entries),
        perf_counter() - started,
    )


def serve(engine: Engine, style: Style) -> Wired:
    info = engine.info
    slots = ("--ctx", str(info.n_ctx), "--batched-session", str(info.n_slots))
    return wired(engine, ("-m", info.path, *slots, *style.options))


def every_way(server: Wired) -> tuple[Way, ...]:
    tokenizer = server.services.tokenizer
    close = server.plan.style.marks.close
    closing = [tokenizer.controls[close]] if close in tokenizer.controls else tokenizer.encode_plain(close)
    ends = [token for token in tokenizer.controls.values() if tokenizer.is_eog(token)]
    # Where calls stand in a block, the block ends first; and a call's last token must not hold the next one's
    # first character.
    written = server.plan.style.tools.written.by(tokenizer.controls)
    after, closes = (tokenizer.encode_plain(text.strip()) for text in (written.after, written.closes))
    return ways([*ends, *after[:1], *closes[-1:]], closing)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, default=demo_model())
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--calls", type=int, default=200, help=f"for each style, a multiple of {ROUND}")
    parser.add_argument("--only", nargs="+", choices=[style.name for style in STYLES])
    args = parser.parse_args()
    print(describe())
    print(f"model {args.model.name}, temperature {TEMPERATURE}, {SLOTS} at once")
    options = LlamaOptions(
        args.model, n_ctx=2048, n_slots=SLOTS, threads=args.threads, threads_batch=args.threads
    )
    engine = LlamaEngine.open(options)
    print("\n| family, tool format | right | cut | wrong | tokens of an answer | forced | took |")
    print("|" + " --- |" * 7)
    runs = []
    for style in STYLES:
        if args.only is None or style.name in args.only:
            runs.append(asyncio.run(run(engine, style, args.calls)))
            print(runs[-1], flush=True)
    engine.close()
    for each in runs:
        for fault in each.faults:
            print(f"{each.style.name}: {fault}", file=sys.stderr)
    return 1 if any(each.faults for each in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
