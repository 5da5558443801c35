"""What a tool's schema says about the types of its parameters, as far as reading and writing values needs it.

A value without markup of its own is read by this: where the schema says string it is text, where it says
something else it is JSON, where it says both or nothing the value decides.
"""

Types = frozenset[str]
"""JSON schema type names; empty when nothing is known."""

UNKNOWN: Types = frozenset()
_MAX_DEPTH = 16
_NAMES = {str: "string", bool: "boolean", int: "integer", float: "number", type(None): "null"}
_NAMES |= {list: "array", dict: "object"}


def declared(arguments: object) -> dict[str, Types]:
    """The types of each parameter, by the schema of a tool's arguments. A broken schema has none."""
    properties = arguments.get("properties") if isinstance(arguments, dict) else None
    if not isinstance(properties, dict):
        return {}
    return {name: _types(schema, arguments, _MAX_DEPTH) for name, schema in properties.items()}


def type_of(value: object) -> str:
    return _NAMES[type(value)]


def allows(types: Types, kind: str) -> bool:
    """Whether a JSON value of type `kind` is one of `types`; unknown types allow all."""
    return not types or kind in types or (kind == "integer" and "number" in types)


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
