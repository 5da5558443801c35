"""Agents' sessions, turn by turn: how many tokens each server computes anew, and when the first token comes.

Usage: python -m bench.agents [--engine demo|scripted|inside] [--shapes pi claude-bare] [--only WORD...]
                              [--against split unified] [--family NAME...] [--turns]

demo: the demo model, small agents, ours and llama-server. Its template has no tools, and llama-server leaves
them out: so for both there is a text as long behind the system text. scripted: large agents, tools and all,
on our scripted engine. inside: the same in this process, on a virtual clock, for each memory class.
The target for every request is `new` + 32 tokens: what its client added, and a few.
"""

import argparse
import asyncio
import shutil
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from bench.desk import Cost, Desk, Host, table
from bench.hosts import InsideHost, ProcessHost
from bench.machine import busy, describe
from bench.scenarios import Agent, Scenario, chosen
from bench.servers import Server, Setting, llama_server_program
from bench.shapes import Shape, folded, shapes
from ds4.config.model import demo_model
from ds4.core.step import Trim

FOLDER = Path(".cache/bench/agents")
SLACK = 32
COLUMNS = "requests | prompt | new | computed | worst excess | over target | first tokens"
RAM_MB = 4096


@dataclass(frozen=True, slots=True)
class Contender:
    """`open` gives a fresh host."""

    name: str
    open: Callable[[], Host]


def contenders(args: argparse.Namespace, slots: int) -> Iterator[Contender]:
    if args.engine == "inside":
        for family, trim in product(args.family, Trim):
            yield Contender(f"ours, {family}, {trim}", partial(InsideHost, family, trim, slots))
        return
    kept = ("--kv-ram-mb", str(RAM_MB), "--kv-disk-dir", str(FOLDER / "kv"))
    if args.engine == "scripted":
        for family in args.family:
            yield Contender(
                f"ours, {family}", partial(_process, (*_scripted(family, slots), *kept), ours=True)
            )
        return
    setting = Setting(args.model, slots, 8192, args.threads)
    yield Contender("ours", partial(_process, (*setting.ours(), *kept), ours=True))
    for layout in args.against:
        peer = (*setting.llama_server(llama_server_program()), "--cache-ram", str(RAM_MB), *LAYOUTS[layout])
        yield Contender(f"llama-server, {layout}", partial(_process, peer, ours=False))


LAYOUTS = {"split": ("--no-kv-unified",), "unified": ("--kv-unified",)}


def _process(command: Sequence[str], *, ours: bool) -> Host:
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    return ProcessHost(Server(command, FOLDER.parent / "agents.log"), ours=ours)


def _scripted(family: str, slots: int) -> tuple[str, ...]:
    script = Path(__file__).with_name("scripted_model.py")
    return (
        *(sys.executable, "-m", "ds4", "--engine", "scripted", "--script", str(script)),
        *("--model-family", family, "--ctx", "131072", "--batched-session", str(slots)),
    )


def play(scenario: Scenario, contender: Contender, shape: Shape, max_tokens: int) -> list[Cost]:
    desk = Desk(contender.open())

    async def played() -> None:
        try:
            desk.host.start()
            await scenario.play(desk, lambda name: Agent(desk, shape, name, max_tokens))
        finally:
            desk.host.stop()

    asyncio.run(played())
    return desk.costs


def summary(costs: Sequence[Cost]) -> str:
    prompt, new, computed = (sum(getattr(c, key) for c in costs) for key in ("prompt", "new", "computed"))
    over = [cost for cost in costs if cost.excess > SLACK]
    worst = max(cost.excess for cost in costs)
    first = sum(cost.first for cost in costs)
    return f"{len(costs)} | {prompt} | {new} | {computed} | {worst} | {len(over)} | {first:.1f} s"


def main() -> None:
    args = _parser().parse_args()
    known = shapes()
    limit = args.max_tokens or (32 if args.engine == "demo" else 1024)
    print(describe())
    print(f"load before: {busy():.2f}\n")
    rows = [f"| scenario | agent | server | {COLUMNS} |", "|" + " --- |" * 10]
    for scenario in chosen(args.only, virtual=args.engine == "inside"):
        for name in args.shapes or DEFAULT[args.engine]:
            shape = folded(known[name]) if args.engine == "demo" else known[name]
            for contender in contenders(args, scenario.slots):
                costs = play(scenario, contender, shape, limit)
                rows.append(f"| {scenario.name} | {name} | {contender.name} | {summary(costs)} |")
                print(rows[-1], flush=True)
                if args.turns or any(cost.excess > SLACK for cost in costs if cost.source):
                    print("\n".join(["", *table(costs), ""]), flush=True)
    print("\n".join(["", *rows]))


LARGE = ["claude-code-all", "codex", "opencode"]
DEFAULT = {"demo": ["pi"], "scripted": LARGE, "inside": LARGE}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--engine", choices=tuple(DEFAULT), default="demo")
    parser.add_argument("--model", type=Path, default=demo_model())
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--shapes", nargs="+", choices=sorted(shapes()))
    parser.add_argument("--family", nargs="+", default=["deepseek-v4"])
    parser.add_argument("--against", nargs="*", choices=sorted(LAYOUTS), default=["split", "unified"])
    parser.add_argument("--only", nargs="+", default=[], help="scenarios whose name has one of these words")
    parser.add_argument("--max-tokens", type=int, help="of an answer; demo: 32, scripted: 1024")
    parser.add_argument("--turns", action="store_true", help="show every request")
    return parser


if __name__ == "__main__":
    main()
