import dataclasses
import os
import stat
from pathlib import Path

import numpy as np
import pytest
from disk_states import MIB, OWNER, Bench, conversation, keys, save_of

from ds4.core.step import Identity, Snapshot, SnapshotKind, SnapshotPart, Trim
from ds4.engine.scripted.state import SlotState, layout_for
from ds4.kv.checkpoint import Appeared, Vanished
from ds4.observe.records import CheckpointEvicted, LoadFailed, Notice, Stored, StoreSkipped


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path / "a" / "cache")


def test_what_was_put_comes_back(bench: Bench) -> None:
    save = save_of(conversation(1, 900))
    key = bench.put(save)
    assert bench.read(key) == save.snapshot
    (appeared,) = bench.vault.take_news()
    assert isinstance(appeared, Appeared)
    assert (appeared.checkpoint.key, appeared.checkpoint.rows, appeared.other_quant) == (key, 900, "")
    assert np.array_equal(appeared.checkpoint.ids, save.checkpoint.ids)
    (stored,) = bench.of(Stored)
    assert (stored.rows, stored.size) == (900, save.checkpoint.size)
    assert stored.written <= stored.size


def test_it_survives_a_restart(bench: Bench) -> None:
    saves = [save_of(conversation(name, 700)) for name in range(3)]
    for save in saves:
        bench.put(save)
    bench.reopen()
    appeared, vanished = keys(bench.vault.take_news())
    assert appeared == {save.checkpoint.key for save in saves}
    assert not vanished
    for save in saves:
        assert bench.read(save.checkpoint.key) == save.snapshot


def test_parts_and_kinds(bench: Bench) -> None:
    parts = (
        SnapshotPart("target", memoryview(os.urandom(5000))),
        SnapshotPart("empty", b""),
        SnapshotPart("draft", b"x" * 3000),
    )
    snapshot = Snapshot(SnapshotKind.PARTIAL, 30, 41, parts)
    key = bench.put(save_of(conversation(1, 30), snapshot=snapshot))
    bench.reopen()
    assert bench.read(key) == snapshot


def test_the_same_state_again_is_not_written_again(bench: Bench) -> None:
    save = save_of(conversation(1, 600))
    bench.put(save)
    bench.vault.take_news()
    before = bench.vault.depot.bytes_on_disk
    bench.put(save)
    assert len(bench.of(Stored)) == 1
    assert not bench.vault.take_news()
    assert bench.vault.depot.catalog.ledger.size <= before


@pytest.mark.parametrize("trim", [Trim.ANY, Trim.WINDOW])
def test_a_growing_conversation_is_written_once(bench: Bench, trim: Trim) -> None:
    """Bytes written / bytes of rows that existed nowhere before."""
    slot = SlotState(layout_for(trim, 64))
    unique = written = 0
    for rows in range(2000, 10001, 2000):
        slot.append(conversation(1, rows)[rows - 2000 :])
        snapshot = slot.export(SnapshotKind.FULL)
        window = 0 if trim is Trim.ANY else 2 * 64 * 32
        unique += 2000 * layout_for(trim, 64).bytes_per_row + window
        bench.put(save_of(conversation(1, rows), snapshot=snapshot))
    written = sum(record.written for record in bench.of(Stored))
    assert written / unique <= 1.15


def test_namespaces_share_bytes_but_not_checkpoints(bench: Bench) -> None:
    ids = conversation(1, 800)
    first, second = save_of(ids, "alice"), save_of(ids, "bob")
    bench.put(first)
    bench.put(second)
    assert first.checkpoint.key != second.checkpoint.key
    assert bench.of(Stored)[1].written == 0
    spaces = {news.checkpoint.namespace for news in bench.vault.take_news() if isinstance(news, Appeared)}
    assert spaces == {"alice", "bob"}


def test_permissions_do_not_depend_on_the_umask(tmp_path: Path) -> None:
    old = os.umask(0o027)
    try:
        bench = Bench(tmp_path / "cache")
        bench.put(save_of(conversation(1, 600)))
    finally:
        os.umask(old)
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [bench.path, *bench.path.rglob("*")]}
    assert len(modes) >= 5
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


@pytest.mark.parametrize(
    ("owner", "why"),
    [
        (Identity("other", "q4", "layout"), "of another model"),
        (Identity("model", "q4", "other"), "of another memory layout or library build"),
    ],
)
def test_other_models_live_beside_and_are_not_offered(bench: Bench, owner: Identity, why: str) -> None:
    save = save_of(conversation(1, 600))
    key = bench.put(save)
    other = Bench(bench.path, owner=owner)
    assert not other.vault.take_news()
    assert not isinstance(other.read(key), Snapshot)
    assert [record.text for record in other.of(Notice)] == [
        f"checkpoints in the cache that are not used: 1 {why}"
    ]
    other.put(save)
    assert other.read(key) == save.snapshot
    bench.vault.poll()
    assert keys(bench.vault.take_news()) == ({key}, set())
    assert bench.read(key) == save.snapshot
    assert len(bench.vault.depot.catalog.entries) == 2


