import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.step import Snapshot, SnapshotKind, SnapshotPart
from ds4.kv.checkpoint import Checkpoint
from ds4.kv.parked import ParkedStates
from ds4.kv.value import HALF_LIFE
from ds4.testing.clock import FakeClock


def checkpoint(key: str, size: int, rows: int = 100) -> Checkpoint:
    return Checkpoint(key, "", np.zeros(rows, np.int32), SnapshotKind.FULL, size)


def snapshot(size: int = 1) -> Snapshot:
    return Snapshot(SnapshotKind.FULL, 100, 100, (SnapshotPart("target", bytes(size)),))


class Ram:
    """Parked states with their clock."""

    def __init__(self, budget: int) -> None:
        self.clock = FakeClock()
        self.states = ParkedStates(budget, self.clock)

    def put(self, key: str, size: int, rows: int = 100) -> list[str] | None:
        self.clock.advance(1)
        gone = self.states.put(checkpoint(key, size, rows), snapshot(size))
        return None if gone is None else [left.key for left in gone]

    def keys(self) -> list[str]:
        return sorted(found.key for found in self.states.checkpoints())


def test_what_is_put_is_there_until_it_is_dropped() -> None:
    ram = Ram(100)
    kept = snapshot()
    ram.states.put(checkpoint("a", 40), kept)
    assert ram.states.get("a") is kept
    assert ram.states.peek("a") is kept
    assert ("a" in ram.states, len(ram.states), ram.states.used) == (True, 1, 40)
    ram.states.drop("a")
    assert ram.states.get("a") is None
    assert ram.states.peek("a") is None
    assert ("a" in ram.states, len(ram.states), ram.states.used) == (False, 0, 0)


def test_the_least_valuable_leaves_for_a_new_one() -> None:
    ram = Ram(100)
    assert ram.put("long", 40, rows=900) == []
    assert ram.put("short", 40, rows=10) == []
    assert ram.put("new", 40, rows=5) == ["short"]
    assert ram.keys() == ["long", "new"]


def test_what_was_used_stays() -> None:
    ram = Ram(100)
    ram.put("used", 40)
    ram.put("other", 40)
    ram.states.get("used")
    assert ram.put("new", 40) == ["other"]


def test_a_look_is_no_use() -> None:
    ram = Ram(100)
    ram.put("seen", 40)
    ram.put("other", 40)
    ram.clock.advance(1)
    ram.states.peek("seen")
    assert ram.put("new", 40) == ["seen"]


def test_a_use_wears_off() -> None:
    ram = Ram(100)
    ram.put("once", 40, rows=100)
    ram.states.get("once")
    ram.put("longer", 40, rows=150)
    ram.clock.advance(5 * HALF_LIFE)
    assert ram.put("new", 40) == ["once"]


def test_what_is_larger_than_all_room_drives_nobody_out() -> None:
    ram = Ram(100)
    ram.put("a", 40)
    assert ram.put("b", 101) is None
    assert not ram.states.fits(101)
    assert ram.states.fits(100)
    assert ram.keys() == ["a"]


def test_a_key_put_again_takes_its_own_place() -> None:
    ram = Ram(100)
    ram.put("a", 60)
    ram.put("b", 40)
    assert ram.put("a", 50) == []
    assert ram.states.used == 90


def test_a_key_that_has_outgrown_the_room_stays_as_it_was() -> None:
    ram = Ram(100)
    ram.put("a", 60)
    assert ram.put("a", 101) is None
    assert ram.states.used == 60


def test_without_a_budget_nothing_is_kept() -> None:
    ram = Ram(0)
    assert ram.put("a", 1) is None
    assert ram.keys() == []


@given(st.integers(0, 100), st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(1, 60)), max_size=20))
def test_the_budget_holds_and_the_books_agree(budget: int, puts: list[tuple[str, int]]) -> None:
    ram, model = Ram(budget), dict[str, int]()
    for key, size in puts:
        gone = ram.put(key, size)
        assert (gone is None) == (size > budget)
        if gone is not None:
            assert key not in gone
            model[key] = size
            for left in gone:
                del model[left]
        assert ram.keys() == sorted(model)
        assert ram.states.used == sum(model.values()) <= budget


def test_a_longer_state_inherits_hits() -> None:
    ram = Ram(100)
    ram.put("old", 40, rows=100)
    ram.states.get("old")
    ram.states.put(checkpoint("long", 40, rows=101), snapshot(), ["old", "unknown"])
    assert ram.put("new", 40, rows=90) == ["old"]
    assert ram.put("newer", 40, rows=91) == ["new"]


def test_what_is_replaced_makes_room() -> None:
    ram = Ram(100)
    ram.put("old", 40)
    ram.put("other", 40)
    gone = ram.states.put(checkpoint("long", 60), snapshot(), ["old"], replaces=True)
    assert gone is not None
    assert [left.key for left in gone] == ["old"]
    assert ram.keys() == ["long", "other"]
