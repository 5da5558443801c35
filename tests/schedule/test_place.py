from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from placing import (
    QUICK,
    ROW,
    SLOW,
    awaited,
    base,
    in_ram,
    in_slot,
    on_disk,
    placed,
    plan_of,
    prices,
    target,
)

from ds4.core.usage import MissReason
from ds4.schedule.place import (
    HALF_LIFE,
    PARK_ROWS,
    WORTH_WAITING,
    Base,
    Kind,
    Placement,
    Target,
    Wait,
    longest,
    place,
    reason,
)
from ds4.schedule.rates import Prices


def chosen(*slots: tuple[int, int], prompt: int, at: Prices = QUICK) -> int:
    """The slot taken. All are free; each has rows, so many of which the prompt shares."""
    targets = [target(slot, rows) for slot, (rows, _) in enumerate(slots)]
    bases = [in_slot(slot, rows, common) for slot, (rows, common) in enumerate(slots) if common]
    return placed(targets, bases, prompt, at).slot


# Which slot.


def test_a_continued_conversation_finds_its_slot() -> None:
    assert chosen((0, 0), (900, 900), (300, 0), prompt=1000) == 1


def test_a_shared_system_prompt_does_not_take_a_long_conversation() -> None:
    targets = [target(0, 10_000), target(1)]
    begun = placed(targets, [in_slot(0, 10_000, 2_000)], 3_000)
    assert begun.slot == 1
    assert begun.base is not None
    assert begun.lost == 0


def test_where_copying_is_slow_it_is_computed_again() -> None:
    begun = placed([target(0, 10_000), target(1)], [in_slot(0, 10_000, 2_000)], 3_000, SLOW)
    assert (begun.slot, begun.base) == (1, None)


def test_a_small_side_request_takes_the_cheapest_victim() -> None:
    assert chosen((50_000, 0), (4_000, 0), prompt=200) == 1


def test_a_conversation_left_long_ago_gives_way() -> None:
    stale = target(0, 50_000, idle=HALF_LIFE * 10)
    assert placed([stale, target(1, 4_000)], [], 200).slot == 0


def test_a_small_edit_stays_in_its_slot() -> None:
    assert chosen((10_000, 9_900), (0, 0), prompt=10_500, at=SLOW) == 0


def test_a_conversation_whose_answer_comes_back_changed_keeps_its_slot() -> None:
    """Reasoning dropped or an answer told otherwise: the rows after the old prompt are worth nothing."""
    targets = [target(0, 14_000, prompt=10_000), target(1)]
    begun = placed(targets, [in_slot(0, 14_000, 10_100)], 10_500)
    assert (begun.slot, begun.lost, begun.park) == (0, 0, False)


def test_a_branch_deep_in_the_history_goes_beside_the_old_one() -> None:
    assert chosen((20_000, 12_000), (0, 0), prompt=13_000) == 1


def test_equal_slots_take_turns_by_age() -> None:
    assert placed([target(0, idle=5), target(1, idle=9)], [], 10).slot == 1
    assert placed([target(0, idle=9), target(1, idle=9)], [], 10).slot == 0


# What it begins with.


def test_a_busy_slot_is_copied() -> None:
    begun = placed([target(1)], [in_slot(0, 5_000, 4_000)], 6_000)
    assert begun.base is not None
    assert (begun.slot, begun.base.slot) == (1, 0)


def test_the_nearest_memory_of_equal_ones_is_taken() -> None:
    same = [on_disk(900, 900), in_ram(900, 900), in_slot(0, 900, 900)]
    for at_hand in (Kind.SLOT, Kind.RAM, Kind.DISK):
        begun = placed([target(1)], same, 1_000)
        assert begun.base is not None
        assert begun.base.kind is at_hand
        same.remove(begun.base)


def test_a_little_more_on_disk_is_not_worth_the_read() -> None:
    bases = [in_slot(0, 900, 900), on_disk(910, 910)]
    begun = placed([target(0, 900)], bases, 1_000, prices(fetch=1e-3))
    assert begun.base is bases[0]


def test_much_more_on_disk_is() -> None:
    bases = [in_slot(0, 900, 900), on_disk(9_000, 9_000)]
    begun = placed([target(0, 900)], bases, 10_000, prices(fetch=1e-4))
    assert begun.base is bases[1]


