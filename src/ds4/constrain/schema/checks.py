"""Whether the value of a keyword has the form that JSON schema demands."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeGuard

from ds4.constrain.schema.limits import MAX_COUNT, MAX_LITERAL_LEVELS

TYPES = ("null", "boolean", "number", "string", "array", "object")
"""Besides "integer", which is a kind of number."""


def is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def is_count(value: object) -> bool:
    return is_number(value) and value == int(value) and 0 <= value <= MAX_COUNT


def is_written(value: object, levels: int = MAX_LITERAL_LEVELS) -> bool:
    """Whether the library can write a value of the caller: integers only as far as a double holds them."""
    if isinstance(value, list | dict):
        inside = value if isinstance(value, list) else value.values()
        return levels > 0 and all(is_written(inner, levels - 1) for inner in inside)
    return not isinstance(value, int) or abs(value) <= 2**53


def is_schema(value: object) -> bool:
    return isinstance(value, bool | dict)


def _is_list(value: object) -> bool:
    return isinstance(value, list)


def _are_schemas(value: object) -> bool:
    return isinstance(value, list) and all(map(is_schema, value))


def _are_options(value: object) -> bool:
    return bool(value) and _are_schemas(value)


def _are_types(value: object) -> bool:
    names = [value] if isinstance(value, str) else value
    known = (*TYPES, "integer")
    return isinstance(names, list) and bool(names) and all(name in known for name in names)


def _are_names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_bound(value: object) -> bool:
    """Draft 4 has a boolean here."""
    return isinstance(value, bool) or is_number(value)


def _is_positive(value: object) -> bool:
    return is_number(value) and value > 0


def _is_anything(value: object) -> bool:  # noqa: ARG001
    return True


def _are_schemas_or_schema(value: object) -> bool:
    return is_schema(value) or _are_schemas(value)


FORMS: Mapping[str, Callable[[object], bool]] = MappingProxyType(
    {
        "$ref": _is_text,
        "additionalItems": is_schema,
        "additionalProperties": is_schema,
        "allOf": _are_schemas,
        "anyOf": _are_options,
        "const": _is_anything,
        "enum": _is_list,
        "exclusiveMaximum": _is_bound,
        "exclusiveMinimum": _is_bound,
        "format": _is_text,
        "items": _are_schemas_or_schema,
        "maxItems": is_count,
        "maxLength": is_count,
        "maxProperties": is_count,
        "maximum": is_number,
        "minItems": is_count,
        "minLength": is_count,
        "minProperties": is_count,
        "minimum": is_number,
        "multipleOf": _is_positive,
        "oneOf": _are_options,
        "pattern": _is_text,
        "patternProperties": is_object,
        "prefixItems": _are_schemas,
        "properties": is_object,
        "required": _are_names,
        "type": _are_types,
    }
)
"""Of every enforced keyword. The schemas inside a map are checked when they are reached."""

_TRIVIAL: Mapping[str, Callable[[object], bool]] = MappingProxyType(
    {
        "dependencies": lambda value: value == {},
        "dependentRequired": lambda value: value == {},
        "dependentSchemas": lambda value: value == {},
        "not": lambda value: value is False,
        "propertyNames": lambda value: value is True or value in ({}, {"type": "string"}),
        "unevaluatedItems": lambda value: value is True or value == {},
        "unevaluatedProperties": lambda value: value is True or value == {},
        "uniqueItems": lambda value: value is False,
    }
)


def says_nothing(keyword: str, node: Mapping[str, object]) -> bool:
    """Whether an unsupported keyword demands nothing here."""
    if keyword in ("then", "else"):
        return "if" not in node
    if keyword == "if":
        return "then" not in node and "else" not in node
    if keyword in ("minContains", "maxContains"):
        return "contains" not in node
    return keyword in _TRIVIAL and _TRIVIAL[keyword](node[keyword])
