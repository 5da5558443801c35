"""Results stand in the order of their calls, also where one of them names none."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_cases import call, say

from ds4.core.messages import Message
from ds4.prompt.results import in_call_order


def talk(calls: Sequence[str], results: Sequence[str | None]) -> list[Message]:
    asked = say("assistant", "", tool_calls=tuple(call("look", "{}", one) for one in calls))
    return [
        say("user", "u"),
        asked,
        *(say("tool", "r", tool_call_id=one) for one in results),
        say("user", "v"),
    ]


def order(calls: Sequence[str], *results: str | None) -> list[int]:
    """Of the results, counted from 0."""
    found = list(in_call_order(talk(calls, results)))
    assert found[:2] + found[-1:] == [0, 1, len(results) + 2]
    return [index - 2 for index in found[2:-1]]


@pytest.mark.parametrize(
    ("calls", "results", "wanted"),
    [
        ("ab", ["b", "a"], [1, 0]),
        ("ab", [None, None], [0, 1]),
        ("ab", [None, "b"], [0, 1]),
        ("ab", [None, "a"], [1, 0]),
        ("abc", ["c", "", "a"], [2, 1, 0]),
        ("ab", ["x", "b"], [0, 1]),
        ("ab", ["x", "y", "b"], [0, 2, 1]),
        (["", "b"], ["b", "x"], [1, 0]),
        (["", ""], ["x", "y"], [0, 1]),
        ("aa", ["a", "a"], [0, 1]),
        ("a", ["x", "a", "y"], [1, 0, 2]),
    ],
)
def test_an_id_leads_and_where_there_is_none_the_order_does(
    calls: Sequence[str], results: Sequence[str | None], wanted: list[int]
) -> None:
    assert order(calls, *results) == wanted


@given(st.lists(st.sampled_from("abcd"), unique=True), st.lists(st.sampled_from(["a", "b", "x", "", None])))
def test_none_is_lost_and_those_with_an_id_are_in_order(calls: list[str], results: list[str | None]) -> None:
    found = order(calls, *results)
    assert sorted(found) == list(range(len(results)))
    known = [calls.index(one) for at in found if (one := results[at]) in calls and one is not None]
    assert known == sorted(known)
