from dataclasses import replace

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from ds4.core.plan import Ids
from ds4.core.step import Snapshot, SnapshotKind, SnapshotPart
from ds4.core.usage import SaveReason
from ds4.kv.checkpoint import Appeared, Checkpoint, Save, checkpoint_key
from ds4.schedule.place import Kind
from ds4.schedule.rates import MIN_BYTES, Rates
from ds4.schedule.stock import Stock
from ds4.testing.clock import FakeClock
from ds4.testing.inline_store import InlineStore

FULL, PARTIAL = SnapshotKind.FULL, SnapshotKind.PARTIAL
SIZE = 100


def ids(rows: int) -> Ids:
    return np.arange(rows, dtype=np.int32)


def kept(rows: int, kind: SnapshotKind = FULL, size: int = SIZE) -> tuple[Checkpoint, Snapshot]:
    """A state of the first `rows` rows of one long conversation."""
    snapshot = Snapshot(kind, rows, rows, (SnapshotPart("target", bytes(size)),))
    return Checkpoint(checkpoint_key("", kind, ids(rows)), "", ids(rows), kind, size), snapshot


def key_of(rows: int) -> str:
    return kept(rows)[0].key


def saved(rows: int) -> Save:
    return Save(*kept(rows), SaveReason.COLD)


class Shelf:
    """A stock with its store."""

    def __init__(self, ram: int = 10 * SIZE, store: InlineStore | None = None) -> None:
        self.clock = FakeClock()
        self.rates = Rates()
        self.store = store or InlineStore()
        self.stock = Stock(self.clock, self.rates, ram=ram, marks=3 * SIZE, store=self.store)
        self.stock.listen()

    def keep(self, rows: int, kind: SnapshotKind = FULL) -> bool:
        self.clock.advance(1)
        return self.stock.keep(*kept(rows, kind))

    def write(self, rows: int) -> bool:
        done = self.stock.write(saved(rows))
        self.stock.listen()
        return done

    def read(self, rows: int) -> None:
        self.stock.fetch(key_of(rows))
        self.stock.listen()

    def known(self) -> list[int]:
        """Lengths of what is offered to the whole conversation."""
        return [checkpoint.rows for checkpoint in self.stock.find("", ids(100)).within]


def on_disk(*rows: int, ram: int = 10 * SIZE) -> Shelf:
    """A process that finds checkpoints of these lengths."""
    store = InlineStore()
    for length in rows:
        store.save(saved(length))
    return Shelf(ram, store.reopened())


def test_what_is_kept_is_offered_and_given() -> None:
    shelf = Shelf()
    checkpoint, snapshot = kept(9)
    assert shelf.stock.keep(checkpoint, snapshot)
    assert shelf.known() == [9]
    assert shelf.stock.where(checkpoint.key) is Kind.RAM
    assert shelf.stock.snapshot(checkpoint.key) is snapshot
    assert shelf.stock.parked() == ((checkpoint, snapshot),)


def test_what_leaves_the_ram_is_offered_no_more() -> None:
    shelf = Shelf(ram=2 * SIZE)
    for rows in (9, 8, 7):
        shelf.keep(rows)
    assert shelf.known() == [7, 9]
    assert len(shelf.stock) == 2


def test_what_leaves_the_ram_is_still_on_disk() -> None:
    shelf = Shelf(ram=SIZE)
    shelf.keep(8)
    shelf.write(8)
    shelf.keep(9)
    assert shelf.known() == [8, 9]
    assert shelf.stock.where(key_of(8)) is Kind.DISK
    assert shelf.stock.on_disk(key_of(8))


def test_what_does_not_fit_is_not_kept() -> None:
    shelf = Shelf(ram=SIZE - 1)
    assert not shelf.keep(9)
    assert not shelf.stock.can_keep(FULL, SIZE)
    assert shelf.known() == []


def test_marks_have_room_of_their_own() -> None:
    shelf = Shelf(ram=SIZE)
    shelf.keep(9)
    for rows in (2, 3, 4, 5):
        assert shelf.keep(rows, PARTIAL)
    assert shelf.known() == [3, 4, 5, 9]
    assert [checkpoint.kind for checkpoint, _ in shelf.stock.parked()] == [FULL, PARTIAL, PARTIAL, PARTIAL]


def test_replaced_states_leave_the_ram_but_not_the_disk_and_make_room() -> None:
    shelf = Shelf(ram=3 * SIZE)
    for rows in (5, 6, 4):
        shelf.keep(rows)
    shelf.write(6)
    assert shelf.stock.keep(*kept(9, size=2 * SIZE), replaces=True)
    assert shelf.known() == [6, 9]
    assert [checkpoint.rows for checkpoint, _ in shelf.stock.parked()] == [9]


