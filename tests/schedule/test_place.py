from hypothesis import given
from hypothesis import strategies as st

from ds4.core.usage import CacheSource, MissReason
from ds4.kv.prefix import Reuse
from ds4.schedule.place import HALF_LIFE, Candidate, place


def candidate(
    slot: int,
    rows: int = 0,
    common: int = 0,
    *,
    reuse: int | None = None,
    idle: float = 1.0,
    prompt: int | None = None,
) -> Candidate:
    return Candidate(
        slot,
        rows,
        rows if prompt is None else prompt,
        idle,
        Reuse(common, common if reuse is None else reuse),
    )


def chosen(*candidates: Candidate, prompt: int) -> int:
    return place(candidates, prompt).slot


def test_a_continued_conversation_finds_its_slot() -> None:
    assert chosen(candidate(0), candidate(1, rows=900, common=900), candidate(2, rows=300), prompt=1000) == 1


def test_a_shared_system_prompt_does_not_take_a_long_conversation() -> None:
    assert chosen(candidate(0, rows=10_000, common=2_000), candidate(1), prompt=3_000) == 1


def test_a_small_side_request_takes_the_cheapest_victim() -> None:
    assert chosen(candidate(0, rows=50_000), candidate(1, rows=4_000), prompt=200) == 1


def test_a_conversation_left_long_ago_gives_way() -> None:
    stale = candidate(0, rows=50_000, idle=HALF_LIFE * 10)
    assert chosen(stale, candidate(1, rows=4_000, idle=1), prompt=200) == 0


def test_a_small_edit_stays_in_its_slot() -> None:
    assert chosen(candidate(0, rows=10_000, common=9_900), candidate(1), prompt=10_500) == 0


def test_a_conversation_whose_answer_comes_back_changed_keeps_its_slot() -> None:
    """Reasoning dropped or an answer told otherwise: the rows after the old prompt are worth nothing."""
    assert chosen(candidate(0, rows=14_000, prompt=10_000, common=10_100), candidate(1), prompt=10_500) == 0


def test_a_branch_deep_in_the_history_goes_beside_the_old_one() -> None:
    assert chosen(candidate(0, rows=20_000, common=12_000), candidate(1), prompt=13_000) == 1


def test_equal_slots_take_turns_by_age() -> None:
    assert chosen(candidate(0, idle=5), candidate(1, idle=9), prompt=10) == 1


def test_the_report_explains_an_edit() -> None:
    placement = place([candidate(0, rows=100, common=60)], 120)
    report = placement.report
    assert (report.source, report.reused, report.computed) == (CacheSource.LIVE, 60, 60)
    assert report.reason is MissReason.EDITED


def test_the_report_explains_a_memory_that_cannot_rewind() -> None:
    placement = place([candidate(0, rows=100, common=60, reuse=0)], 120)
    assert placement.report.source is CacheSource.NONE
    assert placement.report.reason is MissReason.CANNOT_REWIND


def test_an_exact_repeat_is_no_miss() -> None:
    placement = place([candidate(0, rows=130, common=100, reuse=99)], 100)
    assert placement.report.reason is MissReason.NONE


@given(
    st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 5000), st.floats(0, 1e5)), min_size=1, max_size=8)
)
def test_reused_and_computed_make_the_prompt(slots: list[tuple[int, int, float]]) -> None:
    candidates = [
        candidate(i, rows=rows, common=min(rows, common, 4999), idle=idle)
        for i, (rows, common, idle) in enumerate(slots)
    ]
    placement = place(candidates, 5000)
    assert placement.report.reused + placement.report.computed == 5000
