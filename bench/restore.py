"""Restore against recompute: the first token of a known history, from disk after a restart and from RAM.

Usage: python -m bench.restore [--model FILE] [--threads 2] [--rows 512 1024 2048 4096 8000] [--repeats 1]

A server learns a history of each length and ends (SIGTERM). The next one, on the same directory, gets each
history with a few rows more, and reads it from disk; then an unknown prompt as long, which computes all and
parks the history in RAM; then the history once more. One slot. A figure is the time to the first token,
divided by that of the unknown prompt.
"""

import argparse
import asyncio
import shutil
import statistics
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.inside import request
from bench.load import prompt
from bench.machine import busy, describe
from bench.servers import Server, Setting
from ds4.config.model import demo_model
from ds4.engine.llama import LlamaTokenizer

FOLDER = Path(".cache/bench/restore")
MORE = 16
"""Rows behind a history that are new."""


@dataclass(frozen=True, slots=True)
class First:
    """Seconds to the first token, and where the rows came from."""

    seconds: float
    source: str
    computed: int


async def ask(port: int, ids: tuple[int, ...]) -> First:
    """The time is the server's own, from submission on; what a socket adds is in every figure alike."""
    url = f"http://127.0.0.1:{port}"
    async with httpx.AsyncClient(timeout=1200) as http:
        answer = await http.post(f"{url}/v1/completions", json={**request(ids, 2), "stream": False})
        answer.raise_for_status()
        told = (await http.get(f"{url}/requests/{answer.headers['x-ds4-request']}")).json()
    return First(told["timings"]["ttft_seconds"], told["cache"]["source"], told["computed_tokens"])


class Trial:
    """Prompts of all lengths; none begins like another."""

    def __init__(self, setting: Setting, lengths: list[int], n_vocab: int, salt: int) -> None:
        options = ("--kv-disk-dir", str(FOLDER / "kv"), "--kv-ram-mb", "4096")
        self._server = Server((*setting.ours(), *options), FOLDER / "server.log")
        self._lengths = lengths
        self._n_vocab = n_vocab
        self._salt = salt

    def run(self) -> dict[int, tuple[First, First, First]]:
        """By length: from disk, all computed, from RAM."""
        shutil.rmtree(FOLDER, ignore_errors=True)
        FOLDER.mkdir(parents=True)
        try:
            port = self._server.start()
            for index, rows in enumerate(self._lengths):
                asyncio.run(ask(port, self._prompt(index, rows)))
            self._server.stop()
            port = self._server.start()
            asyncio.run(ask(port, self._prompt(90, 256)))  # warm
            return {rows: self._measure(port, index, rows) for index, rows in enumerate(self._lengths)}
        finally:
            self._server.stop()

    def _measure(self, port: int, index: int, rows: int) -> tuple[First, First, First]:
        history = self._prompt(index, rows)
        disk = asyncio.run(ask(port, history + self._prompt(50, MORE)))
        cold = asyncio.run(ask(port, self._prompt(20 + index, rows + MORE)))
        ram = asyncio.run(ask(port, history + self._prompt(51, MORE)))
        return disk, cold, ram

    def _prompt(self, index: int, rows: int) -> tuple[int, ...]:
        return prompt(100 * self._salt + index, rows, self._n_vocab)


def row(rows: int, trials: list[tuple[First, First, First]]) -> str:
    cold = [trial[1] for trial in trials]
    cells = [f"| {rows} | {_median(cold):.2f} s"]
    for number in (0, 2):
        found = [trial[number] for trial in trials]
        ratio = statistics.median(one.seconds / other.seconds for one, other in zip(found, cold, strict=True))
        what = f"{found[0].source}, {found[0].computed} computed"
        cells.append(f"{_median(found):.3f} s | {ratio:.4f} | {what}")
    return " | ".join(cells) + " |"


def _median(found: list[First]) -> float:
    return statistics.median(one.seconds for one in found)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, default=demo_model())
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rows", type=int, nargs="+", default=[512, 1024, 2048, 4096, 8000])
    parser.add_argument("--repeats", type=int, default=1)
    args = parser.parse_args()
    n_vocab = LlamaTokenizer.open(args.model).n_vocab
    setting = Setting(args.model, 1, 8192, args.threads)
    print(describe())
    print(f"model {args.model.name}, load before: {busy():.2f}\n")
    print("| rows | all computed | disk, after a restart | / computed | | RAM | / computed | |")
    print("|" + " --- |" * 8)
    trials = [Trial(setting, args.rows, n_vocab, salt).run() for salt in range(args.repeats)]
    for rows in args.rows:
        print(row(rows, [trial[rows] for trial in trials]), flush=True)


if __name__ == "__main__":
    main()
