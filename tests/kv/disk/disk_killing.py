"""Kills two processes that write to one directory, again and again, and looks at what they left.

    python disk_killing.py DIR ROUNDS SEED

A program of its own, so that it can fork without threads. Prints how many checkpoints it found right in all.
"""

import os
import random
import signal
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path

from disk_states import MIB, Bench, conversation, save_of

from ds4.core.step import Snapshot
from ds4.observe.records import LoadFailed, Notice

MOST_PUTS = 6
LONGEST = 0.02
"""Seconds from the last put that is waited for to the end: about two more."""
SAVES = {
    save.checkpoint.key: save
    for save in (
        save_of(conversation(name, rows), space)
        for name in range(5)
        for rows in (200, 700, 1500)
        for space in ("", "b")
    )
}


def write_for_ever(path: Path, seed: int, tell: int) -> None:
    """A byte is written to `tell` after each put."""
    choose = random.Random(seed)
    bench = Bench(path, space=MIB)
    while True:
        bench.put(choose.choice(list(SAVES.values())))
        os.write(tell, b".")
        bench.fetch(choose.choice(list(SAVES)))
        bench.vault.touch(choose.choice(list(SAVES)))


@dataclass
class Child:
    """A process that writes to the directory. `told` can be read once for each of its puts."""

    pid: int
    told: int

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.told)
        assert os.WTERMSIG(status) == signal.SIGKILL, "it ended by itself"


def start(path: Path, seed: int) -> Child:
    told, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            write_for_ever(path, seed, tell)
        finally:
            traceback.print_exc()
            sys.stderr.flush()
            os._exit(1)
    os.close(tell)
    return Child(pid, told)


def kill_two(path: Path, choose: random.Random) -> None:
    """One at its start or some time after one of its puts; then the other, which went on meanwhile."""
    one, two = (start(path, choose.getrandbits(30)) for _ in range(2))
    for child in (one, two):
        for _ in range(choose.randrange(MOST_PUTS)):
            os.read(child.told, 1)
        time.sleep(choose.uniform(0, LONGEST))
        child.kill()


def check(path: Path) -> int:
    bench = Bench(path, space=MIB)
    assert not bench.of(LoadFailed), bench.records
    assert not bench.of(Notice), bench.records
    depot = bench.vault.depot
    sizes = {depot.folder.segment(one): held.size for one, held in depot.catalog.ledger.segments.items()}
    assert {file: file.stat().st_size for file in bench.segments()} == sizes
    assert depot.bytes_on_disk <= MIB
    for key in bench.held():
        got = bench.read(key)
        assert isinstance(got, Snapshot), got
        assert got == SAVES[key].snapshot
    bench.vault.close()
    return len(bench.held())


def main(path: Path, rounds: int, seed: int) -> None:
    choose = random.Random(seed)
    right = 0
    for _ in range(rounds):
        kill_two(path, choose)
        right += check(path)
    sys.stdout.write(f"{right}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