def test_a_restore_slower_than_computing_is_never_chosen() -> None:
    for held in (in_ram(9_000, 9_000), on_disk(9_000, 9_000)):
        assert placed([target(0)], [held], 10_000, SLOW).base is None


def test_a_large_state_of_few_common_rows_is_not_loaded() -> None:
    at = prices(load=1e-4)
    assert placed([target(0)], [in_ram(50_000, 4_000)], 6_000, at).base is None
    assert placed([target(0)], [in_ram(5_000, 4_000)], 6_000, at).base is not None


def test_what_cannot_be_reused_is_not_taken() -> None:
    assert placed([target(0)], [in_ram(900, 800, reuse=0)], 1_000).base is None


def test_a_mark_on_disk_costs_its_read() -> None:
    near = in_slot(0, 900, 800, reuse=700, mark=10 * ROW)
    far = replace(near, mark_fetch=10 * ROW)
    at = prices(fetch=0.1)
    assert placed([target(0, 900)], [near], 1_000, at).base is near
    assert placed([target(0, 900, idle=1e9)], [far], 1_000, at).base is None


def test_healed_rows_are_counted_in_the_tokens_they_are_in() -> None:
    """The held tokens are many and short: reusing them all saves no more than the text is worth."""
    spelled = plan_of([0] * 4_000)
    healed = base(Kind.SLOT, 3_000, 3_000, slot=0, healed=spelled)
    better = in_slot(1, 950, 950)
    begun = placed([target(0, 3_000, prompt=0), target(1, 950)], [healed, better], 1_000)
    assert begun.base is better
    assert begun.cost == 50


# What is displaced.


def test_what_would_be_lost_is_parked_where_that_is_cheaper() -> None:
    begun = placed([target(0, 5_000, keepable=True)], [], 100)
    assert (begun.lost, begun.park) == (5_000, True)
    assert not placed([target(0, 5_000)], [], 100).park
    assert not placed([target(0, 5_000, keepable=True)], [], 100, SLOW).park
    assert not placed([target(0, 5_000, keepable=True, idle=HALF_LIFE * 30)], [], 100).park


def test_a_few_rows_are_not_worth_parking() -> None:
    assert not placed([target(0, PARK_ROWS - 1, keepable=True)], [], 10).park
    assert placed([target(0, PARK_ROWS, keepable=True)], [], 10).park


def test_what_can_be_kept_gives_way_to_what_cannot() -> None:
    targets = [target(0, 4_000), target(1, 20_000, keepable=True)]
    assert placed(targets, [], 200).slot == 1


def test_what_goes_on_displaces_nothing() -> None:
    begun = placed([target(0, 900, keepable=True)], [in_slot(0, 900, 900)], 1_000)
    assert (begun.lost, begun.park, begun.cost) == (0, False, 100)


# Waiting for another request's prefill.


def test_a_long_shared_prompt_is_waited_for() -> None:
    growing = in_slot(0, 100, 100, growing_to=5_000)
    assert awaited([target(1)], [growing], 5_100) == Wait(0, 5_000)


def test_a_short_one_is_computed_twice() -> None:
    assert awaited([target(1)], [in_slot(0, 0, 0, growing_to=63)], 100) is None
    assert awaited([target(1)], [in_slot(0, 0, 0, growing_to=64)], 100) == Wait(0, 64)


def test_what_is_there_already_is_not_waited_for() -> None:
    growing = in_slot(0, 100, 100, growing_to=5_000)
    assert awaited([target(1, 5_000)], [growing, in_slot(1, 5_000, 5_000)], 5_100) is None


def test_it_is_not_waited_for_what_is_slower_to_copy() -> None:
    assert awaited([target(1)], [in_slot(0, 100, 100, growing_to=5_000)], 5_100, SLOW) is None


def test_the_longest_of_several_is_waited_for() -> None:
    bases = [in_slot(0, 0, 0, growing_to=500), in_slot(1, 0, 0, growing_to=900)]
    assert awaited([target(2)], bases, 1_000) == Wait(1, 900)


def test_nobody_is_waited_for_where_nobody_computes() -> None:
    """The prompt is longer in the tokens of the memory that it goes on from, and little of that is reused."""
    retold = base(Kind.SLOT, 1_800, 600, reuse=3, slot=0, healed=plan_of([0] * 1_250))
    begun = placed([target(0, 1_800, prompt=1_250)], [retold], 1_170)
    assert begun.base is retold
    assert begun.cost > 1_170 + WORTH_WAITING