def test_a_longer_state_inherits_the_hits_of_the_shorter_ones() -> None:
    """What is stale leaves before what another conversation has parked last."""
    shelf = Shelf(ram=3 * SIZE)
    shelf.keep(50)
    shelf.stock.snapshot(key_of(50))
    shelf.keep(60)
    other = replace(kept(55)[0], key="other", namespace="other")
    shelf.clock.advance(1)
    shelf.stock.keep(other, kept(55)[1])
    shelf.keep(70)
    assert shelf.known() == [60, 70]
    assert shelf.stock.where("other") is Kind.RAM


def test_a_new_process_offers_what_the_last_one_wrote() -> None:
    shelf = on_disk(5, 9)
    assert shelf.known() == [5, 9]
    assert shelf.stock.where(key_of(9)) is Kind.DISK
    assert shelf.stock.snapshot(key_of(9)) is None


def test_what_is_read_is_at_hand_until_it_is_let_go() -> None:
    shelf = on_disk(9)
    shelf.read(9)
    assert shelf.stock.where(key_of(9)) is Kind.RAM
    assert shelf.stock.fetched(key_of(9)) is not None
    assert shelf.stock.snapshot(key_of(9)) == kept(9)[1]
    shelf.stock.let_go({key_of(9)})
    assert shelf.stock.fetched(key_of(9)) is not None
    shelf.stock.let_go(())
    assert shelf.stock.fetched(key_of(9)) is None
    assert [checkpoint.rows for checkpoint, _ in shelf.stock.parked()] == [9]


def test_what_is_let_go_without_room_is_on_disk_again() -> None:
    shelf = on_disk(9, ram=0)
    shelf.read(9)
    shelf.stock.let_go(())
    assert shelf.stock.where(key_of(9)) is Kind.DISK
    assert shelf.known() == [9]


def test_a_read_is_started_once_and_awaited() -> None:
    shelf = on_disk(9)
    shelf.store.slow = True
    shelf.read(9)
    shelf.read(9)
    assert shelf.stock.coming(key_of(9))
    shelf.store.arrive()
    assert [type(news).__name__ for news in shelf.store.news()] == ["Fetched"]


def test_what_is_in_ram_is_not_read() -> None:
    shelf = Shelf()
    shelf.keep(9)
    shelf.write(9)
    shelf.read(9)
    assert not shelf.stock.coming(key_of(9))
    assert shelf.stock.fetched(key_of(9)) is None


def test_a_damaged_one_is_offered_no_more() -> None:
    shelf = on_disk(5, 9)
    shelf.store.damaged.add(key_of(9))
    shelf.read(9)
    assert not shelf.stock.coming(key_of(9))
    assert shelf.stock.fetched(key_of(9)) is None
    assert shelf.known() == [5]


def test_what_another_process_deletes_is_offered_no_more() -> None:
    shelf = on_disk(5, 9)
    shelf.store.vanish(key_of(9))
    shelf.stock.listen()
    assert shelf.known() == [5]


def test_what_is_deleted_after_it_was_read_can_still_be_used() -> None:
    shelf = on_disk(9)
    shelf.read(9)
    shelf.store.vanish(key_of(9))
    shelf.stock.listen()
    assert shelf.known() == [9]
    assert shelf.stock.snapshot(key_of(9)) is not None
    shelf.stock.let_go(())
    assert shelf.known() == []


def test_a_read_that_is_given_up_is_offered_no_more_even_if_it_comes() -> None:
    shelf = on_disk(9)
    shelf.store.slow = True
    shelf.read(9)
    shelf.stock.abandon(key_of(9))
    assert not shelf.stock.coming(key_of(9))
    assert shelf.known() == []
    shelf.store.arrive()
    shelf.stock.listen()
    assert shelf.stock.fetched(key_of(9)) is None
    assert shelf.known() == []


def test_what_could_not_be_loaded_is_dropped_everywhere() -> None:
    shelf = Shelf()
    shelf.keep(9)
    shelf.write(9)
    shelf.stock.discard(key_of(9), "refused")
    shelf.stock.listen()
    assert shelf.store.discarded == {key_of(9): "refused"}
    assert shelf.known() == []
    assert shelf.stock.snapshot(key_of(9)) is None
    assert Shelf(store=shelf.store.reopened()).known() == []


def test_what_could_not_be_loaded_while_it_was_written_is_not_offered_later() -> None:
    shelf = Shelf()
    shelf.keep(9)
    shelf.stock.write(saved(9))
    shelf.stock.discard(key_of(9), "refused")
    shelf.stock.listen()
    shelf.stock.listen()
    assert shelf.known() == []
    assert shelf.store.discarded == {key_of(9): "refused"}


