import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.kv.disk.chunks import LARGEST, SMALLEST, chunk_size, cut, digest
from ds4.kv.disk.ledger import Ledger
from ds4.kv.disk.runs import Chunks, Runs, merged, runs, unpack_chunks


def chunks(*contents: bytes) -> Chunks:
    """Of given contents, as if each had been cut so."""
    every = [cut([content], SMALLEST) for content in contents]
    assert all(len(one) == 1 for one in every)
    return Chunks(np.concatenate([one.keys for one in every]), np.concatenate([one.lengths for one in every]))


def content(number: int) -> bytes:
    return bytes([number]) * (20 + number)


def places(ledger: Ledger, *numbers: int) -> Runs:
    return ledger.find(chunks(*map(content, numbers)))


def filled() -> Ledger:
    ledger = Ledger()
    ledger.extend(1, chunks(*map(content, range(6))))
    ledger.extend(2, chunks(*map(content, range(6, 10))))
    ledger.extend(1, chunks(*map(content, range(10, 13))))
    return ledger


def test_chunks_are_found_where_they_are() -> None:
    found = places(filled(), 0, 7, 12, 200)
    assert found.tolist() == [(1, 0, 20), (2, 26, 27), (1, 6 * 20 + 15 + 30 + 31, 32), (0, 0, 0)]


def test_neighbours_become_one_run_and_order_stays() -> None:
    found = merged(places(filled(), 0, 1, 2, 5, 10, 3, 3))
    # 5 and 10 touch: the segment was written in two steps.
    assert [int(run["length"]) for run in found] == [20 + 21 + 22, 25 + 30, 23, 23]
    assert merged(runs(1, [], [])).tolist() == []


@given(st.dictionaries(st.integers(1, 9), st.lists(st.integers(0, 12), min_size=1, max_size=8), max_size=6))
def test_what_each_user_would_free(users: dict[int, list[int]]) -> None:
    ledger = filled()
    for user, numbers in users.items():
        ledger.hold(user, merged(places(ledger, *numbers)))
    wanted = {}
    for user, numbers in users.items():
        others = {one for other, held in users.items() if other != user for one in held}
        if alone := set(numbers) - others:
            wanted[user] = sum(20 + one for one in alone)
    assert ledger.freed() == wanted
    live = sum(segment.live for segment in ledger.segments.values())
    assert live == sum(20 + one for one in set().union(*users.values()))
    for user, numbers in users.items():
        ledger.release(user, merged(places(ledger, *numbers)))
    assert ledger.freed() == {}
    assert all((segment.sole == 0).all() for segment in ledger.segments.values())


def test_what_is_gone_or_spoiled_is_not_found() -> None:
    ledger = filled()
    ledger.spoil(places(ledger, 3))
    ledger.drop(2)
    assert [run["segment"] != 0 for run in places(ledger, 2, 3, 4, 7)] == [True, False, True, False]


def test_runs_that_do_not_fit() -> None:
    ledger = filled()
    assert ledger.fits(runs(1, [0, 20], [41, 21]))
    assert not ledger.fits(runs(1, [1], [40])), "begins inside a chunk"
    assert not ledger.fits(runs(1, [0], [40])), "ends inside one"
    assert not ledger.fits(runs(1, [0], [10_000])), "ends behind the last"
    assert not ledger.fits(runs(3, [0], [20])), "in no segment"
    ledger.spoil(places(ledger, 1))
    assert not ledger.fits(runs(1, [0], [41]))


def test_chunk_tables_survive_packing() -> None:
    some = chunks(*map(content, range(5)))
    again = unpack_chunks(some.pack())
    assert again.keys.tolist() == some.keys.tolist()
    assert again.lengths.tolist() == some.lengths.tolist()
    with pytest.raises(ValueError, match="buffer size"):
        unpack_chunks(some.pack()[:-1])


@given(st.lists(st.binary(max_size=5000), max_size=4))
def test_chunks_cover_all_bytes_and_none_lies_across_two_blobs(blobs: list[bytes]) -> None:
    found = cut(blobs, SMALLEST)
    assert found.size == sum(map(len, blobs))
    ends = set(found.starts().tolist())
    assert set(np.cumsum([len(blob) for blob in blobs]).tolist()) <= ends | {0}
    assert digest(blobs) == digest([b"".join(blobs)])


@pytest.mark.parametrize(
    ("row_bytes", "size"),
    [
        (0, SMALLEST),
        (132, SMALLEST),
        (7 << 10, 4 << 10),
        (12 << 10, 8 << 10),
        (23_040, 16 << 10),
        (9**9, LARGEST),
    ],
)
def test_the_chunk_size_follows_the_growth(row_bytes: int, size: int) -> None:
    assert chunk_size(row_bytes) == size