def test_another_quantisation_is_offered_by_name_and_replaced_by_the_own(bench: Bench) -> None:
    save = save_of(conversation(1, 600))
    key = bench.put(save)
    other = Bench(bench.path, owner=dataclasses.replace(OWNER, quant="q8"))
    assert [news.other_quant for news in other.vault.take_news() if isinstance(news, Appeared)] == ["q4"]
    assert other.read(key) == save.snapshot
    other.put(save)
    assert [news.other_quant for news in other.vault.take_news() if isinstance(news, Appeared)] == [""]
    assert len(other.vault.depot.catalog.entries) == 1


def test_another_quantisation_can_be_rejected(bench: Bench) -> None:
    save = save_of(conversation(1, 600))
    key = bench.put(save)
    other = Bench(bench.path, owner=dataclasses.replace(OWNER, quant="q8"), reject_other_quant=True)
    assert not other.vault.take_news()
    assert not isinstance(other.read(key), Snapshot)
    other.put(save)
    assert keys(other.vault.take_news()) == ({key}, set())
    # Both stay, and who takes any gets its own.
    bench.reopen()
    assert [news.other_quant for news in bench.vault.take_news() if isinstance(news, Appeared)] == [""]
    assert len(bench.vault.depot.catalog.entries) == 2


def test_short_ones_are_not_offered(bench: Bench) -> None:
    bench.put(save_of(conversation(1, 600)))
    long = bench.put(save_of(conversation(2, 700)))
    other = Bench(bench.path, min_rows=650)
    assert keys(other.vault.take_news()) == ({long}, set())


def test_uses_are_counted_and_survive(bench: Bench) -> None:
    key = bench.put(save_of(conversation(1, 600)))
    bench.clock.advance(50)
    bench.vault.touch(key)
    bench.vault.touch(key)
    bench.vault.touch("unknown")
    bench.reopen()
    ((hits, last_used),) = bench.vault.depot.catalog.uses.values()
    assert (hits, last_used) == (2, bench.clock.wall())


def test_a_use_in_the_future_counts_as_now(bench: Bench) -> None:
    bench.clock.advance(1e9)
    bench.put(save_of(conversation(1, 600)))
    again = Bench(bench.path)
    ((_, last_used),) = again.vault.depot.catalog.uses.values()
    assert last_used == again.clock.wall()
    again.put(save_of(conversation(2, 600)))
    assert len(again.held()) == 2


def test_larger_than_all_space(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "c", space=1 * MIB)
    small = bench.put(save_of(conversation(1, 600)))
    bench.put(save_of(conversation(2, 10_000)))
    (skipped,) = bench.of(StoreSkipped)
    assert skipped.why == "it is larger than --kv-disk-space-mb"
    assert bench.held() == {small}, "and nothing was evicted for it"


def test_the_write_budget(tmp_path: Path) -> None:
    bench = Bench(tmp_path / "c", write_per_hour=200_000)
    first = save_of(conversation(1, 900))
    bench.put(first)
    bench.put(save_of(conversation(2, 900)))
    assert [record.why for record in bench.of(StoreSkipped)] == ["--kv-disk-write-mb-per-hour is used up"]
    assert bench.vault.may_write()
    bench.put(save_of(conversation(1, 900), "shared"))
    assert len(bench.of(Stored)) == 2, "what writes nothing new costs nothing"
    bench.clock.advance(1800)
    bench.put(save_of(conversation(2, 900)))
    assert len(bench.of(Stored)) == 3


def test_a_smaller_space_at_the_next_start_evicts(bench: Bench) -> None:
    for name in range(12):
        bench.put(save_of(conversation(name, 1500)))
    again = Bench(bench.path, space=1 * MIB)
    assert again.of(CheckpointEvicted)
    assert again.vault.depot.bytes_on_disk <= 1 * MIB
    for key in again.held():
        assert isinstance(again.read(key), Snapshot)


def test_what_the_engine_did_not_take_is_put_aside(bench: Bench) -> None:
    key = bench.put(save_of(conversation(1, 600)))
    other = bench.put(save_of(conversation(2, 600)))
    bench.vault.take_news()
    bench.vault.discard(key, "the engine refused it")
    assert list(bench.vault.take_news()) == [Vanished(key)]
    assert bench.of(LoadFailed) == [LoadFailed(key, "the engine refused it", quarantined=True)]
    bench.reopen()
    assert bench.held() == {other}


def test_withdrawn_is_not_offered_but_stays(bench: Bench) -> None:
    key = bench.put(save_of(conversation(1, 600)))
    (number,) = bench.vault.depot.catalog.entries
    bench.vault.take_news()
    bench.vault.withdraw(key, "too many open files", number)
    assert list(bench.vault.take_news()) == [Vanished(key)]
    bench.reopen()
    assert keys(bench.vault.take_news()) == ({key}, set())


def test_states_are_cut_as_the_directory_says(bench: Bench) -> None:
    bench.put(save_of(conversation(1, 600)))
    bench.vault.close()
    bench.chunk *= 8
    bench.vault = bench.open()
    bench.put(save_of(conversation(1, 600), "again"))
    assert bench.of(Stored)[1].written == 0


def test_a_reason_of_another_version_is_no_damage(bench: Bench) -> None:
    save = save_of(conversation(1, 600))
    newer = dataclasses.replace(save, reason="whim")  # type: ignore[arg-type]
    key = bench.put(newer)
    bench.reopen()
    assert bench.read(key) == save.snapshot
