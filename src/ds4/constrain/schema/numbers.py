"""Numbers: bounds and multiples.

The library computes bounds in doubles, writes them out, and takes the far digits of a bound for granted;
where that would let a wrong number through, the keyword counts as one that is not enforced.
"""

from fractions import Fraction

from ds4.constrain.schema.forms import Impossible, Leaf, Said, contradiction, number_of
from ds4.constrain.schema.kinds import types_said
from ds4.constrain.schema.nodes import Node
from ds4.constrain.schema.report import Report
from ds4.constrain.schema.steps import as_number, exact, first_at, last_at, multiples, step_of

MAX_WHOLE = 2**53
MAX_BOUND = 10**15
MIN_BOUND = 1e-9
_MINIMUM, _MAXIMUM = ("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")


def number_form(nodes: tuple[Node, ...], *, whole: bool, report: Report) -> Leaf:
    """Raises Impossible."""
    low, high = _bound(nodes, _MINIMUM, sign=1), _bound(nodes, _MAXIMUM, sign=-1)
    low, high = _written(low, whole, report), _written(high, whole, report)
    step = step_of(nodes, low, high, whole=whole, report=report)
    if low and high:
        _check(low, high, step, whole=whole)
    schema: dict[str, object] = {"type": "integer" if whole else "number"}
    if step and not whole:
        return Leaf(multiples(low, high, step))
    low, high = _open_ends(low, high, whole=whole, report=report)
    schema |= dict(_keyword(bound, whole=whole) for bound in (low, high) if bound)
    if step and step != 1:
        schema["multipleOf"] = as_number(step)
    return Leaf(schema)


def _bound(nodes: tuple[Node, ...], keywords: tuple[str, str], *, sign: int) -> Said | None:
    """The strictest. Draft 4 says with a boolean that the bound itself is excluded."""
    found = []
    for node in nodes:
        flag = node.keywords.get(keywords[1]) is True
        found += [
            Said(value, node, keyword, exclusive=keyword == keywords[1] or flag)
            for keyword in keywords
            if (value := number_of(node, keyword)) is not None
        ]
    return max(found, key=lambda one: (sign * exact(one.value), one.exclusive), default=None)


def _written(bound: Said | None, whole: bool, report: Report) -> Said | None:
    if bound is None:
        return None
    size = abs(bound.value)
    if size > (MAX_WHOLE if whole else MAX_BOUND) or (not whole and 0 < size < MIN_BOUND):
        report.lacks(bound.node.place, bound.keyword, f"of {bound.value} is not enforced by this server")
        return None
    return bound


def _check(low: Said, high: Said, step: Fraction | None, *, whole: bool) -> None:
    least, most = exact(low.value), exact(high.value)
    if least > most or (least == most and (low.exclusive or high.exclusive)):
        raise contradiction(low, high)
    step = step or (Fraction(1) if whole else None)
    if step and first_at(low, step) > last_at(high, step):
        kind = "integer" if step == 1 else f"multiple of {as_number(step)}"
        own = low.node == high.node and step == 1 and types_said((low.node,))[1]
        said = f"no {kind} between {low.value} and {high.value}"
        raise Impossible(high.node.place, high.keyword, said, own=own)


def _open_ends(
    low: Said | None, high: Said | None, *, whole: bool, report: Report
) -> tuple[Said | None, Said | None]:
    """A whole number that is excluded gets in where all else begins with the same digit."""
    if whole or not low or not high:
        return low, high
    gap = exact(high.value) - exact(low.value)
    if gap >= 1:
        return low, high
    if low.exclusive and low.value >= 0 and low.value == int(low.value):
        report.lacks(low.node.place, "exclusiveMinimum", f"of {low.value} is not enforced by this server")
        low = Said(low.value, low.node, low.keyword)
    if high.exclusive and high.value <= 0 and high.value == int(high.value):
        report.lacks(high.node.place, "exclusiveMaximum", f"of {high.value} is not enforced by this server")
        high = Said(high.value, high.node, high.keyword)
    return low, high


def _keyword(bound: Said, *, whole: bool) -> tuple[str, int | float]:
    is_low = bound.keyword in _MINIMUM
    if not whole:
        return (_MINIMUM if is_low else _MAXIMUM)[bound.exclusive], bound.value
    inside = first_at(bound, Fraction(1)) if is_low else last_at(bound, Fraction(1))
    return "minimum" if is_low else "maximum", int(inside)
