"""Multiples of a number. All arithmetic is exact, on numbers as they are written."""

import math
from fractions import Fraction

from ds4.constrain.schema.forms import Said, number_of
from ds4.constrain.schema.nodes import Node
from ds4.constrain.schema.report import Report

MAX_STEP = 10_000
"""The library makes a state of each remainder, and goes through all of them."""
MAX_DIGITS = 8
_MAX_MULTIPLES = 10**12
"""Between zero and a bound: so far a double tells them apart."""


def exact(value: float) -> Fraction:
    """Not the double, but what was written."""
    return Fraction(repr(value))


def as_number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)


def step_of(
    nodes: tuple[Node, ...], low: Said | None, high: Said | None, *, whole: bool, report: Report
) -> Fraction | None:
    """What a number must be a multiple of, if anything is said of that."""
    step: Fraction | None = None
    for node in nodes:
        value = number_of(node, "multipleOf")
        if value is None:
            continue
        both = _common(step or exact(value), exact(value), Fraction(1) if whole else exact(value))
        far = any(abs(exact(bound.value)) > _MAX_MULTIPLES * both for bound in (low, high) if bound)
        if far or not _is_counted(exact(value)) or not _is_counted(both):
            report.lacks(node.place, "multipleOf", f"of {value} is not enforced by this server")
        else:
            step = both
    return step


def first_at(low: Said, step: Fraction) -> Fraction:
    """The least multiple that the bound allows."""
    least = exact(low.value)
    first = math.ceil(least / step) * step
    return first + step if low.exclusive and first == least else first


def last_at(high: Said, step: Fraction) -> Fraction:
    most = exact(high.value)
    last = math.floor(most / step) * step
    return last - step if high.exclusive and last == most else last


def multiples(low: Said | None, high: Said | None, step: Fraction) -> dict[str, object]:
    """A schema of all multiples that the bounds allow, of which there is one.

    The library writes multiples with as many digits behind the point as the step has, and takes no trailing
    zeros in a number that is a bound, or just beside an excluded one. So the bounds are put between the
    multiples, and numbers below zero are apart: it excludes the zero of those.
    """
    first, last = first_at(low, step) if low else None, last_at(high, step) if high else None
    if first is None and last is None:
        return _stretch(None, None, step)
    if (first is not None and first >= 0) or (last is not None and last < 0):
        return _stretch(first, last, step)
    return {"anyOf": [_stretch(first, -step, step), _stretch(Fraction(0), last, step)]}


def _stretch(first: Fraction | None, last: Fraction | None, step: Fraction) -> dict[str, object]:
    schema: dict[str, object] = {"type": "number", "multipleOf": as_number(step)}
    if first is not None:
        schema["minimum"] = float(first - step / 2) if first else 0
    if last is not None:
        schema["maximum"] = float(last + step / 2)
    return schema


def _is_counted(step: Fraction) -> bool:
    """Whether the library's loop finds the decimal digits of this number, and can count in them."""
    value, digits = float(step), 0
    while value % 1 and digits <= MAX_DIGITS:
        value, digits = value * 10, digits + 1
    fits = not value % 1 and 0 < value <= MAX_STEP and digits <= MAX_DIGITS
    return fits and Fraction(int(value), 10**digits) == step


def _common(*steps: Fraction) -> Fraction:
    scale = math.lcm(*(step.denominator for step in steps))
    return Fraction(math.lcm(*(int(step * scale) for step in steps)), scale)