def test_a_state_made_anew_is_no_longer_refused() -> None:
    shelf = Shelf()
    shelf.keep(9)
    shelf.stock.discard(key_of(9), "refused")
    assert shelf.write(9)
    assert shelf.known() == [9]


def test_every_use_of_what_is_on_disk_is_noted() -> None:
    shelf = Shelf()
    shelf.keep(8)
    shelf.keep(9)
    shelf.write(9)
    for rows in (8, 9):
        shelf.stock.snapshot(key_of(rows))
    assert shelf.store.touched == [key_of(9)]


def test_a_full_store_is_waited_for_only_when_asked() -> None:
    shelf = Shelf()
    shelf.store.full = True
    assert not shelf.write(9)
    assert shelf.store.flushes == 0
    assert not shelf.stock.write(saved(9), wait=True)
    assert shelf.store.flushes == 1


def test_without_a_store_nothing_is_written() -> None:
    stock = Stock(FakeClock(), Rates(), ram=SIZE, marks=SIZE, store=None)
    stock.listen()
    stock.fetch(key_of(9))
    assert not stock.writes
    assert not stock.write(saved(9), wait=True)
    assert not stock.coming(key_of(9))


def test_another_quantisation_is_named() -> None:
    shelf = on_disk(9)
    assert shelf.stock.other_quant(key_of(9)) == ""
    shelf.stock.listen()
    store = InlineStore()
    store.news = lambda: [Appeared(kept(9)[0], other_quant="q8")]  # type: ignore[method-assign]
    other = Shelf(store=store)
    assert other.stock.other_quant(key_of(9)) == "q8"
    assert other.stock.other_quant("unknown") == ""


def test_reads_teach_the_price_of_reading() -> None:
    store = InlineStore(seconds=10.0)
    store.save(Save(*kept(9, size=MIN_BYTES), SaveReason.COLD))
    shelf = Shelf(store=store.reopened())
    before = shelf.rates.prices()
    shelf.read(9)
    after = shelf.rates.prices()
    assert after.fetch > before.fetch
    assert replace(after, fetch=before.fetch) == before


class Shelving(RuleBasedStateMachine):
    """The index offers what can be had, and nothing else, whatever happens in which order."""

    rows = st.integers(1, 6)

    def __init__(self) -> None:
        super().__init__()
        self.shelf = Shelf(ram=2 * SIZE)
        self.stock = self.shelf.stock

    @rule(rows=rows)
    def keep(self, rows: int) -> None:
        self.shelf.keep(rows)

    @rule(rows=rows)
    def write(self, rows: int) -> None:
        self.stock.write(saved(rows))

    @rule(rows=rows)
    def fetch(self, rows: int) -> None:
        self.stock.fetch(key_of(rows))

    @rule(rows=rows)
    def abandon(self, rows: int) -> None:
        self.stock.abandon(key_of(rows))

    @rule(rows=rows)
    def discard(self, rows: int) -> None:
        self.stock.discard(key_of(rows), "refused")

    @rule(rows=rows)
    def vanish(self, rows: int) -> None:
        self.shelf.store.vanish(key_of(rows))

    @rule(rows=rows)
    def damage(self, rows: int) -> None:
        self.shelf.store.damaged.add(key_of(rows))

    @rule(slow=st.booleans())
    def slow(self, slow: bool) -> None:
        self.shelf.store.slow = slow
        if not slow:
            self.shelf.store.arrive()

    @rule(wanted=st.sets(rows))
    def let_go(self, wanted: set[int]) -> None:
        self.stock.let_go({key_of(rows) for rows in wanted})

    @rule()
    def listen(self) -> None:
        self.stock.listen()

    @invariant()
    def offers_what_can_be_had(self) -> None:
        can = {
            rows
            for rows in range(1, 7)
            if self.stock.on_disk(key_of(rows)) or self.stock.where(key_of(rows)) is Kind.RAM
        }
        assert set(self.shelf.known()) == can
        assert len(self.stock) == len(can)
        for rows in can:
            if self.stock.where(key_of(rows)) is Kind.RAM:
                assert self.stock.snapshot(key_of(rows)) == kept(rows)[1]

    def teardown(self) -> None:
        """Once all is quiet, what is on disk by the books is on disk."""
        self.slow(False)
        self.stock.listen()
        self.stock.listen()
        for rows in range(1, 7):
            assert not self.stock.on_disk(key_of(rows)) or key_of(rows) in self.shelf.store.saves
            assert not self.stock.coming(key_of(rows))


Shelving.TestCase.settings = settings(stateful_step_count=25)
TestShelving = Shelving.TestCase
