import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.kv.disk.value import Family, Loss, common_rows, value
from ds4.kv.value import HALF_LIFE, effective_hits

ids_lists = st.lists(st.integers(0, 2), max_size=7).map(lambda ids: struct.pack(f"<{len(ids)}i", *ids))


def rows(ids: bytes) -> int:
    return len(ids) // 4


def expected(members: dict[int, bytes], number: int, *, any_length: bool) -> Loss:
    """By looking at every other member."""
    mine = members[number]
    others = [ids for other, ids in members.items() if other != number]
    beyond = rows(mine) - max((rows(ids) for ids in others if mine.startswith(ids)), default=0)
    common = max((common_rows(mine, ids) for ids in others), default=0)
    return Loss(rows(mine), rows(mine) - common if any_length else beyond, beyond)


@given(st.lists(ids_lists, unique=True, max_size=12), st.data(), st.booleans())
def test_losses_of_a_family(ids: list[bytes], data: st.DataObject, any_length: bool) -> None:
    family, members = Family(), dict(enumerate(ids))
    for number, one in members.items():
        family.add(number, one)
    for number in data.draw(st.lists(st.sampled_from(range(len(ids))), unique=True) if ids else st.just([])):
        family.remove(number)
        del members[number]
    wanted = {number: expected(members, number, any_length=any_length) for number in members}
    assert dict(family.losses(any_length=any_length)) == wanted
    assert len(family) == len(members)


@given(ids_lists, ids_lists)
def test_common_rows(left: bytes, right: bytes) -> None:
    count = common_rows(left, right)
    assert left[: 4 * count] == right[: 4 * count]
    longer = slice(4 * count, 4 * count + 4)
    assert left[longer] != right[longer] or count == rows(left) == rows(right)


def test_hits_halve_every_six_hours_and_end() -> None:
    assert effective_hits(8, 1000.0, 1000.0) == 8
    assert effective_hits(8, 1000.0, 1000.0 + HALF_LIFE) == 4
    assert effective_hits(8, 0.0, 9 * HALF_LIFE) > 0
    assert effective_hits(8, 0.0, 10 * HALF_LIFE) == 0
    assert effective_hits(0, 0.0, 0.0) == 0


def test_clock_jumps_neither_add_nor_remove_hits() -> None:
    assert effective_hits(3, 5000.0, 0.0) == 3
    assert effective_hits(-3, 0.0, 0.0) == 0


def test_alone_it_is_hits_and_tokens_per_byte() -> None:
    alone = Loss(1000, lost=1000, beyond=1000)
    assert value(0, alone, 4000) == pytest.approx(0.25)
    assert value(3, alone, 4000) == pytest.approx(1.0)
    assert value(0, alone, 0) == 1000


def test_a_prefix_of_a_longer_one_is_worth_little_unless_it_is_asked_for() -> None:
    covered = Loss(1000, lost=0, beyond=1000)
    assert value(0, covered, 1000) == pytest.approx(0.05)
    assert value(9, covered, 1000) == pytest.approx(10 * (0.05 + 0.45 * 0.9))
    assert value(9, covered, 1000) < value(9, Loss(1000, 1000, 1000), 1000) / 2 + 0.01


@given(st.floats(0, 50), st.integers(0, 10_000), st.integers(1, 10**9))
def test_more_hits_more_rows_and_fewer_bytes_are_worth_more(hits: float, lost: int, freed: int) -> None:
    loss = Loss(10_000, lost, 10_000)
    assert value(hits + 1, loss, freed) >= value(hits, loss, freed) >= value(hits, loss, freed + 1)
