"""Objects: named members in a fixed order, members by pattern, and others.

`additionalProperties` belongs to the `properties` and `patternProperties` beside it: of each schema that must
hold, a name is covered by those or else by that.
"""

from collections.abc import Iterator

from ds4.constrain.schema.forms import Impossible, Member, ObjectForm, contradiction, strictest
from ds4.constrain.schema.gather import Alternative, State
from ds4.constrain.schema.inside import Matches, names_of, others_of, patterns_of, property_state, required_of
from ds4.constrain.schema.library import possible
from ds4.constrain.schema.limits import MAX_PATTERNS
from ds4.constrain.schema.nodes import Node, Nodes
from ds4.constrain.schema.report import Report

_OF_OBJECTS = ("patternProperties", "additionalProperties", "minProperties", "maxProperties", "properties")


def object_form(alternative: Alternative, nodes: Nodes, matches: Matches, report: Report) -> ObjectForm:
    """Raises Impossible."""
    low = strictest(alternative, "minProperties", largest=True)
    high = strictest(alternative, "maxProperties", largest=False)
    if low and high and low.value > high.value:
        raise contradiction(low, high)
    required = {name: node for node in alternative for name in required_of(node)}
    if high and len(required) > high.value:
        raise Impossible(high.node.place, high.keyword, f"{len(required)} properties are required")
    names = dict.fromkeys([*(name for node in alternative for name in names_of(node)), *required])
    alternative = tuple(_with_own_patterns(alternative, list(names), nodes, matches, report))
    patterns = dict.fromkeys(pattern for node in alternative for pattern in patterns_of(node))
    return ObjectForm(
        members=tuple(
            Member(name, property_state(alternative, name, matches), name in required) for name in names
        ),
        patterns=tuple((nodes.regex(pattern), _pattern_state(alternative, pattern)) for pattern in patterns),
        others=tuple(place for node in alternative for place in others_of(node)),
        least=int(low.value) if low else 0,
        most=int(high.value) if high else None,
        at=next(
            (node.place for node in alternative if not node.keywords.keys().isdisjoint(_OF_OBJECTS)), None
        ),
    )


def _pattern_state(alternative: Alternative, pattern: str) -> State:
    state: State = ()
    for node in alternative:
        own = (node.place.child("patternProperties", pattern),) if pattern in patterns_of(node) else ()
        state += own or others_of(node)
    return state


def _with_own_patterns(
    alternative: Alternative, names: list[str], nodes: Nodes, matches: Matches, report: Report
) -> Iterator[Node]:
    """Without the patterns that share names with others, or with what is declared."""
    kept: list[str] = []
    for node in alternative:
        new = [pattern for pattern in patterns_of(node) if pattern not in kept]
        before = len(kept)
        for pattern in new if before + len(new) <= MAX_PATTERNS else ():
            apart = all(_apart(nodes.regex(pattern), nodes.regex(other)) for other in kept)
            if apart and (
                _is_free(_pattern_state(alternative, pattern))
                or not any(matches(pattern, name) for name in names)
            ):
                kept.append(pattern)
        if len(kept) - before == len(new):
            yield node
            continue
        del kept[before:]
        why = "that are many, or share names among them or with properties, are not enforced by this server"
        report.lacks(node.place, "patternProperties", why)
        lost = ("patternProperties", "additionalProperties")
        yield Node(node.place, {key: value for key, value in node.keywords.items() if key not in lost})


def _is_free(state: State) -> bool:
    return all(place.value is True or place.value == {} for place in state)


def _apart(one: str, other: str) -> bool:
    return not possible({"type": "string", "pattern": one}, {"type": "string", "pattern": other})
