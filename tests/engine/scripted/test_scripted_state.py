"""State bytes: owned by their tokens, deduplicating, restored bit for bit or refused."""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.errors import EngineError
from ds4.core.step import Frontier, Snapshot, SnapshotKind, SnapshotPart, Trim
from ds4.engine.scripted.state import Layout, SlotState, layout_for

WINDOW = 4
N_VOCAB = 1000
LAYOUTS = {trim: layout_for(trim, WINDOW) for trim in Trim}

every_class = pytest.mark.parametrize("trim", list(Trim))
every_kind = pytest.mark.parametrize("kind", list(SnapshotKind))
rows_of = st.lists(st.integers(0, N_VOCAB - 1), max_size=30)


def state(trim: Trim, ids: list[int]) -> SlotState:
    slot = SlotState(LAYOUTS[trim])
    slot.append(ids)
    return slot


def load(slot: SlotState, snapshot: Snapshot) -> None:
    slot.load(snapshot, n_ctx=64, n_vocab=N_VOCAB)


def data_of(snapshot: Snapshot) -> bytes:
    return bytes(snapshot.parts[0].data)


def with_data(snapshot: Snapshot, data: bytes) -> Snapshot:
    return replace(snapshot, parts=(SnapshotPart("target", data),))


@given(st.sampled_from(list(Trim)), rows_of, rows_of, rows_of)
def test_a_full_snapshot_replaces_everything(
    trim: Trim, ids: list[int], other: list[int], more: list[int]
) -> None:
    saved = state(trim, ids).export(SnapshotKind.FULL)
    slot = state(trim, other)
    load(slot, saved)
    assert slot.ids == ids
    assert slot.export(SnapshotKind.FULL) == saved
    slot.append(more)
    assert slot.export(SnapshotKind.FULL) == state(trim, ids + more).export(SnapshotKind.FULL)


@pytest.mark.parametrize("trim", [Trim.WINDOW, Trim.BOUNDARY])
def test_a_partial_snapshot_takes_a_slot_back(trim: Trim) -> None:
    ids = list(range(40))
    slot = state(trim, ids[:15])
    partial, full = slot.export(SnapshotKind.PARTIAL), slot.export(SnapshotKind.FULL)
    assert len(data_of(partial)) < len(data_of(full))
    slot.append(ids[15:])
    assert not slot.trim(15)
    load(slot, partial)
    assert slot.ids == ids[:15]
    assert slot.export(SnapshotKind.FULL) == full


@pytest.mark.parametrize("trim", [Trim.WINDOW, Trim.BOUNDARY])
@pytest.mark.parametrize("ids", [list(range(14)), [9, *range(1, 20)]], ids=["too short", "other tokens"])
def test_a_partial_snapshot_of_another_history_is_refused(trim: Trim, ids: list[int]) -> None:
    partial = state(trim, list(range(15))).export(SnapshotKind.PARTIAL)
    slot = state(trim, ids)
    with pytest.raises(EngineError, match="damaged, or is not this slot's"):
        load(slot, partial)
    assert slot.frontier() == Frontier(-1, -1)


def test_without_a_window_partial_is_the_whole() -> None:
    saved = state(Trim.ANY, [1, 2, 3]).export(SnapshotKind.PARTIAL)
    slot = state(Trim.ANY, [])
    load(slot, saved)
    assert slot.ids == [1, 2, 3]


@every_class
@every_kind
@given(data=st.data())
def test_a_damaged_snapshot_is_refused_and_leaves_the_slot_empty(
    trim: Trim, kind: SnapshotKind, data: st.DataObject
) -> None:
    slot = state(trim, list(range(12)))
    good = data_of(saved := slot.export(kind))
    place = data.draw(st.integers(0, len(good) - 1))
    flipped = good[:place] + bytes([good[place] ^ data.draw(st.integers(1, 255))]) + good[place + 1 :]
    bad = data.draw(st.sampled_from([flipped, good[:place], good + b"\0", b""]))
    with pytest.raises(EngineError):
        load(slot, with_data(saved, bad))
    assert slot.ids == []
    load(slot, state(trim, list(range(12))).export(SnapshotKind.FULL))
    assert slot.ids == list(range(12))


