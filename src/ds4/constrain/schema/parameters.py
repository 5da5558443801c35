"""The members of an object that a cleaned schema allows, for formats that write each of them on its own."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ds4.constrain.schema.complement import all_but
from ds4.constrain.schema.document import Schema
from ds4.constrain.schema.parts import options, values_of, with_definitions


@dataclass(frozen=True, slots=True)
class Parameter:
    """`schema` is self-contained, and can be matched."""

    name: str
    schema: Schema
    required: bool


@dataclass(frozen=True, slots=True)
class Parameters:
    """The properties of one kind of object, in the order they are written.

    `others` is the schema of properties with any other name, but none of `forbidden`; False: there are none.
    `lost` are keywords of the object that these fields do not say (minProperties, patternProperties, ...):
    whoever writes the object from these fields does not enforce them, so a strict tool with any is refused.
    """

    named: tuple[Parameter, ...] = ()
    others: Schema = True
    forbidden: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()


def parameters(schema: Schema) -> tuple[Parameters, ...]:
    """What an object of this cleaned schema can have; several for alternatives (anyOf, oneOf), none if the
    schema allows no object. Keywords for values that are not objects do not matter here."""
    return tuple(found for option in options(schema) for found in _parameters(option, schema))


def _parameters(option: Schema, whole: Schema) -> Iterator[Parameters]:
    if isinstance(option, bool):
        yield from [Parameters()] if option else []
        return
    values = values_of(option)
    for value in values or ():
        if isinstance(value, dict):
            named = (Parameter(str(name), {"const": inner}, required=True) for name, inner in value.items())
            yield Parameters(tuple(named), others=False)
    if option.get("type") == "object":
        yield _of_object(option, whole)


def _of_object(option: Mapping[str, object], whole: Schema) -> Parameters:
    properties, required = _map(option, "properties"), option.get("required")
    patterns, others = _map(option, "patternProperties"), _schema(option.get("additionalProperties", True))
    lost = [keyword for keyword in ("minProperties", "maxProperties") if keyword in option]
    if list(patterns) == [all_but(properties)]:
        others = next(iter(patterns.values()))
    elif patterns:
        lost.append("patternProperties")
        # A name by a pattern is another name then: better allowed than forbidden.
        others = True
    return Parameters(
        named=tuple(
            Parameter(name, with_definitions(schema, whole), isinstance(required, list) and name in required)
            for name, schema in properties.items()
            if schema is not False
        ),
        others=with_definitions(others, whole),
        forbidden=tuple(name for name, schema in properties.items() if schema is False),
        lost=tuple(lost),
    )


def _map(option: Mapping[str, object], keyword: str) -> dict[str, Schema]:
    found = option.get(keyword)
    return {str(name): _schema(schema) for name, schema in found.items()} if isinstance(found, dict) else {}


def _schema(value: object) -> Schema:
    return value if isinstance(value, bool | dict) else True
