"""`python -m clients`: drives clients and prints a line for each. Exit code 1 if one failed."""

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from clients import canary
from clients.client import Api
from clients.drive import Plan, demo, outgrown, scripted
from clients.report import Line, Outcome, total
from clients.table import CLIENTS, FAMILIES

CACHE = Path(__file__).parents[1] / ".cache" / "clients"
DEMO_CLIENTS = ("pi", "claude-bare")
NAMES = (*(client.name for client in CLIENTS), canary.NAME)


def main(words: Sequence[str]) -> int:
    options = _parser().parse_args(words)
    names = options.only or (DEMO_CLIENTS if options.demo else NAMES)
    plan = Plan(
        clients=[client for client in CLIENTS if client.name in names],
        apis=options.api or list(Api),
        families=options.family or FAMILIES,
        canary=canary.NAME in names and not options.api,
        cache=CACHE,
        patience=options.timeout,
    )
    run = demo if options.demo else outgrown if options.long else scripted
    lines = _shown(run(plan))
    print(total(lines))
    return 1 if not lines or any(line.outcome is Outcome.FAILED for line in lines) else 0


def _shown(lines: Iterable[Line]) -> list[Line]:
    found = []
    for line in lines:
        print(line, flush=True)
        found.append(line)
    return found


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="clients",
        description="Drives real clients against the server. Without options: all, in all families.",
    )
    parser.add_argument("--only", nargs="+", choices=NAMES, metavar="CLIENT", help=", ".join(NAMES))
    parser.add_argument("--api", nargs="+", choices=list(Api), type=Api)
    parser.add_argument("--family", nargs="+", help=f"default: {' '.join(FAMILIES)}")
    parser.add_argument("--demo", action="store_true", help="the packaged model instead of the scripted one")
    parser.add_argument("--long", action="store_true", help="sessions that outgrow the context instead")
    parser.add_argument("--timeout", type=float, default=300, metavar="SECONDS", help="for one drive")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
