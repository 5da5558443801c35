"""Lets processes make the same new files at the same moment, again and again.

    python disk_making.py DIR ROUNDS

A program of its own, so that it can fork without threads. Prints how many of them failed, and how.
"""

import multiprocessing
import sqlite3
import sys
from collections import Counter
from contextlib import closing
from multiprocessing.synchronize import Barrier
from pathlib import Path

from ds4.kv.disk.folder import Folder, Unusable
from ds4.kv.disk.schema import Damaged, connect
from ds4.storage import sqlite_file

TOGETHER = 4
SCHEMA = "BEGIN IMMEDIATE; CREATE TABLE IF NOT EXISTS kept (id); PRAGMA user_version = 1; COMMIT;"


def make(path: Path, barrier: Barrier, told: "multiprocessing.Queue[str]") -> None:
    """Both sorts of file: the index of checkpoints, and one with tables of one version."""
    barrier.wait()
    try:
        connect(Folder(path), 1 << 22, create=True).close()
        with closing(sqlite_file.SqliteFile(path / "kept" / "kept.sqlite3", SCHEMA, 1)) as file, file.use():
            told.put("")
    except (sqlite3.Error, Unusable, Damaged, sqlite_file.Unusable) as error:
        told.put(repr(error))


def main(path: Path, rounds: int) -> None:
    forking = multiprocessing.get_context("fork")
    found = Counter[str]()
    for number in range(rounds):
        folder = path / str(number)
        folder.mkdir(parents=True)
        barrier, told = forking.Barrier(TOGETHER), forking.Queue()
        processes = [forking.Process(target=make, args=(folder, barrier, told)) for _ in range(TOGETHER)]
        for process in processes:
            process.start()
        found.update(told.get() for _ in processes)
        for process in processes:
            process.join()
    del found[""]
    sys.stdout.write(f"{found.total()} {dict(found)}\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
