"""Values that are listed one by one (`enum`, `const`), and whether a value matches a schema."""

from collections.abc import Callable, Hashable
from fractions import Fraction

from ds4.constrain.schema.document import Place
from ds4.constrain.schema.formats import format_leaf
from ds4.constrain.schema.forms import Impossible, Leaf, number_of
from ds4.constrain.schema.gather import Alternative, State
from ds4.constrain.schema.inside import Matches, item_states, property_state, required_of
from ds4.constrain.schema.kinds import kind_of, types_said
from ds4.constrain.schema.library import possible
from ds4.constrain.schema.nodes import Node, Nodes

Alternatives = Callable[[State], list[Alternative]]


def listed(alternative: Alternative) -> tuple[Place, list[object]] | None:
    """The values that every list of the alternative has, and where the first list is; None without a list."""
    found: tuple[Place, list[object]] | None = None
    for node in alternative:
        for keyword in ("enum", "const"):
            if keyword not in node.keywords:
                continue
            values = _values(node, keyword)
            if not values:
                raise Impossible(node.place, keyword, "the list is empty", own=True)
            if found is None:
                found = (node.place.child(keyword), values)
            else:
                known = set(map(_identity, values))
                found = (found[0], [value for value in found[1] if _identity(value) in known])
    return found


class Judge:
    """Says whether a value matches a state, by all that is enforced."""

    def __init__(self, alternatives: Alternatives, nodes: Nodes, matches: Matches) -> None:
        self._alternatives = alternatives
        self._nodes = nodes
        self._matches = matches
        self._lists: dict[tuple[Place, str], frozenset[Hashable]] = {}

    def holds(self, value: object, state: State) -> bool:
        return not state or any(self.fits(value, one) for one in self._alternatives(state))

    def fits(self, value: object, alternative: Alternative) -> bool:
        kinds, whole = types_said(alternative)
        if kind_of(value) not in kinds or (whole and isinstance(value, float) and value != int(value)):
            return False
        return all(self._agrees(value, node) for node in alternative) and self._inside(value, alternative)

    def _inside(self, value: object, alternative: Alternative) -> bool:
        if isinstance(value, list):
            states = item_states(alternative, len(value))
            return all(self.holds(item, state) for item, state in zip(value, states, strict=True))
        if isinstance(value, dict):
            return all(
                self.holds(inner, property_state(alternative, name, self._matches))
                for name, inner in value.items()
            )
        return True

    def _agrees(self, value: object, node: Node) -> bool:
        if not all(self._is_among(value, node, keyword) for keyword in ("enum", "const")):
            return False
        if isinstance(value, str):
            return _in(len(value), node, "minLength", "maxLength") and self._reads(value, node)
        if isinstance(value, list):
            return _in(len(value), node, "minItems", "maxItems")
        if isinstance(value, dict):
            wanted = all(name in value for name in required_of(node))
            return wanted and _in(len(value), node, "minProperties", "maxProperties")
        if isinstance(value, int | float) and not isinstance(value, bool):
            return _fits_number(value, node)
        return True

    def _is_among(self, value: object, node: Node, keyword: str) -> bool:
        if keyword not in node.keywords:
            return True
        if (node.place, keyword) not in self._lists:
            self._lists[node.place, keyword] = frozenset(map(_identity, _values(node, keyword)))
        return _identity(value) in self._lists[node.place, keyword]

    def _reads(self, value: str, node: Node) -> bool:
        pattern, name = node.keywords.get("pattern"), node.keywords.get("format")
        if isinstance(pattern, str) and not self._matches(pattern, value):
            return False
        return not isinstance(name, str) or possible(format_leaf(name), {"const": value})


def literals(values: list[object]) -> Leaf:
    return Leaf({"const": values[0]} if len(values) == 1 else {"enum": values})


def _values(node: Node, keyword: str) -> list[object]:
    stated = node.keywords[keyword]
    return stated if keyword == "enum" and isinstance(stated, list) else [stated]


def _fits_number(value: float, node: Node) -> bool:
    exact = Fraction(repr(value))
    step = number_of(node, "multipleOf")
    if step is not None and exact % Fraction(repr(step)):
        return False
    for low, high in (("minimum", "maximum"), ("exclusiveMinimum", "exclusiveMaximum")):
        if not _in(exact, node, low, high):
            return False
    lowest, highest = number_of(node, "exclusiveMinimum"), number_of(node, "exclusiveMaximum")
    if node.keywords.get("exclusiveMinimum") is True:
        lowest = number_of(node, "minimum")
    if node.keywords.get("exclusiveMaximum") is True:
        highest = number_of(node, "maximum")
    return value not in (lowest, highest)


def _in(size: int | Fraction, node: Node, least: str, most: str) -> bool:
    low, high = number_of(node, least), number_of(node, most)
    return (low is None or size >= Fraction(repr(low))) and (high is None or size <= Fraction(repr(high)))


def _identity(value: object) -> Hashable:
    """Equal for values that are equal in JSON schema: 1 is 1.0 and not true."""
    if isinstance(value, list):
        return ("array", *map(_identity, value))
    if isinstance(value, dict):
        return ("object", frozenset((name, _identity(inner)) for name, inner in value.items()))
    return (kind_of(value), value)
