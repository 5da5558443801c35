from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ds4.schedule.planner import Budget, Share, Turn, plan_step

BUDGET = Budget(quantum=128, chunk=1024, batch=2048)


def decoder(slot: int, pending: int = 1) -> Turn:
    return Turn(slot, remaining=0, to_stop=0, served=0, pending=pending)


def prefill(slot: int, remaining: int, *, to_stop: int | None = None, served: int = 0) -> Turn:
    return Turn(slot, remaining, to_stop if to_stop is not None else remaining, served)


def test_nothing_to_do() -> None:
    assert plan_step([], BUDGET) == ()


def test_decoders_and_one_quantum() -> None:
    plan = plan_step([decoder(0), prefill(1, 5000), decoder(2)], BUDGET)
    assert plan == (Share(0, 1), Share(2, 1), Share(1, 128))


def test_a_whole_chunk_when_nothing_decodes() -> None:
    assert plan_step([prefill(0, 5000)], BUDGET) == (Share(0, 1024),)


def test_short_prompts_share_a_step() -> None:
    plan = plan_step([prefill(0, 30), prefill(1, 40), prefill(2, 50)], BUDGET)
    assert plan == (Share(0, 30), Share(1, 40), Share(2, 50))


def test_the_prompt_served_longest_ago_comes_first() -> None:
    plan = plan_step([prefill(0, 5000, served=7), prefill(1, 5000, served=3)], BUDGET)
    assert plan == (Share(1, 1024),)


def test_a_chunk_ends_at_a_stop() -> None:
    assert plan_step([prefill(0, 5000, to_stop=10)], BUDGET) == (Share(0, 10),)


def test_forced_rows_enter_one_step() -> None:
    assert plan_step([decoder(0, 30), decoder(1)], BUDGET) == (Share(0, 30), Share(1, 1))


def test_forced_rows_are_part_of_the_quantum() -> None:
    plan = plan_step([decoder(0, 30), prefill(1, 5000), decoder(2, 12)], BUDGET)
    assert plan == (Share(0, 30), Share(2, 12), Share(1, 128 - 29 - 11))


def test_many_forced_rows_take_several_steps_and_hold_up_neither_prompts_nor_answers() -> None:
    assert plan_step([decoder(0, 500), decoder(1)], BUDGET) == (Share(0, 129), Share(1, 1))
    assert plan_step([decoder(0, 500), prefill(1, 5000)], BUDGET) == (Share(0, 65), Share(1, 64))


running_turns = st.tuples(
    st.integers(0, 5000), st.integers(1, 5000), st.integers(0, 50), st.sampled_from([1, 1, 2, 40, 3000])
)
turns = st.lists(running_turns, min_size=1, max_size=40).map(
    lambda rows: [
        Turn(slot, remaining, min(stop, remaining), served, pending)
        for slot, (remaining, stop, served, pending) in enumerate(rows)
    ]
)
budgets = st.builds(
    Budget, quantum=st.integers(1, 300), chunk=st.integers(300, 1000), batch=st.integers(1000, 2000)
)


@given(turns, budgets)
def test_every_step_keeps_the_rules(running: list[Turn], budget: Budget) -> None:
    plan = plan_step(running, budget)
    by_slot = {turn.slot: turn for turn in running}
    decoding = {turn.slot for turn in running if not turn.remaining}
    prefilled = [share for share in plan if share.slot not in decoding]
    assert len({share.slot for share in plan}) == len(plan)
    assert {share.slot for share in plan if share.slot in decoding} == decoding
    assert all(1 <= share.rows <= by_slot[share.slot].pending for share in plan if share.slot in decoding)
    assert sum(share.rows for share in plan) <= budget.batch
    # What is more than a row for each answer.
    assert sum(share.rows for share in plan) - len(decoding) <= (budget.quantum if decoding else budget.chunk)
    for share in prefilled:
        assert 0 < share.rows <= by_slot[share.slot].to_stop
    if len(decoding) < len(running):
        assert prefilled, "a step must not leave every prefill waiting"


@given(st.lists(st.integers(1, 300), min_size=1, max_size=8), st.integers(0, 4), budgets)
def test_no_prompt_starves_and_turns_are_fair(prompts: list[int], decoders: int, budget: Budget) -> None:
    """Run to the end: between two turns of one prefill, every other waiting one gets a turn."""
    running = [decoder(100 + index) for index in range(decoders)]
    running += [prefill(slot, rows) for slot, rows in enumerate(prompts)]
    for step in range(1, 10_000):
        waiting = {turn.slot for turn in running if turn.remaining}
        if not waiting:
            return
        shares = {share.slot: share.rows for share in plan_step(running, budget)}
        oldest = min((t for t in running if t.remaining), key=lambda t: (t.served, t.slot))
        assert oldest.slot in shares, "the one served longest ago must be served now"
        running = [
            replace(t, remaining=t.remaining - rows, to_stop=t.remaining - rows, served=step)
            if t.remaining and (rows := shares.get(t.slot, 0))
            else t
            for t in running
        ]
    raise AssertionError("prefills never ended")
