"""What a constraint costs, and what its forced tokens save.

Usage: python -m bench.constrain [--model FILE] [--threads N] [--tokens 128] [--repeats 5] [--only PART]

`masks`: a guide's own time per token, on the model's vocabulary and on one grown to 262144 entries. `allows`
is what every token pays, `mask` what those pay that the model would not have chosen. CPU time is counted.
`steps`: turns of the engine for one forced call, per family, with and without taking forced tokens at once.
`beside`: tokens per second of three free answers while a constrained fourth makes as many tokens, against a
free fourth. Forced rows are computed, too, so it is also told how it is while the constrained one still runs.
Wants a quiet machine.
"""

import argparse
import asyncio
import json
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter, thread_time

import numpy as np

from bench.load import prompt
from bench.machine import busy, describe
from ds4.config.model import demo_model
from ds4.constrain.compiler import Compiler
from ds4.constrain.grammar import Grammar
from ds4.core.clock import SystemClock
from ds4.core.events import Failed, Finish
from ds4.core.ports import Tokenizer
from ds4.core.sampling import Sampling
from ds4.engine.llama import LlamaEngine, LlamaOptions, LlamaTokenizer
from ds4.schedule.scheduler import Delivery, Limits, Scheduler
from ds4.testing.backend import ignore
from ds4.testing.inside import Setting, chat_body, inside
from ds4.testing.jobs import make_job

LARGE = 262_144
FAMILIES = ("chatml", "qwen3.8", "glm-5.2", "deepseek-v4", "deepseek-v4.1")
NEIGHBOURS = 3
LAST = str(NEIGHBOURS)
PROPERTIES = {
    "command": {"type": "string", "minLength": 20, "maxLength": 60},
    "working_directory": {"type": "string", "pattern": "^/[a-z]{3,8}/[a-z]{3,8}$"},
    "timeout_seconds": {"type": "integer", "minimum": 1, "maximum": 600},
    "run_in_background": {"type": "boolean"},
    "environment": {"enum": ["development", "staging", "production"]},
}
RECORD = {
    "type": "object",
    "properties": PROPERTIES,
    "required": list(PROPERTIES),
    "additionalProperties": False,
}
HOW = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
MANY = {"type": "array", "items": RECORD, "minItems": 100_000, "x-guidance": HOW}
RECORDS = Grammar(json.dumps({"grammars": [{"json_schema": MANY}]}))


