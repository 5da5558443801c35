"""Numbers next to bounds, each as it is written."""

import itertools
import json
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schema_machine import Machine, Verdict, attempt

from ds4.core.errors import BadRequest

EDGES = [0, 1, 0.5, -0.5, 1.5, -1.5, 2, -1, 10, 99, 0.25, 0.001, -100, 123456.789, 2**53 - 1, -(2**53) + 1]
TEXTS = [
    "0",
    "-0",
    "1",
    "2",
    "-1",
    "-2",
    "0.5",
    "0.49",
    "0.51",
    "-0.5",
    "-0.49",
    "1.5",
    "1.2",
    "-1.2",
    "9.5",
    "10",
]
TEXTS += [
    "10.5",
    "99",
    "100",
    "-100",
    "-100.5",
    "0.001",
    "0.0009",
    "0.25",
    "123456.789",
    str(2**53),
    str(1 - 2**53),
]
LOW, HIGH = ("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")


@given(
    st.sampled_from(["number", "integer"]),
    st.dictionaries(st.sampled_from([*LOW, *HIGH]), st.sampled_from(EDGES), max_size=3),
    st.sampled_from([None, None, 1, 3, 0.5, 0.25, 10]),
)
def test_bounds_hold(kind: str, bounds: dict[str, Any], step: float | None) -> None:
    schema = {"type": kind, **bounds, **({"multipleOf": step} if step else {})}
    strict, found, verdict = attempt(schema, strict=True), attempt(schema, strict=False), Verdict(schema)
    if isinstance(found, BadRequest):
        assert not any(map(verdict.on_text, TEXTS))
        return
    machine = Machine(found.schema)
    for text in TEXTS:
        written = "." not in text or kind == "number"
        # A negative zero is only written where there are no bounds.
        if written and text != "-0" and verdict.on_text(text):
            assert machine.takes_text(text) or machine.takes_text(padded(text, step))
        elif not isinstance(strict, BadRequest) and not verdict.on_text(text):
            assert not machine.takes_text(text)


def padded(text: str, step: float | None) -> str:
    """Multiples of 0.25 are written without a fraction or with two digits of it."""
    return f"{Decimal(text):.{len(str(step or 0).partition('.')[2])}f}"


@pytest.mark.parametrize("keyword", [*LOW, *HIGH])
@pytest.mark.parametrize(("kind", "bound"), [("integer", 2**53 + 1), ("number", 1e16), ("number", 1e-10)])
def test_bounds_out_of_reach_are_not_enforced(keyword: str, kind: str, bound: float) -> None:
    error = attempt({"type": kind, keyword: bound}, strict=True)
    assert isinstance(error, BadRequest)
    assert error.param == f"s.{keyword}"


def test_multiples_together() -> None:
    for one, other in itertools.product([2, 3, 0.5, 0.3, 12], [2, 4, 0.2, 1.5]):
        schema = {"allOf": [{"type": "number", "multipleOf": one}, {"multipleOf": other}]}
        found, verdict = attempt(schema, strict=True), Verdict(schema)
        assert not isinstance(found, BadRequest)
        machine = Machine(found.schema)
        for text in ("0", "1", "2", "3", "4", "6", "12", "-12", "1.5", "0.6", "2.5", "0.2"):
            assert machine.takes_text(text) == verdict.on_text(text), json.dumps(schema)


@pytest.mark.parametrize("step", [0.07, 1e-9, 10_001, 99_999_999, 123.456])
def test_steps_that_the_library_cannot_count_in(step: float) -> None:
    error = attempt({"type": "number", "multipleOf": step}, strict=True)
    assert isinstance(error, BadRequest)
    assert error.param == "s.multipleOf"


@pytest.mark.parametrize(
    ("step", "right"), [(10_000, "30000"), (1e-8, "0.00000007"), (9973, "-9973"), (99.73, "99.73")]
)
def test_steps_at_the_limit(step: float, right: str) -> None:
    found = attempt({"type": "number", "multipleOf": step, "minimum": -10_000}, strict=True)
    assert not isinstance(found, BadRequest)
    machine = Machine(found.schema)
    assert machine.takes_text(right)
    assert not machine.takes_text(right + "1")