@every_class
@pytest.mark.parametrize(
    "spoil",
    [
        lambda s: replace(s, rows=s.rows - 1),
        lambda s: replace(s, rows=-1),
        lambda s: replace(s, rows=65),
        lambda s: replace(s, positions=s.positions + 1),
        lambda s: replace(s, parts=()),
        lambda s: replace(s, parts=(SnapshotPart("draft", data_of(s)),)),
        lambda _: state(Trim.ANY, [N_VOCAB]).export(SnapshotKind.FULL),
    ],
    ids=[
        "fewer rows",
        "negative",
        "beyond n_ctx",
        "positions",
        "no part",
        "other context",
        "other vocabulary",
    ],
)
def test_a_wrong_snapshot_is_refused(trim: Trim, spoil: Callable[[Snapshot], Snapshot]) -> None:
    slot = state(trim, list(range(12)))
    with pytest.raises(EngineError):
        load(slot, spoil(slot.export(SnapshotKind.FULL)))
    assert slot.ids == []


def test_a_snapshot_of_another_memory_class_is_refused() -> None:
    for ours, theirs in pairwise([Trim.ANY, Trim.BOUNDARY, Trim.ANY]):
        with pytest.raises(EngineError):
            load(state(ours, []), state(theirs, [1, 2]).export(SnapshotKind.FULL))


def test_each_layer_of_a_longer_history_begins_with_the_shorter_one() -> None:
    layout = Layout(Trim.ANY, append_layers=3)
    slot = SlotState(layout)
    slot.append(list(range(10)))
    short = data_of(slot.export(SnapshotKind.FULL))
    slot.append(list(range(10, 25)))
    long = data_of(slot.export(SnapshotKind.FULL))
    assert len(long) - len(short) == 15 * layout.bytes_per_row
    ids, layer = 4 * 10, 32 * 10
    header = len(short) - ids - 3 * layer
    for n in range(3):
        part = short[header + ids + n * layer :][:layer]
        assert long[header + 4 * 25 + n * 32 * 25 :][:layer] == part
        assert short.count(part) == 1


@every_class
def test_the_window_part_does_not_grow(trim: Trim) -> None:
    sizes = [len(data_of(state(trim, [0] * rows).export(SnapshotKind.PARTIAL))) for rows in (8, 16)]
    assert (sizes[0] == sizes[1]) == (trim is not Trim.ANY)


def test_any_class_trims_to_every_length() -> None:
    ids = list(range(12))
    for rows in range(13):
        slot = state(Trim.ANY, ids)
        assert slot.trim(rows)
        assert slot.export(SnapshotKind.FULL) == state(Trim.ANY, ids[:rows]).export(SnapshotKind.FULL)


def test_window_class_trims_while_the_window_before_is_there() -> None:
    ids = list(range(20))
    kept = [rows for rows in range(21) if state(Trim.WINDOW, ids).trim(rows)]
    assert kept == [0, *range(20 - WINDOW, 21)]
    slot = state(Trim.WINDOW, ids)
    assert slot.frontier() == Frontier(20 - 2 * WINDOW, 19)
    assert slot.trim(17)
    assert slot.frontier() == Frontier(20 - 2 * WINDOW, 16)
    assert not slot.trim(15)
    assert slot.ids == ids[:17]


def test_a_restored_window_cannot_be_cut_back() -> None:
    slot = state(Trim.WINDOW, [])
    load(slot, state(Trim.WINDOW, list(range(20))).export(SnapshotKind.FULL))
    assert [rows for rows in range(21) if state_trims(slot, rows)] == [0, 20]


def state_trims(slot: SlotState, rows: int) -> bool:
    twin = SlotState(LAYOUTS[Trim.WINDOW])
    twin.copy_from(slot)
    return twin.trim(rows)


def test_boundary_class_goes_back_to_nothing_only() -> None:
    ids = list(range(6))
    assert [rows for rows in range(7) if state(Trim.BOUNDARY, ids).trim(rows)] == [0, 6]
    assert state(Trim.BOUNDARY, ids).frontier() == Frontier(5, 5)


@every_class
@pytest.mark.parametrize("rows", [-1, 7])
def test_keeping_rows_that_are_not_there_is_an_error(trim: Trim, rows: int) -> None:
    slot = state(trim, list(range(6)))
    with pytest.raises(EngineError, match="of 6 rows"):
        slot.trim(rows)
    assert slot.ids == list(range(6))


@every_class
def test_a_copy_is_independent(trim: Trim) -> None:
    source, target = state(trim, [1, 2, 3]), state(trim, [7])
    target.copy_from(source)
    source.append([4])
    assert target.export(SnapshotKind.FULL) == state(trim, [1, 2, 3]).export(SnapshotKind.FULL)
    target.append([9])
    assert source.ids == [1, 2, 3, 4]
