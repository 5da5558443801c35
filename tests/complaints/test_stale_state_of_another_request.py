"""Users report: a request lands on a slot that still holds another request's state, and the answer is
wrong. Greedy answers must equal a fresh server's for every interleaving."""

import asyncio
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ds4.core.step import Trim
from ds4.schedule.scheduler import CachePlan
from ds4.testing.inside import Setting, inside, text_of

half = settings(max_examples=settings().max_examples // 2)
"""Several servers run in each example."""
STEMS = ("the oak", "the oak stands", "the oak stands by the river", "an elm")


def reply(prompt: str) -> str:
    return f"[{hash_of(prompt)}]"


def hash_of(text: str) -> int:
    return sum((place + 1) * ord(letter) for place, letter in enumerate(text)) % 1_000_003


async def answers(questions: list[tuple[str, int]], trim: Trim, *, at_once: bool) -> list[str]:
    desk = inside(reply, Setting(n_slots=2, trim=trim, cache=CachePlan(ram=1 << 20)))
    calls = [desk.chat(("user", text), max_tokens=limit) for text, limit in questions]
    got = await asyncio.gather(*calls) if at_once else [await call for call in calls]
    return [text_of(answer) for answer in got]


@cache
def fresh(question: tuple[str, int], trim: Trim) -> str:
    (answer,) = asyncio.run(answers([question], trim, at_once=False))
    return answer


@pytest.mark.parametrize("trim", list(Trim))
@half
@given(st.lists(st.tuples(st.sampled_from(STEMS), st.integers(1, 12)), min_size=2, max_size=8), st.booleans())
def test_answers_do_not_depend_on_what_ran_before(
    trim: Trim, questions: list[tuple[str, int]], at_once: bool
) -> None:
    expected = [fresh(question, trim) for question in questions]
    assert asyncio.run(answers(questions, trim, at_once=at_once)) == expected