class Grown:
    """A vocabulary with more words: every further entry joins two of `tokenizer`."""

    def __init__(self, tokenizer: Tokenizer, size: int) -> None:
        self._tokenizer = tokenizer
        self.n_vocab, self.bos, self.eos = size, tokenizer.bos, tokenizer.eos
        self.controls: Mapping[str, int] = tokenizer.controls
        self.encode_plain, self.encode_raw = tokenizer.encode_plain, tokenizer.encode_raw
        random = np.random.default_rng(1)
        pairs = random.integers(tokenizer.n_vocab // 100, tokenizer.n_vocab, (size - tokenizer.n_vocab, 2))
        self._more = [b"".join(map(tokenizer.piece, pair)) for pair in pairs.tolist()]

    def piece(self, token: int) -> bytes:
        known = self._tokenizer.n_vocab
        return self._tokenizer.piece(token) if token < known else self._more[token - known]

    def is_control(self, token: int) -> bool:
        return self._tokenizer.is_control(token)

    def is_eog(self, token: int) -> bool:
        return self._tokenizer.is_eog(token)


def masks(tokenizer: Tokenizer, tokens: int) -> str:
    """Along a random answer, each step asked all there is to ask."""
    started = perf_counter()
    guide = Compiler(tokenizer, ()).guide(RECORDS, "")
    made = perf_counter() - started
    random = np.random.default_rng(2)
    allows, mask, taken = [], [], []
    for _ in range(tokens):
        begun = thread_time()
        guide.allows(1000)
        allows.append(thread_time() - begun)
        begun = thread_time()
        allowed = guide.allowed()
        mask.append(thread_time() - begun)
        token = int(random.choice(np.flatnonzero(allowed)))
        begun = thread_time()
        guide.accept(token)
        while ahead := guide.forced():
            for forced in ahead:
                guide.accept(forced)
        taken.append(thread_time() - begun)
    both = [one + other for one, other in zip(mask, taken, strict=True)]
    figures = " | ".join(_us(seconds) for seconds in (allows, mask, taken, both))
    return f"| {tokenizer.n_vocab} | {made:.2f} s | {figures} |"


def _us(seconds: Sequence[float]) -> str:
    median, late = 1e6 * np.percentile(seconds, [50, 99])
    return f"{median:.0f} / {late:.0f}"


async def steps(family: str) -> str:
    tool = {"name": "run_command", "description": "Runs it.", "parameters": RECORD, "strict": True}
    taken = []
    for plain in (True, False):
        server = inside(lambda prompt: prompt[-40:], Setting(family=family))
        body = chat_body(
            ("user", "Run it."),
            tools=[{"type": "function", "function": tool}],
            tool_choice="required",
            parallel_tool_calls=False,
            thinking={"type": "disabled"},
            max_tokens=400,
            seed=7,
            temperature=1,
            logprobs=plain,  # then every token is sampled
        )
        answer = await server.client.post("/v1/chat/completions", body)
        told = answer.json()
        if answer.status != 200 or told["choices"][0]["finish_reason"] != "tool_calls":
            return f"| {family} | no call: {answer.status} {answer.body[-160:]!r} | | | |"
        taken.append((server.pump.turns, told["usage"]["completion_tokens"]))
    (all_of_them, tokens), (fewer, _) = taken
    return f"| {family} | {tokens} | {all_of_them} | {fewer} | {100 * (1 - fewer / all_of_them):.0f} % |"


@dataclass(frozen=True, slots=True)
class Rates:
    """Tokens per second of one neighbour: while the fourth answer ran, and over all of its own."""

    during: float
    whole: float


class Beside:
    """Neighbours on one engine, with a constrained or a free answer among them, all of as many tokens."""

    def __init__(self, engine: LlamaEngine, tokens: int) -> None:
        self._engine = engine
        self._compiler = Compiler(engine.tokenizer, ())
        self._tokens = tokens
        self._runs = 0

    def rates(self, *, constrained: bool) -> Rates:
        ended: set[str] = set()
        scheduler = Scheduler(
            self._engine, Limits(), SystemClock(), ignore, lambda out: ended.update(_over(out))
        )
        self._submit(scheduler, constrained=constrained)
        while _generated(scheduler, "0") < 2:
            scheduler.turn()
        started, before, during = perf_counter(), _generated(scheduler, "0"), 0.0
        while "0" not in ended:
            scheduler.turn()
            if not during and LAST in ended:
                during = (_generated(scheduler, "0") - before) / (perf_counter() - started)
        whole = (self._tokens - before) / (perf_counter() - started)
        scheduler.drain()
        return Rates(during if during > 0 else whole, whole)

    def _submit(self, scheduler: Scheduler, *, constrained: bool) -> None:
        self._runs += 1
        for number in range(NEIGHBOURS + 1):
            name = str(number)
            ids = prompt(self._runs * 64 + number, 50, self._engine.info.n_vocab)
            sampling = Sampling(temperature=1, seed=number + 1, ignore_eos=True)
            guide = self._compiler.guide(RECORDS, "") if constrained and name == LAST else None
            job = make_job(name, list(ids), max_tokens=self._tokens, sampling=sampling)
            scheduler.submit(replace(job, guide=guide), self._tokens)


def _over(out: Sequence[Delivery]) -> list[str]:
    return [name for name, events in out if isinstance(events[-1], Finish | Failed)]


def _generated(scheduler: Scheduler, job: str) -> int:
    return sum(slot.generated for slot in scheduler.status().slots if slot.job == job)


def beside(model: Path, threads: int, tokens: int, repeats: int) -> str:
    options = LlamaOptions(model=model, n_ctx=8192, n_slots=NEIGHBOURS + 1, threads=threads)
    engine = LlamaEngine.open(options)
    desk = Beside(engine, tokens)
    desk.rates(constrained=True)
    pairs = [(desk.rates(constrained=False), desk.rates(constrained=True)) for _ in range(repeats)]
    engine.close()
    free = statistics.median(a.whole for a, _ in pairs)
    whole = statistics.median(b.whole / a.whole for a, b in pairs)
    during = statistics.median(b.during / a.whole for a, b in pairs)
    return f"| {NEIGHBOURS} | {free:.1f} | {whole:.3f} | {during:.3f} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, default=demo_model())
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--only", choices=["masks", "steps", "beside"])
    args = parser.parse_args()
    print(describe())
    print(f"model {args.model.name}, load before: {busy():.2f}")
    if args.only in (None, "masks"):
        print("\n| entries | made in | allows, us: median / p99 | mask | taking | mask and taking |")
        print("|" + " --- |" * 6)
        own = LlamaTokenizer.open(args.model)
        for tokenizer in (own, Grown(own, LARGE)):
            print(masks(tokenizer, 20 * args.tokens), flush=True)
    if args.only in (None, "steps"):
        print("\n| family | tokens of a call | steps, token by token | with jumps | saved |")
        print("|" + " --- |" * 5)
        for family in FAMILIES:
            print(asyncio.run(steps(family)), flush=True)
    if args.only in (None, "beside"):
        print(
            "\n| neighbours | tok/s of one beside a free answer | ratio beside a constrained one | during |"
        )
        print("|" + " --- |" * 4)
        print(beside(args.model, args.threads, args.tokens, args.repeats), flush=True)


if __name__ == "__main__":
    main()