def test_a_slow_restore_is_no_reason_not_to_wait() -> None:
    kept = in_ram(5_000, 5_000)
    growing = in_slot(0, 0, 0, growing_to=9_000)
    at = prices(load=8e-4)
    assert placed([target(1)], [kept], 10_000, at).base is kept
    assert awaited([target(1)], [kept, growing], 10_000, at) == Wait(0, 9_000)


# Why.


def test_an_edit_is_a_reason() -> None:
    held = in_slot(0, 100, 60)
    assert reason(placed([target(0, 100)], [held], 120), [held], 120) is MissReason.EDITED


def test_a_memory_that_cannot_be_rewound_is_a_reason() -> None:
    held = in_slot(0, 100, 60, reuse=0)
    assert reason(placed([target(0, 100)], [held], 120), [held], 120) is MissReason.CANNOT_REWIND


def test_a_price_is_a_reason() -> None:
    held = on_disk(100, 60)
    assert reason(placed([target(0)], [held], 120, SLOW), [held], 120) is MissReason.NOT_WORTH_IT


def test_an_exact_repeat_is_no_miss() -> None:
    held = in_slot(0, 130, 100, reuse=99)
    assert reason(placed([target(0, 130)], [held], 100), [held], 100) is MissReason.NONE


def test_where_nothing_is_known_nothing_is_missed() -> None:
    assert reason(placed([target(0)], [], 100), [], 100) is MissReason.NONE


def test_a_healed_repeat_is_no_miss() -> None:
    """Told in the memory's own tokens the prompt is longer, and all of it is there."""
    spelled = plan_of([0] * 150)
    held = base(Kind.SLOT, 200, 150, reuse=149, slot=0, healed=spelled)
    assert reason(placed([target(0, 200)], [held], 100), [held], 100) is MissReason.NONE


def test_the_longest_is_what_agrees_longest_and_gives_most() -> None:
    bases = [in_slot(0, 90, 50), in_ram(90, 60, reuse=0), on_disk(90, 60), in_slot(1, 90, 0)]
    assert longest(bases) is bases[2]
    assert longest(bases[3:]) is None


rates = st.floats(1e-9, 1.0)
all_prices = st.builds(Prices, rates, rates, rates, rates)
targets_lists = st.lists(
    st.tuples(st.integers(0, 5000), st.integers(0, 5000), st.floats(0, 1e5), st.booleans()),
    min_size=1,
    max_size=5,
).map(
    lambda slots: [
        target(n, rows, prompt=min(rows, prompt), idle=idle, keepable=keepable)
        for n, (rows, prompt, idle, keepable) in enumerate(slots)
    ]
)
kept_lists = st.lists(
    st.tuples(st.sampled_from([Kind.RAM, Kind.DISK]), st.integers(1, 5000), st.integers(0, 4999)), max_size=5
).map(lambda kept: [base(kind, held, min(held, common)) for kind, held, common in kept])


@given(targets_lists, kept_lists, st.lists(st.integers(0, 4999), max_size=5), all_prices)
def test_the_choice_is_among_what_there_is_and_never_dearer_than_nothing(
    targets: list[Target], kept: list[Base], shared: list[int], at: Prices
) -> None:
    slots = [in_slot(t.slot, t.rows, min(t.rows, common)) for t, common in zip(targets, shared, strict=False)]
    begun = placed(targets, slots + kept, 5_000, at)
    from_nothing = place(targets, [], 5_000, at)
    assert isinstance(from_nothing, Placement)
    assert begun.cost <= from_nothing.cost
    assert begun.slot in {t.slot for t in targets}
    assert begun.base is None or begun.base in slots + kept
    assert 0 <= begun.lost <= next(t.prompt for t in targets if t.slot == begun.slot)
    more = placed(targets, [*slots, *kept, in_ram(4_000, 4_000)], 5_000, at)
    assert more.cost <= begun.cost


@given(targets_lists, kept_lists, st.integers(0, 4999), all_prices)
def test_it_is_only_waited_for_what_saves_work(
    targets: list[Target], kept: list[Base], growing_to: int, at: Prices
) -> None:
    busy = in_slot(9, 10, 10, growing_to=growing_to)
    wait = place(targets, [*kept, busy], 5_000, at)
    if isinstance(wait, Wait):
        assert wait == Wait(9, growing_to)
        assert 5_000 - growing_to < placed(targets, kept, 5_000, at).cost
