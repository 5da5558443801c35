"""The six types of JSON; "integer" is not a seventh but a kind of number."""

from ds4.constrain.schema.checks import TYPES
from ds4.constrain.schema.nodes import Node

_KINDS: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}


def kind_of(value: object) -> str:
    """Of a value as JSON was read."""
    return _KINDS[type(value)]


def types_said(nodes: tuple[Node, ...]) -> tuple[list[str], bool]:
    """The types that all nodes allow, and whether numbers must be whole."""
    kinds, whole = list(TYPES), False
    for node in nodes:
        said = node.keywords.get("type")
        if said is None:
            continue
        names = said if isinstance(said, list) else [said]
        allowed = {"number" if name == "integer" else name for name in names}
        kinds = [kind for kind in kinds if kind in allowed]
        whole = whole or ("integer" in names and "number" not in names)
    return kinds, whole
