"""A cleaned schema taken apart by type, for formats that write strings another way than JSON.

All of it rests on the normal form of `Cleaned`.
"""

from collections.abc import Iterator, Mapping

from ds4.constrain.schema.checks import TYPES
from ds4.constrain.schema.document import Schema
from ds4.constrain.schema.kinds import kind_of

_REFERENCE = "#/$defs/"


def types_of(schema: Schema) -> frozenset[str]:
    """The JSON types a cleaned schema allows: string, number, integer, boolean, null, array, object.

    "number" includes the integers; then "integer" is not there. A schema that says nothing allows six.
    """
    found = {kind for option in options(schema) for kind in _types(option)}
    return frozenset(found - {"integer"} if "number" in found else found)


def string_part(schema: Schema) -> Schema:
    """The schema of those strings that `schema` allows; False if none.

    Nothing but these forms, without `$ref`: {"type": "string"} with any of `pattern`, `minLength`,
    `maxLength`, `format`; {"const": string}; {"enum": [strings]}; {"allOf": [such]}; {"anyOf": [such]}.
    Patterns are in the library's words, not anchored.
    """
    return _any_of([part for option in options(schema) for part in _strings(option)])


def other_part(schema: Schema) -> Schema:
    """The schema of what `schema` allows besides strings; False if nothing. Self-contained."""
    return with_definitions(_any_of([part for option in options(schema) for part in _others(option)]), schema)


def options(schema: Schema) -> Iterator[Schema]:
    """What a value may be instead, without `anyOf` and `$ref` on top and without `$defs`."""
    definitions = definitions_of(schema)
    waiting, seen = [schema], set[str]()
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, bool):
            yield one
            continue
        reference, branches = one.get("$ref"), one.get("anyOf")
        if isinstance(reference, str):
            if reference not in seen:
                seen.add(reference)
                waiting.insert(0, definitions[reference.removeprefix(_REFERENCE)])
        elif isinstance(branches, list):
            waiting[:0] = branches
        else:
            yield {keyword: value for keyword, value in one.items() if keyword != "$defs"}


def definitions_of(schema: Schema) -> Mapping[str, Schema]:
    found = {} if isinstance(schema, bool) else schema.get("$defs", {})
    return found if isinstance(found, dict) else {}


def with_definitions(part: Schema, whole: Schema) -> Schema:
    """A part of a cleaned schema, with the definitions that it needs of the whole."""
    definitions = definitions_of(whole)
    if isinstance(part, bool) or not definitions:
        return part
    needed: dict[str, Schema] = {}
    waiting: list[object] = [part]
    while waiting:
        for reference in _references(waiting.pop()):
            if reference not in needed:
                needed[reference] = definitions[reference]
                waiting.append(needed[reference])
    return {**part, "$defs": needed} if needed else part


def _references(value: object) -> Iterator[str]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, dict):
            # Values of the caller are no schemas.
            waiting.extend(
                inner for keyword, inner in one.items() if keyword not in ("const", "enum", "$defs")
            )
            reference = one.get("$ref")
            if isinstance(reference, str):
                yield reference.removeprefix(_REFERENCE)


def _any_of(parts: list[Schema]) -> Schema:
    if not parts:
        return False
    return parts[0] if len(parts) == 1 else {"anyOf": parts}


def values_of(option: Schema) -> list[object] | None:
    """The values that an option lists; None if it lists none."""
    if isinstance(option, bool):
        return None
    if "const" in option:
        return [option["const"]]
    values = option.get("enum")
    return values if isinstance(values, list) else None


def _types(option: Schema) -> list[str]:
    if isinstance(option, bool):
        return list(TYPES) if option else []
    values = values_of(option)
    if values is not None:
        return [_narrow_kind(value) for value in values]
    return [str(option.get("type", "string"))]


def _narrow_kind(value: object) -> str:
    return "integer" if isinstance(value, int) and not isinstance(value, bool) else kind_of(value)


def _strings(option: Schema) -> Iterator[Schema]:
    values = values_of(option)
    if values is not None:
        yield from _listed([value for value in values if isinstance(value, str)])
    elif "string" in _types(option):
        yield {"type": "string"} if isinstance(option, bool) else option


def _others(option: Schema) -> Iterator[Schema]:
    values = values_of(option)
    if values is not None:
        yield from _listed([value for value in values if not isinstance(value, str)])
    elif isinstance(option, bool):
        yield from ({"type": kind} for kind in _types(option) if kind != "string")
    elif "string" not in _types(option):
        yield option


def _listed(values: list[object]) -> Iterator[Schema]:
    if values:
        yield {"const": values[0]} if len(values) == 1 else {"enum": values}
