"""Ours against llama-server: the same model, threads, context and client, in turn, over sockets.

Usage: python -m bench.versus [--model FILE] [--threads 1 2] [--streams 1 4 8] [--repeats 5]

A figure is the median of the rounds' ratios ours / llama-server; above 1 ours is faster. Wants a quiet
machine, and llama-server (python -m bench.build_peer, or LLAMA_SERVER=FILE).
"""

import argparse
import asyncio
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import client
from bench.load import Load, Stream, decode_rate, first_token, prompt
from bench.machine import busy, describe
from bench.servers import Setting, llama_server_program, running
from ds4.config.model import demo_model
from ds4.engine.llama import LlamaTokenizer

DECODE_ROWS = 100
PREFILL_ROWS = 2048


class Duel:
    """Two servers that wait for each other's rounds; the one not asked is idle."""

    def __init__(self, ours: int, theirs: int, n_vocab: int) -> None:
        self._ports = (ours, theirs)
        self._n_vocab = n_vocab
        self._asked = 0

    def rounds(
        self, streams: int, rows: int, tokens: int, repeats: int
    ) -> list[tuple[list[Stream], list[Stream]]]:
        self._round(streams, rows, 4)
        return [self._round(streams, rows, tokens) for _ in range(repeats)]

    def _round(self, streams: int, rows: int, tokens: int) -> tuple[list[Stream], list[Stream]]:
        self._asked += 1
        prompts = tuple(prompt(self._asked * 64 + i, rows, self._n_vocab) for i in range(streams))
        ours, theirs = (asyncio.run(client.run(port, Load(prompts, tokens))) for port in self._ports)
        return ours, theirs


def ratio(rounds: Sequence[tuple[list[Stream], list[Stream]]], of: Callable[[list[Stream]], float]) -> float:
    return statistics.median(of(ours) / of(theirs) for ours, theirs in rounds)


def measure(model: Path, threads: int, streams: Sequence[int], repeats: int, flash_attn: str) -> None:
    setting = Setting(model, max(streams), 4096, threads, flash_attn)
    n_vocab = LlamaTokenizer.open(model).n_vocab
    logs = Path(".cache/bench")
    logs.mkdir(parents=True, exist_ok=True)
    peer = setting.llama_server(llama_server_program())
    with running(setting.ours(), logs / "ours.log") as ours, running(peer, logs / "peer.log") as theirs:
        duel = Duel(ours, theirs, n_vocab)
        for count in streams:
            rounds = duel.rounds(count, DECODE_ROWS, 64, repeats)
            rate = statistics.median(decode_rate(side) for side, _ in rounds)
            quick, faster = 1 / ratio(rounds, first_token), ratio(rounds, decode_rate)
            what = f"decode, {count} streams"
            print(
                f"| {threads} | {what} | {rate:.1f} tok/s | {faster:.3f} | first token {quick:.3f} |",
                flush=True,
            )
        rounds = duel.rounds(1, PREFILL_ROWS, 1, repeats)
        seconds = statistics.median(first_token(side) for side, _ in rounds)
        speed = 1 / ratio(rounds, first_token)
        print(f"| {threads} | prefill {PREFILL_ROWS} | {PREFILL_ROWS / seconds:.1f} tok/s | {speed:.3f} | |")


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--model", type=Path, default=demo_model())
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--streams", type=int, nargs="+", default=[1, 4, 8])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--flash-attn", default="auto")
    args = parser.parse_args()
    print(describe())
    print(f"model {args.model.name}, flash attention {args.flash_attn}, load before: {busy():.2f}\n")
    print("| threads | what | ours | ours / llama-server | |")
    print("| --- | --- | --- | --- | --- |")
    for threads in args.threads:
        measure(args.model, threads, args.streams, args.repeats, args.flash_attn)


if __name__ == "__main__":
    main()
