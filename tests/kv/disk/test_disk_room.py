import random
from pathlib import Path

import pytest
from disk_states import MIB, ROW, Bench, conversation, keys, save_of
from hypothesis import given, settings
from hypothesis import strategies as st

from ds4.core.step import Snapshot, Trim
from ds4.kv.disk.room import SPACE
from ds4.kv.disk.tail import SMALLEST_SEGMENT
from ds4.observe.records import CheckpointEvicted, StoreSkipped

LONG = 3000
SIZE = LONG * ROW


def test_the_least_valuable_goes_first_and_is_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "c", space=3 * MIB)
    used, unused, recent = (bench.put(save_of(conversation(name, LONG))) for name in (1, 2, 3))
    bench.vault.touch(used)
    bench.clock.advance(60)
    bench.put(save_of(conversation(3, LONG)))
    bench.vault.take_news()
    name = 4
    while unused in bench.held():
        bench.put(save_of(conversation(name, LONG)))
        name += 1
    evicted = bench.of(CheckpointEvicted)
    assert evicted[0] == CheckpointEvicted(
        SPACE, LONG, 0, save_of(conversation(2, LONG)).checkpoint.size, unused
    )
    assert {used, recent} <= bench.held()
    assert unused in keys(bench.vault.take_news())[1]


def test_hits_fade(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "c", space=3 * MIB)
    once_loved = bench.put(save_of(conversation(1, LONG)))
    for _ in range(5):
        bench.vault.touch(once_loved)
    bench.clock.advance(14 * 24 * 3600)
    name = 2
    while not bench.of(CheckpointEvicted):
        bench.put(save_of(conversation(name, LONG)))
        name += 1
    assert bench.of(CheckpointEvicted)[0].key == once_loved


def test_a_conversation_gives_way_from_its_end(tmp_path: Path) -> None:
    """On a memory that can be cut: the prefixes that are kept besides make losing the longest one cheap."""
    bench = Bench(tmp_path / "c", space=3 * MIB)
    old = [bench.put(save_of(conversation(1, rows))) for rows in range(3000, 12_001, 3000)]
    bench.clock.advance(60)
    name = 2
    while len(bench.held() & set(old)) > 1:
        bench.put(save_of(conversation(name, LONG)))
        name += 1
        kept = [key in bench.held() for key in old]
        assert kept == sorted(kept, reverse=True), "no hole: what is left is a prefix"


@settings(max_examples=settings().max_examples // 3)
@given(st.sampled_from((Trim.ANY, Trim.BOUNDARY)), st.integers(0, 10**6))
def test_the_budget_holds_over_a_random_run(
    tmp_path_factory: pytest.TempPathFactory, trim: Trim, seed: int
) -> None:
    choose = random.Random(seed)
    space = 3 * MIB // 2
    bench = Bench(tmp_path_factory.mktemp("room") / "c", space=space, trim=trim)
    for _ in range(8):
        rows = choose.choice((200, 1500, 4000))
        save = save_of(conversation(choose.randrange(6), rows), choose.choice(("", "b")))
        bench.put(save)
        assert bench.vault.depot.bytes_on_disk <= space
        on_disk = sum(path.stat().st_size for path in bench.path.rglob("*") if path.is_file())
        # The shared-memory file of sqlite's log is no part of what is kept.
        assert on_disk <= space + (32 << 10)
        assert bench.read(save.checkpoint.key) == save.snapshot
        if choose.random() < 0.3:
            bench.vault.touch(save.checkpoint.key)
        bench.clock.advance(choose.choice((1, 3600)))
    assert not bench.of(StoreSkipped)
    check_sound(bench)


def check_sound(bench: Bench) -> None:
    for key in bench.held():
        assert isinstance(bench.read(key), Snapshot)
    depot = bench.vault.depot
    known = {
        depot.folder.segment(number): held.size for number, held in depot.catalog.ledger.segments.items()
    }
    assert {path: path.stat().st_size for path in bench.segments()} == known


def test_mostly_unused_segments_are_compacted(tmp_path: Path) -> None:
    """Small states of many conversations lie in one segment; most go, and their bytes come back."""
    bench = Bench(tmp_path / "c", space=16 * MIB)
    saves = [save_of(conversation(name, 400)) for name in range(20)]
    for save in saves:
        bench.put(save)
    assert len(bench.segments()) > 2
    assert bench.segments()[0].stat().st_size >= SMALLEST_SEGMENT
    with bench.vault.depot.changing() as room:
        entries = bench.vault.depot.catalog.entries
        room.evict([entry for number, entry in entries.items() if number % 5], "for a test")
        room.tidy()
        assert 0 < room.made.copied <= sum(save.checkpoint.size for save in saves) / 2
    held = [save for save in saves if save.checkpoint.key in bench.held()]
    assert len(held) == 4
    ledger = bench.vault.depot.catalog.ledger
    assert ledger.size <= 2 * sum(segment.live for segment in ledger.segments.values()) + SMALLEST_SEGMENT
    for save in held:
        assert bench.read(save.checkpoint.key) == save.snapshot
    bench.reopen()
    check_sound(bench)


def test_compacting_is_no_news(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "c", space=16 * MIB)
    for name in range(6):
        bench.put(save_of(conversation(name, 400)))
    bench.vault.take_news()
    with bench.vault.depot.changing() as room:
        room.evict(list(bench.vault.depot.catalog.entries.values())[:4], "for a test")
        room.tidy()
        assert room.made.copied
    bench.vault.poll()
    appeared, vanished = keys(bench.vault.take_news())
    assert (len(appeared), len(vanished)) == (0, 4)


def test_damage_is_not_copied(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "c")
    saves = [save_of(conversation(name, 400)) for name in range(6)]
    for save in saves:
        bench.put(save)
    last = bench.vault.depot.catalog.entries[6].manifest.runs
    file = bench.segments()[0]
    data = bytearray(file.read_bytes())
    data[int(last["offset"][0]) + 40] ^= 1
    file.write_bytes(data)
    with bench.vault.depot.changing() as room:
        room.evict(list(bench.vault.depot.catalog.entries.values())[:4], "for a test")
        room.tidy()
        assert [entry.manifest.key for entry, _ in room.made.damaged] == [saves[5].checkpoint.key]
    assert bench.held() == {saves[4].checkpoint.key}
    assert bench.read(saves[4].checkpoint.key) == saves[4].snapshot
