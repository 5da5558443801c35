"""What the callers' tools say about their parameters, as far as reading values needs it."""

from collections.abc import Iterable

import orjson

from ds4.core.messages import Tool

Types = frozenset[str]
"""JSON schema type names; empty when nothing is known."""

UNKNOWN: Types = frozenset()
_MAX_DEPTH = 16
_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_NAMES |= {list: "array", dict: "object"}


class Schemas:
    """Reads a tool's schema when a call names it, not before: clients send many."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._raw = {tool.name: tool.raw for tool in tools}

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._raw)

    def parameters(self, tool: str) -> dict[str, Types]:
        """The types of each parameter. Unknown tools and broken schemas have none."""
        try:
            function = orjson.loads(self._raw.get(tool, "{}"))
        except orjson.JSONDecodeError:
            return {}
        root = function.get("parameters") or function.get("input_schema") if _is_dict(function) else None
        properties = root.get("properties") if isinstance(root, dict) else None
        if not isinstance(properties, dict):
            return {}
        return {name: _types(schema, root, _MAX_DEPTH) for name, schema in properties.items()}


def type_of(value: object) -> str:
    return _NAMES[type(value)]


def allows(types: Types, kind: str) -> bool:
    """Whether a JSON value of type `kind` is one of `types`; unknown types allow all."""
    return not types or kind in types or (kind == "integer" and "number" in types)


def _is_dict(value: object) -> bool:
    return isinstance(value, dict)


def _types(schema: object, root: object, depth: int) -> Types:
    if not isinstance(schema, dict) or not depth:
        return UNKNOWN
    named = schema.get("type")
    if isinstance(named, str):
        return frozenset([named])
    if isinstance(named, list):
        return frozenset(name for name in named if isinstance(name, str))
    if isinstance(reference := schema.get("$ref"), str):
        return _types(_target(reference, root), root, depth - 1)
    return _of_values(schema) or _of_branches(schema, root, depth)


def _of_values(schema: dict[str, object]) -> Types:
    values = schema.get("enum", [schema["const"]] if "const" in schema else None)
    return frozenset(map(type_of, values)) if isinstance(values, list) else UNKNOWN


def _of_branches(schema: dict[str, object], root: object, depth: int) -> Types:
    for keyword in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(keyword)
        if isinstance(branches, list):
            found = [_types(branch, root, depth - 1) for branch in branches]
            known = [types for types in found if types]
            # A branch that says nothing allows everything, unless all must hold.
            if keyword == "allOf":
                return frozenset.intersection(*known) if known else UNKNOWN
            return frozenset.union(*known) if known and len(known) == len(found) else UNKNOWN
    return UNKNOWN


def _target(reference: str, root: object) -> object:
    """What a reference inside the same schema points at, None for any other."""
    if not reference.startswith("#/"):
        return None
    for part in reference[2:].split("/"):
        root = root.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(root, dict) else None
    return root
