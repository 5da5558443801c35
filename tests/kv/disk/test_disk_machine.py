"""Puts, reads, evictions, restarts and crashes in any order, against a model of what may be there."""

import shutil
import tempfile
from pathlib import Path

from disk_states import MIB, Bench, conversation, keys, save_of
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ds4.core.step import Snapshot
from ds4.kv.checkpoint import Save
from ds4.kv.disk.index import Index
from ds4.observe.records import LoadFailed

names = st.integers(0, 3)
sizes = st.sampled_from((200, 900, 2500))
spaces = st.sampled_from(("", "other"))


class Crash(Exception):
    """The process dies here."""


class DiskMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.base = Path(tempfile.mkdtemp())
        self.bench = Bench(self.base / "c", space=2 * MIB)
        self.saves: dict[str, Save] = {}
        self.offered: set[str] = set()
        self.dead: list[Bench] = []

    def teardown(self) -> None:
        for bench in [*self.dead, self.bench]:
            bench.vault.close()
        shutil.rmtree(self.base)

    @rule(name=names, rows=sizes, space=spaces)
    def put(self, name: int, rows: int, space: str) -> None:
        save = save_of(conversation(name, rows), space)
        self.saves[self.bench.put(save)] = save
        assert self.bench.read(save.checkpoint.key) == save.snapshot

    @rule(name=names, rows=sizes, step=st.sampled_from(("add", "add_extent", "add_segment", "drop_segment")))
    def crash_while_putting(self, name: int, rows: int, step: str) -> None:
        """Bytes are in the segments, the index has not been told; the old process is never heard of again."""
        save = save_of(conversation(name, rows))
        self.saves[save.checkpoint.key] = save
        real = getattr(Index, step)

        def die(*_: object) -> None:
            raise Crash

        setattr(Index, step, die)
        try:
            self.bench.put(save)
        except Crash:
            pass
        finally:
            setattr(Index, step, real)
        self.crash()

    @rule()
    def crash(self) -> None:
        with (self.base / "c" / "segments" / "00000001.kv").open("ab") as file:
            file.write(b"half of something")
        self.dead.append(self.bench)
        self.start_anew()

    @rule()
    def restart(self) -> None:
        self.bench.vault.close()
        self.start_anew()

    @rule(name=names, rows=sizes, space=spaces)
    def read(self, name: int, rows: int, space: str) -> None:
        key = save_of(conversation(name, rows), space).checkpoint.key
        got = self.bench.fetch(key)
        assert (got is not None) == (key in self.bench.held())
        assert got is None or got == self.saves[key].snapshot

    @rule(hours=st.sampled_from((1, 24)))
    def time_passes(self, hours: int) -> None:
        self.bench.clock.advance(hours * 3600)

    @rule(name=names, rows=sizes)
    def use(self, name: int, rows: int) -> None:
        self.bench.vault.touch(save_of(conversation(name, rows)).checkpoint.key)

    @rule(number=st.integers(0, 20))
    def evict(self, number: int) -> None:
        entries = list(self.bench.vault.depot.catalog.entries.values())
        with self.bench.vault.depot.changing() as room:
            room.evict(entries[number : number + 1], "for a test")
            room.tidy()

    @invariant()
    def the_index_is_the_directory(self) -> None:
        self.bench.vault.poll()
        depot = self.bench.vault.depot
        sizes = {depot.folder.segment(one): held.size for one, held in depot.catalog.ledger.segments.items()}
        assert {path: path.stat().st_size for path in self.bench.segments()} == sizes
        assert depot.bytes_on_disk <= self.bench.space
        assert self.bench.held() <= self.saves.keys()
        for key in self.bench.held():
            assert isinstance(self.bench.read(key), Snapshot)

    @invariant()
    def the_news_add_up(self) -> None:
        appeared, vanished = keys(self.bench.vault.take_news())
        self.offered = (self.offered - vanished) | appeared
        assert self.offered == self.bench.held()
        assert not self.bench.of(LoadFailed)

    def start_anew(self) -> None:
        self.bench = Bench(self.base / "c", clock=self.bench.clock, space=2 * MIB)
        self.offered = set()


TestDisk = DiskMachine.TestCase
TestDisk.settings = settings(stateful_step_count=12)
