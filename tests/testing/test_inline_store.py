import numpy as np

from ds4.core.step import Snapshot, SnapshotKind, SnapshotPart
from ds4.core.usage import SaveReason
from ds4.kv.checkpoint import Appeared, Checkpoint, CheckpointStore, Fetched, Save, Vanished
from ds4.testing.inline_store import InlineStore


def save(key: str) -> Save:
    checkpoint = Checkpoint(key, "", np.arange(3, dtype=np.int32), SnapshotKind.FULL, 4)
    snapshot = Snapshot(SnapshotKind.FULL, 3, 3, (SnapshotPart("target", b"data"),))
    return Save(checkpoint, snapshot, SaveReason.COLD)


def holding(*keys: str) -> InlineStore:
    store = InlineStore()
    for key in keys:
        store.save(save(key))
    store.news()
    return store


def test_it_is_a_store() -> None:
    store: CheckpointStore = InlineStore()
    assert store.news() == []


def test_what_is_saved_can_be_fetched() -> None:
    store, kept = InlineStore(), save("a")
    assert store.save(kept)
    store.fetch("a")
    assert store.news() == [Appeared(kept.checkpoint), Fetched("a", kept.snapshot, store.seconds)]
    assert store.news() == []


def test_the_next_process_finds_what_was_saved() -> None:
    again = holding("a", "b").reopened()
    assert [news.checkpoint.key for news in again.news() if isinstance(news, Appeared)] == ["a", "b"]


def test_what_is_damaged_vanishes_when_it_is_read() -> None:
    store = holding("a")
    store.damaged.add("a")
    again = store.reopened()
    again.news()
    for read in (store, again):
        read.fetch("a")
        assert read.news() == [Fetched("a", None, read.seconds), Vanished("a")]
    assert list(store.reopened().news()) == []


def test_what_is_discarded_vanishes() -> None:
    store = holding("a")
    store.discard("a", "no use")
    assert store.news() == [Vanished("a")]
    assert store.discarded == {"a": "no use"}


def test_a_full_store_takes_nothing() -> None:
    store = InlineStore()
    store.full = True
    assert not store.save(save("a"))
    assert store.news() == []


def test_a_slow_store_reads_when_told() -> None:
    store = holding("a")
    store.slow = True
    store.fetch("a")
    assert store.news() == []
    store.arrive()
    assert [type(news) for news in store.news()] == [Fetched]


def test_whoever_waits_for_news_is_woken() -> None:
    store, woken = InlineStore(), list[int]()
    store.on_news(lambda: woken.append(len(store.news())))
    store.save(save("a"))
    store.fetch("a")
    store.vanish("a")
    assert woken == [1, 1, 1]
