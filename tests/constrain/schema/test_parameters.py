"""A cleaned schema taken apart: by type, and by the members of an object."""

from typing import Any

import pytest
from schema_machine import attempt

from ds4.constrain.schema import Cleaned, Parameter, Parameters, other_part, parameters, string_part, types_of
from ds4.constrain.schema.document import Schema

OPEN: dict[str, Any] = {"type": "object"}
STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def made(schema: object) -> Schema:
    found = attempt(schema, strict=False)
    assert isinstance(found, Cleaned)
    return found.schema


def one(schema: object) -> Parameters:
    (found,) = parameters(made(schema))
    return found


@pytest.mark.parametrize(
    ("schema", "types", "strings", "others"),
    [
        (STRING, {"string"}, STRING, False),
        (INTEGER, {"integer"}, False, INTEGER),
        (
            {"type": ["string", "null"], "minLength": 2},
            {"string", "null"},
            {**STRING, "minLength": 2},
            {"type": "null"},
        ),
        (
            {"enum": ["a", 1, "b", None]},
            {"string", "integer", "null"},
            {"enum": ["a", "b"]},
            {"enum": [1, None]},
        ),
        ({"const": "a"}, {"string"}, {"const": "a"}, False),
        ({"type": ["number", "integer"]}, {"number"}, False, {"type": "number"}),
        (
            {"anyOf": [{**STRING, "pattern": "^a"}, {"const": 1.5}]},
            {"string", "number"},
            {**STRING, "pattern": "^a"},
            {"const": 1.5},
        ),
        (
            {"allOf": [{**STRING, "pattern": "^a"}, {"pattern": "b$"}]},
            {"string"},
            {"allOf": [{**STRING, "pattern": "^a"}, {**STRING, "pattern": "b$"}]},
            False,
        ),
    ],
)
def test_types_and_parts(schema: object, types: set[str], strings: object, others: object) -> None:
    found = made(schema)
    assert types_of(found) == types
    assert string_part(found) == strings
    assert other_part(found) == others


def test_a_schema_that_says_nothing_has_six_types() -> None:
    assert types_of(True) == {"null", "boolean", "number", "string", "array", "object"}
    assert types_of(False) == set()
    assert string_part(True) == STRING


def test_members_are_in_order_and_know_whether_they_must_be_there() -> None:
    schema = {
        **OPEN,
        "properties": {"b": STRING, "a": INTEGER},
        "required": ["a"],
        "additionalProperties": False,
    }
    members = (Parameter("b", STRING, required=False), Parameter("a", INTEGER, required=True))
    assert one(schema) == Parameters(members, others=False)


def test_other_names() -> None:
    assert one({**OPEN, "properties": {"a": STRING}}).others is True
    assert one({**OPEN, "properties": {"a": STRING}, "additionalProperties": INTEGER}).others == INTEGER
    assert one({**OPEN, "additionalProperties": INTEGER}) == Parameters(others=INTEGER)
    assert one({}) == Parameters()
    assert one({**OPEN, "required": ["x"]}).named == (Parameter("x", True, required=True),)


def test_names_that_must_not_be_there() -> None:
    found = one({**OPEN, "properties": {"a": False, "b": STRING}})
    assert found.forbidden == ("a",)
    assert [member.name for member in found.named] == ["b"]


def test_what_the_fields_do_not_say_is_lost() -> None:
    assert one(
        {**OPEN, "properties": {"a": STRING}, "minProperties": 1, "additionalProperties": False}
    ).lost == ("minProperties",)
    assert one({**OPEN, "patternProperties": {"^a": STRING}, "additionalProperties": False}).lost == (
        "patternProperties",
    )
    assert one({**OPEN, "properties": {"a": STRING}, "required": ["a"], "minProperties": 1}).lost == ()


def test_references_and_all_of_are_resolved() -> None:
    base = {"properties": {"a": STRING}, "required": ["a"], "type": "object"}
    schema = {"$ref": "#/$defs/base", "allOf": [{"properties": {"b": INTEGER}}], "$defs": {"base": base}}
    assert [(member.name, member.required) for member in one(schema).named] == [("a", True), ("b", False)]


def test_alternatives() -> None:
    found = parameters(
        made({**OPEN, "properties": {"a": {}, "b": {}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]})
    )
    assert [[member.required for member in kind.named] for kind in found] == [[True, False], [False, True]]
    assert parameters(made({"type": "string"})) == ()
    listed = parameters(made({"enum": [{"a": 1}, "b"]}))
    assert listed == (Parameters((Parameter("a", {"const": 1}, required=True),), others=False),)


def test_each_member_carries_the_definitions_it_needs_and_no_others() -> None:
    tree = {**OPEN, "properties": {"left": {"$ref": "#/$defs/tree"}}}
    found = one(
        {**OPEN, "properties": {"t": {"$ref": "#/$defs/tree"}, "n": INTEGER}, "$defs": {"tree": tree}}
    )
    schemas = {member.name: member.schema for member in found.named}
    assert schemas["n"] == INTEGER
    assert isinstance(schemas["t"], dict)
    assert schemas["t"]["$ref"] == "#/$defs/0"
    assert set(schemas["t"]["$defs"]) == {"0"}
    assert types_of(schemas["t"]) == {"object"}
