"""All schemas that one value must match at once.

A state is a tuple of places: the value matches every one of them. `$ref` and `allOf` add places to it,
`anyOf` and `oneOf` split it. What is left is a list of nodes for each alternative, and what they say about
one type is read together (`numbers`, `texts`, `arrays`, `objects`). States are made of the places of one
document, so a recursive schema ends by meeting a state again.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

from ds4.constrain.schema.document import Document, Place
from ds4.constrain.schema.limits import MAX_ALTERNATIVES, MAX_ONE_OF, too_much
from ds4.constrain.schema.nodes import Node, Nodes
from ds4.constrain.schema.report import Report
from ds4.constrain.schema.work import Work

State = tuple[Place, ...]
Alternative = tuple[Node, ...]
"""Nodes in the order in which their properties are written."""


@dataclass(slots=True)
class _Walk:
    """`choices` are the lists of branches that are still to be decided, with the keyword that has them."""

    nodes: list[Node] = field(default_factory=list)
    seen: set[Place] = field(default_factory=set)
    choices: list[tuple[Place, list[Place]]] = field(default_factory=list)

    def copy(self) -> "_Walk":
        return _Walk(list(self.nodes), set(self.seen), list(self.choices))


class Gatherer:
    """`is_impossible` says of an alternative that no value matches it. In doubt it says no."""

    def __init__(
        self,
        document: Document,
        nodes: Nodes,
        report: Report,
        work: Work,
        is_impossible: Callable[[Alternative], bool],
    ) -> None:
        self._document = document
        self._nodes = nodes
        self._report = report
        self._work = work
        self._is_impossible = is_impossible
        self._is_judging = False

    def alternatives(self, state: State) -> list[Alternative]:
        """Those of a value that matches the whole state; none if nothing can.

        Of `oneOf` they are those of its branches; where those overlap, that is reported.
        """
        walk = _Walk()
        if not self._add(walk, state):
            return []
        found: list[Alternative] = []
        for alternative in self._decided(walk):
            found.append(alternative)
            if len(found) > MAX_ALTERNATIVES:
                raise too_much(
                    self._document.name(state[0]), f"has more than {MAX_ALTERNATIVES} alternatives"
                )
        return found

    def short(self, state: State) -> State:
        """The same state in as few places as can be seen: many references lead to one schema."""
        places = [self._followed(place) for place in state]
        return tuple(dict.fromkeys(place for place in places if self._nodes.at(place) is not True))

    def _followed(self, place: Place) -> Place:
        seen: set[Place] = set()
        while place not in seen:
            seen.add(place)
            node = self._nodes.at(place)
            if not isinstance(node, Node) or node.keywords.keys() != {"$ref"}:
                break
            place = self._document.target(str(node.keywords["$ref"]), place) or place
        return place

    def _decided(self, start: _Walk) -> Iterator[Alternative]:
        waiting = [start]
        while waiting:
            walk = waiting.pop()
            if not walk.choices:
                yield tuple(walk.nodes)
                continue
            place, branches = walk.choices.pop(0)
            if place.keys[-1] == "oneOf" and not self._is_judging:
                self._judge(walk, place, branches)
            chosen = [(walk.copy(), branch) for branch in branches]
            waiting.extend(reversed([walk for walk, branch in chosen if self._add(walk, (branch,))]))

    def _judge(self, walk: _Walk, place: Place, branches: list[Place]) -> None:
        """`oneOf` is `anyOf` where no value matches two of its branches."""
        self._is_judging = True
        few = len(branches) <= MAX_ONE_OF
        if not few or any(self._overlap(walk, pair) for pair in combinations(branches, 2)):
            why = "with schemas that a value may match two of is not enforced by this server"
            self._report.lacks(Place(place.keys[:-1], None), "oneOf", why)
        self._is_judging = False

    def _overlap(self, walk: _Walk, pair: State) -> bool:
        both = walk.copy()
        return self._add(both, pair) and not all(map(self._is_impossible, self._decided(both)))

    def _add(self, walk: _Walk, places: State) -> bool:
        """False if nothing can match."""
        waiting: list[Place | Node] = list(reversed(places))
        while waiting:
            place = waiting.pop()
            if isinstance(place, Node):
                walk.nodes.append(place)
                continue
            if place in walk.seen:
                continue
            self._work.spend(place)
            walk.seen.add(place)
            node = self._nodes.at(place)
            if node is False:
                return False
            if isinstance(node, Node):
                waiting.extend(reversed(self._parts(walk, node)))
        return True

    def _parts(self, walk: _Walk, node: Node) -> list[Place | Node]:
        """The node itself and what it includes, in the order of its keywords."""
        parts: list[Place | Node] = []
        for keyword, value in node.keywords.items():
            inner = node.place.child(keyword)
            if keyword == "$ref":
                target = self._document.target(str(value), node.place)
                if target is None:
                    self._report.lacks(node.place, "$ref", "is not a place in the same schema")
                else:
                    parts.append(target)
            elif keyword in ("allOf", "anyOf", "oneOf") and isinstance(value, list):
                branches = [inner.child(index) for index in range(len(value))]
                if keyword == "allOf":
                    parts.extend(branches)
                else:
                    walk.choices.append((inner, branches))
            elif node not in parts:
                parts.append(node)
        return parts
