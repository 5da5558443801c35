"""Where records stand: what a lookup may pass over, and what is on disk only."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from replay_records import lengths

from ds4.core.plan import Ids
from ds4.kv.replay.database import Entry
from ds4.kv.replay.record import digest_of, last_id
from ds4.kv.replay.spots import Spots, between, fit, merged, rows_of, spot_of
from ds4.kv.replay.unread import Unread

ids = st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=20)


def row(values: list[int]) -> Ids:
    return np.array(values, np.int32)


def spots_of(prompts: list[list[int]]) -> Spots:
    spots = Spots()
    for prompt in prompts:
        spots.add(spot_of(len(prompt), digest_of(row(prompt))))
    return spots


@given(ids, st.lists(ids, max_size=5), st.integers(0, 20), st.integers(0, 20))
def test_no_length_that_is_known_is_passed_over(
    prompt: list[int], others: list[list[int]], first: int, last: int
) -> None:
    """Images have negative ids, and ids of any size are told apart."""
    known = [prompt[:size] for size in range(1, len(prompt) + 1)]
    found = between(spots_of([*known, *others]).in_order(), first, last)
    possible = rows_of(found)[fit(found, row([*prompt, *[0] * 20])[rows_of(found) - 1])]
    assert {len(one) for one in known if first <= len(one) < last} <= set(possible.tolist())
    assert {size for size in possible.tolist() if size <= len(prompt)} <= set(range(first, last))


def test_other_lengths_are_passed_over() -> None:
    found = spots_of([[5, 6], [5, 6, 7], [1, 2, 3, 9]]).in_order()
    assert fit(found, row([6, 8, 9])).tolist() == [True, False, True]


def test_a_digest_ends_with_the_last_id() -> None:
    assert [last_id(digest_of(row(values))) for values in ([], [3], [3, -7])] == [0, 3, -7]
    assert digest_of(row([1, 3])) != digest_of(row([2, 3]))


@given(st.lists(st.tuples(st.sampled_from(["add", "remove", "look"]), st.integers(0, 4)), max_size=40))
def test_each_is_there_once_while_any_is(steps: list[tuple[str, int]]) -> None:
    spots, model = Spots(), Counter[int]()
    for what, spot in steps:
        if what == "add":
            spots.add(spot)
            model[spot] += 1
        elif what == "remove" and model[spot]:
            spots.remove(spot)
            model[spot] -= 1
        else:
            assert spots.in_order().tolist() == sorted(+model)
    assert spots.in_order().tolist() == sorted(+model)


def test_two_are_merged_in_order() -> None:
    one, other = np.array([1, 5, 9]), np.array([2, 5])
    assert merged(one, other).tolist() == [1, 2, 5, 5, 9]


def entry(number: int, namespace: str = "", place: int = 1) -> Entry:
    return Entry(number, bytes([number]), namespace, digest_of(row([place] * place)), place)


def test_what_is_on_disk_only_is_found_once_by_its_caller() -> None:
    unread = Unread(10)
    for one in (entry(1), entry(2), entry(3, "a"), entry(4, place=2)):
        unread.add(one)
    here = entry(1).prefix
    assert (lengths(unread.spots("")), lengths(unread.spots("a")), lengths(unread.spots("b"))) == (
        [1, 2],
        [1],
        [],
    )
    assert unread.take("b", here) == []
    assert [one.id for one in unread.take("", here)] == [1, 2]
    assert unread.take("", here) == []
    assert (lengths(unread.spots("")), lengths(unread.spots("a")), len(unread)) == ([2], [1], 2)


def test_what_other_processes_write_does_not_fill_the_memory() -> None:
    unread = Unread(3)
    for number in range(1, 9):
        unread.add(entry(number, place=number))
    assert (len(unread), lengths(unread.spots(""))) == (3, [6, 7, 8])
