"""Two processes on one directory, played by two vaults that take turns."""

import random
from pathlib import Path

import pytest
from disk_states import MIB, Bench, conversation, keys, save_of
from hypothesis import given, settings
from hypothesis import strategies as st

from ds4.core.step import Snapshot
from ds4.kv.disk import care
from ds4.observe.records import LoadFailed, StoreSkipped


@pytest.fixture
def pair(tmp_path: Path) -> tuple[Bench, Bench]:
    return Bench(tmp_path / "c"), Bench(tmp_path / "c")


def test_each_sees_what_the_other_writes(pair: tuple[Bench, Bench]) -> None:
    one, two = pair
    save = save_of(conversation(1, 700))
    key = one.put(save)
    assert not two.vault.take_news()
    two.vault.poll()
    assert keys(two.vault.take_news()) == ({key}, set())
    assert two.read(key) == save.snapshot


def test_they_share_bytes(pair: tuple[Bench, Bench]) -> None:
    one, two = pair
    one.put(save_of(conversation(1, 3000)))
    before = one.vault.depot.catalog.ledger.size
    two.put(save_of(conversation(1, 3500)))
    assert two.vault.depot.catalog.ledger.size - before < before / 2
    assert len(two.segments()) == 1, "and a segment"


def test_the_same_state_is_not_written_twice(pair: tuple[Bench, Bench]) -> None:
    one, two = pair
    save = save_of(conversation(1, 700))
    one.put(save)
    two.put(save)
    assert len(two.held()) == 1


def test_uses_add_up(pair: tuple[Bench, Bench]) -> None:
    one, two = pair
    key = one.put(save_of(conversation(1, 700)))
    two.vault.poll()
    two.vault.touch(key)
    one.vault.touch(key)
    one.vault.poll()
    assert [hits for hits, _ in one.vault.depot.catalog.uses.values()] == [2]


def test_what_one_evicts_is_a_miss_for_the_other(pair: tuple[Bench, Bench]) -> None:
    one, two = pair
    key = one.put(save_of(conversation(1, 700)))
    two.vault.poll()
    two.vault.take_news()
    with one.vault.depot.changing() as room:
        room.evict(list(one.vault.depot.catalog.entries.values()), "for a test")
        room.make(0)
    assert two.fetch(key) is None
    assert keys(two.vault.take_news()) == (set(), {key})
    assert not two.of(LoadFailed), "it is not damaged, only gone"
    two.put(save_of(conversation(1, 700)))
    assert two.read(key) == save_of(conversation(1, 700)).snapshot


def test_moved_bytes_are_found(pair: tuple[Bench, Bench]) -> None:
    one, two = pair
    saves = [save_of(conversation(name, 700)) for name in range(4)]
    for save in saves:
        one.put(save)
    two.vault.poll()
    two.vault.take_news()
    entries = one.vault.depot.catalog.entries
    with one.vault.depot.changing() as room:
        room.evict([entry for number, entry in entries.items() if number != 4], "for a test")
        room.tidy()
        assert room.made.copied
    # It has not looked at the index since.
    assert two.fetch(saves[3].checkpoint.key) == saves[3].snapshot
    two.put(save_of(conversation(3, 900)))
    assert two.fetch(saves[3].checkpoint.key) == saves[3].snapshot


def test_what_one_quarantines_the_other_does_not_build_upon(pair: tuple[Bench, Bench]) -> None:
    one, two = pair
    save = save_of(conversation(1, 700))
    key = one.put(save)
    two.vault.poll()
    file = one.segments()[0]
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)
    assert one.fetch(key) is None
    two.put(save)
    assert two.read(key) == save.snapshot


def test_a_directory_cleared_while_a_server_runs(pair: tuple[Bench, Bench]) -> None:
    one, _ = pair
    old, new = save_of(conversation(1, 700)), save_of(conversation(2, 700))
    one.put(old)
    one.vault.take_news()
    care.clear(one.path, lambda _: None)
    assert one.segments() == []
    one.put(new)
    assert keys(one.vault.take_news()) == ({new.checkpoint.key}, {old.checkpoint.key})
    assert one.read(new.checkpoint.key) == new.snapshot


@settings(max_examples=settings().max_examples // 3)
@given(st.integers(0, 10**6))
def test_writing_and_evicting_in_turn(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    choose = random.Random(seed)
    path = tmp_path_factory.mktemp("turns") / "c"
    pair = [Bench(path, space=2 * MIB), Bench(path, space=2 * MIB)]
    saves = {}
    for _ in range(8):
        bench = choose.choice(pair)
        save = save_of(conversation(choose.randrange(5), choose.choice((300, 1500, 3000))))
        saves[bench.put(save)] = save
        other = choose.choice(pair)
        for key, known in saves.items():
            got = other.read(key)
            assert not isinstance(got, Snapshot) or got == known.snapshot
            assert isinstance(got, Snapshot) or not got.damaged
    for bench in pair:
        bench.vault.poll()
        assert bench.vault.depot.bytes_on_disk <= 2 * MIB
        assert not bench.of(LoadFailed)
        assert not bench.of(StoreSkipped)
    assert pair[0].held() == pair[1].held()
    assert all(pair[0].read(key) == saves[key].snapshot for key in pair[0].held())
