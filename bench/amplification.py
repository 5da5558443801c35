"""What an agent's session costs the disk: bytes written / bytes of rows that existed nowhere before.

Usage: python -m bench.amplification [--only WORD...]

A server with a cache directory serves one agent until its conversation has the wanted length, and ends
(SIGTERM). `stored`: what the store says it wrote. `kernel`: what the whole process wrote, database and all.
`directory`: what lies there at the end. Unique: every row once, and every saved window of a sliding-window
model, which is new by then.
"""

import argparse
import asyncio
import re
import resource
import shutil
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.desk import Desk
from bench.hosts import ProcessHost
from bench.machine import busy, describe
from bench.scenarios import Agent
from bench.servers import Server, Setting
from bench.shapes import shapes
from ds4.config.model import demo_model
from ds4.core.usage import SaveReason
from ds4.testing.tiny import tiny_model

FOLDER = Path(".cache/bench/amplification")
MIB = 1 << 20
BLOCK = 512
STORED = re.compile(r"kv cache stored tokens=(\d+) .*reason=(\w+) .*size=([\d.]+) MiB .*written=([\d.]+) MiB")


@dataclass(frozen=True, slots=True)
class Session:
    """Until the conversation has `rows` rows. `words` are characters that a turn adds."""

    name: str
    command: Sequence[str]
    shape: str
    rows: int
    words: int


@dataclass(frozen=True, slots=True)
class Saved:
    """One state, as a log line tells it; MiB. `partial`: a window alone."""

    rows: int
    partial: bool
    size: float
    written: float


def sessions() -> Iterator[Session]:
    script = Path(__file__).with_name("scripted_model.py")
    scripted = (sys.executable, "-m", "ds4", "--engine", "scripted", "--script", str(script))
    family = ("--model-family", "deepseek-v4", "--ctx", "131072")
    yield Session("scripted, append only", (*scripted, *family), "codex", 100_000, 6000)
    every = ("--kv-cache-continued-interval-tokens", "1024", "--kv-cache-boundary-align-tokens", "1024")
    for model in (demo_model(), tiny_model("gemma3")):
        assert model is not None, "the demo model is not installed"
        command = Setting(model, 1, 8192, 2, flash_attn="on").ours()
        yield Session(f"{model.stem}, every 1024 rows", (*command, *every), "pi", 7900, 1200)


def play(session: Session) -> str:
    """A row of the table."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    log = FOLDER / "server.log"
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock
    host = ProcessHost(Server((*session.command, "--kv-disk-dir", str(FOLDER / "kv")), log), ours=True)
    try:
        asyncio.run(_talk(Desk(host), session))
    finally:
        host.stop()
    kernel = (resource.getrusage(resource.RUSAGE_CHILDREN).ru_oublock - before) * BLOCK / MIB
    lying = sum(path.stat().st_size for path in (FOLDER / "kv").rglob("*") if path.is_file()) / MIB
    saves = [
        Saved(int(rows), reason == SaveReason.BOUNDARY, float(size), float(written))
        for rows, reason, size, written in STORED.findall(log.read_text())
    ]
    stored, new = sum(save.written for save in saves), unique(saves)
    counts = f"{max(save.rows for save in saves)} | {len(saves)} | {sum(save.size for save in saves):.1f}"
    ratios = " | ".join(f"{size:.1f} ({size / new:.3f})" for size in (stored, kernel, lying))
    return f"| {session.name} | {counts} | {new:.1f} | {ratios} |"


async def _talk(desk: Desk, session: Session) -> None:
    desk.host.start()
    shape = shapes()[session.shape]
    agent = Agent(desk, shape, "A", 64, wording=session.words, result=session.words)
    per_turn = 0
    while not agent.kept or agent.kept[-1] + per_turn < session.rows:
        cost = await agent.turn()
        per_turn = cost.new + 64 if agent.asked > 1 else 0


def unique(saves: Sequence[Saved]) -> float:
    """MiB. A state is `fixed` + `per row` * rows: the fixed part, a window, is new at each row that is saved.
    All whole states must be longer than a window.
    """
    shortest, *_, longest = sorted((s for s in saves if not s.partial), key=lambda save: save.rows)
    per_row = (longest.size - shortest.size) / (longest.rows - shortest.rows)
    fixed = longest.size - per_row * longest.rows
    return per_row * longest.rows + max(0.0, fixed) * len({save.rows for save in saves})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", nargs="+", default=[""], help="sessions whose name has one of these words")
    args = parser.parse_args()
    print(describe())
    print(f"load before: {busy():.2f}; MiB, in brackets / unique\n")
    print("| session | rows | saves | their sizes | unique | stored | kernel | directory |")
    print("|" + " --- |" * 8)
    for session in sessions():
        if any(word in session.name for word in args.only):
            print(play(session), flush=True)


if __name__ == "__main__":
    main()
