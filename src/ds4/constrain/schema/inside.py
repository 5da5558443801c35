"""Which schemas of an alternative are those of an item, or of a property."""

from collections.abc import Callable

from ds4.constrain.schema.document import Place
from ds4.constrain.schema.gather import Alternative, State
from ds4.constrain.schema.nodes import Node

Matches = Callable[[str, str], bool]
"""Whether a pattern (the caller's) is found in a name."""


def prefix_of(node: Node) -> list[Place]:
    """Draft 7 wrote `items` with an array for what is `prefixItems` now."""
    for keyword in ("prefixItems", "items"):
        value = node.keywords.get(keyword)
        if isinstance(value, list):
            return [node.place.child(keyword, index) for index in range(len(value))]
    return []


def rest_of(node: Node) -> State:
    """The schema of items after the prefix, if there is one."""
    keyword = "additionalItems" if isinstance(node.keywords.get("items"), list) else "items"
    return (node.place.child(keyword),) if keyword in node.keywords else ()


def item_states(alternative: Alternative, count: int) -> list[State]:
    """Of the first `count` items. Behind the longest prefix all are alike."""
    ways = [(prefix_of(node), rest_of(node)) for node in alternative]
    return [
        tuple(place for prefix, rest in ways for place in (prefix[at : at + 1] or rest))
        for at in range(count)
    ]


def names_of(node: Node) -> list[str]:
    """Those of `properties`, in order."""
    value = node.keywords.get("properties")
    return list(value) if isinstance(value, dict) else []


def required_of(node: Node) -> list[str]:
    value = node.keywords.get("required")
    return [name for name in value if isinstance(name, str)] if isinstance(value, list) else []


def patterns_of(node: Node) -> list[str]:
    value = node.keywords.get("patternProperties")
    return list(value) if isinstance(value, dict) else []


def property_state(alternative: Alternative, name: str, matches: Matches) -> State:
    state: State = ()
    for node in alternative:
        own: State = (node.place.child("properties", name),) if name in names_of(node) else ()
        own += tuple(
            node.place.child("patternProperties", pattern)
            for pattern in patterns_of(node)
            if matches(pattern, name)
        )
        state += own or others_of(node)
    return state


def others_of(node: Node) -> State:
    return (node.place.child("additionalProperties"),) if "additionalProperties" in node.keywords else ()
