"""What cleaning makes of the schemas that agents send, by name and place."""

import json
from typing import Any

import pytest
from schema_machine import Machine, attempt

from ds4.constrain.schema import Cleaned, cleaned
from ds4.core.errors import BadRequest, Unsupported

OPEN: dict[str, Any] = {"type": "object"}


def made(schema: object, *, strict: bool = True) -> Cleaned:
    found = attempt(schema, strict=strict)
    assert isinstance(found, Cleaned), found
    return found


def refused(schema: object, *, strict: bool = True) -> BadRequest:
    found = attempt(schema, strict=strict)
    assert isinstance(found, BadRequest), found
    return found


def takes(schema: object, *values: object, strict: bool = True) -> list[bool]:
    machine = Machine(made(schema, strict=strict).schema)
    return [machine.takes(value) for value in values]


def test_no_schema_allows_anything() -> None:
    assert cleaned("", "s", strict=True) == Cleaned(True)
    assert cleaned(" ", "s", strict=True) == Cleaned(True)


@pytest.mark.parametrize(
    ("schema", "dropped"),
    [
        ({"type": "array", "uniqueItems": True}, "s: uniqueItems"),
        (
            {**OPEN, "properties": {"x": {"type": "array", "uniqueItems": True}}},
            "s.properties.x: uniqueItems",
        ),
        ({**OPEN, "propertyNames": {"pattern": "^a"}}, "s: propertyNames"),
        ({"type": "string", "format": "regex"}, "s: format"),
        ({"type": "string", "pattern": "^(?=a)"}, "s: pattern"),
        ({"type": "string", "pattern": "a^b"}, "s: pattern"),
        ({"type": "array", "items": [{"not": {"type": "null"}}]}, "s.items.0: not"),
        ({"anyOf": [{"type": "null"}, {"type": "array", "contains": {}}]}, "s.anyOf.1: contains"),
        ({"$ref": "#/$defs/a", "$defs": {"a": {"if": {}, "then": {}}}}, "s.$defs.a: if"),
        ({"$ref": "https://example.com/other"}, "s: $ref"),
        ({"$ref": "#/$defs/nowhere"}, "s: $ref"),
        ({"oneOf": [{"type": "integer"}, {"type": "number"}]}, "s: oneOf"),
        ({"const": 2**53 + 1}, "s: const"),
        ({"type": "number", "multipleOf": 0.07}, "s: multipleOf"),
        ({"type": "number", "exclusiveMinimum": 0, "maximum": 0.5}, "s: exclusiveMinimum"),
        ({**OPEN, "minProperties": 2}, "s: minProperties"),
        ({**OPEN, "patternProperties": {"^a": {"type": "null"}}}, "s: patternProperties"),
        (
            {**OPEN, "patternProperties": {"^a": {}, "b": {}}, "additionalProperties": False},
            "s: patternProperties",
        ),
    ],
)
def test_what_is_not_enforced_is_named(schema: object, dropped: str) -> None:
    assert dropped in made(schema, strict=False).dropped
    error = refused(schema)
    assert isinstance(error, Unsupported)
    assert error.param == dropped.replace(": ", ".")
    assert error.param in error.message


@pytest.mark.parametrize(
    ("schema", "dropped"),
    [
        ({"type": "any"}, "s: type"),
        ({"type": "string", "minLength": "5"}, "s: minLength"),
        ({"type": "string", "required": True}, "s: required"),
        ({**OPEN, "properties": []}, "s: properties"),
        ({**OPEN, "properties": {"x": None}}, "s.properties: x"),
        ({"anyOf": []}, "s: anyOf"),
        ({"type": "number", "multipleOf": 0}, "s: multipleOf"),
        ({"enum": "a"}, "s: enum"),
    ],
)
def test_what_is_no_schema_is_named(schema: object, dropped: str) -> None:
    assert made(schema, strict=False).dropped == (dropped,)
    assert refused(schema).param == dropped.replace(": ", ".")


@pytest.mark.parametrize(
    ("schema", "param"),
    [
        ({"type": "integer", "minimum": 5, "maximum": 3}, "s.maximum"),
        ({"type": "integer", "exclusiveMinimum": 0, "exclusiveMaximum": 1}, "s.exclusiveMaximum"),
        ({"type": "string", "minLength": 5, "maxLength": 3}, "s.maxLength"),
        ({"enum": []}, "s.enum"),
        (False, "s"),
        ({**OPEN, "required": ["a"], "properties": {"a": False}}, "s.properties.a"),
        ({**OPEN, "required": ["a"], "additionalProperties": False}, "s.additionalProperties"),
        ({"type": "string", "const": 5}, "s.const"),
        ({"allOf": [{"type": "string"}, {"type": "integer"}]}, "s"),
        (
            {**OPEN, "properties": {"a": {"type": "array", "minItems": 2, "maxItems": 1}}},
            "s.properties.a.maxItems",
        ),
        ({**OPEN, "required": ["next"], "properties": {"next": {"$ref": "#"}}}, "s"),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_contradictions_are_refused_where_they_are(schema: object, param: str, *, strict: bool) -> None:
    error = refused(schema, strict=strict)
    assert error.param == param
    assert param in error.message


@pytest.mark.parametrize(
    "schema",
    [
        {
            "title": "T",
            "description": "d",
            "default": 1,
            "examples": [1],
            "$comment": "c",
            "deprecated": True,
        },
        {"x-order": 3, "nullable": True, "strict": True, "example": {"not": 1}, "markdownDescription": ""},
        {
            "$schema": "http://json-schema.org/draft-07/schema#",
            "$id": "https://example.com/a",
            "definitions": {"a": 1},
        },
        {
            "uniqueItems": False,
            "propertyNames": {"type": "string"},
            "minContains": 2,
            "then": True,
            "not": False,
        },
    ],
)
def test_what_says_nothing_is_no_loss(schema: dict[str, Any]) -> None:
    assert made(schema) == Cleaned(True)


def test_number_formats_say_nothing() -> None:
    assert made({"type": "integer", "format": "int64"}).schema == {"type": "integer"}
    assert made({"type": "integer", "format": "anything"}).schema == {"type": "integer"}


class TestOldDrafts:
    def test_draft_4_bounds(self) -> None:
        assert takes({"type": "integer", "minimum": 3, "exclusiveMinimum": True}, 3, 4) == [False, True]

    def test_items_as_a_list(self) -> None:
        schema = {"type": "array", "items": [{"type": "string"}], "additionalItems": False}
        assert takes(schema, ["a"], ["a", 1], [1]) == [True, False, False]

    def test_definitions(self) -> None:
        assert takes({"$ref": "#/definitions/a", "definitions": {"a": {"type": "null"}}}, None, 1) == [
            True,
            False,
        ]

    def test_what_stands_beside_a_reference(self) -> None:
        schema = {"$ref": "#/definitions/a", "minimum": 3, "definitions": {"a": {"type": "integer"}}}
        assert takes(schema, 1, 3) == [False, True]
        assert takes({"$schema": "http://json-schema.org/draft-07/schema#", **schema}, 1, 3) == [True, True]


def test_one_of_by_a_tag_is_any_of() -> None:
    kinds = [{**OPEN, "properties": {"k": {"const": k}}, "required": ["k"]} for k in ("a", "b")]
    assert takes({"oneOf": kinds}, {"k": "a"}, {"k": "b"}, {"k": "c"}) == [True, True, False]
    referred = {
        "oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
        "$defs": dict(zip("ab", kinds, strict=True)),
    }
    assert made(referred).dropped == ()


def test_a_declared_name_cannot_come_again_in_other_letters() -> None:
    machine = Machine(made({**OPEN, "properties": {"a": {"type": "string"}}}).schema)
    assert machine.takes_text('{"a": "x", "b": 1}')
    assert not machine.takes_text('{"\\u0061": 1}')
    assert not machine.takes_text('{"a": "x", "a": 1}')


def test_closed_objects_that_must_all_hold() -> None:
    schema = {
        "allOf": [{"properties": {"a": {}}, "additionalProperties": False}, {"properties": {"b": {}}}],
        **OPEN,
    }
    assert takes(schema, {"a": 1}, {"b": 1}, {}) == [True, False, True]


def test_properties_are_in_the_order_of_the_schema() -> None:
    schema = {"allOf": [{"properties": {"z": {}}}], "properties": {"a": {}}, "type": "object"}
    found = made(schema).schema
    assert isinstance(found, dict)
    assert list(found["properties"]) == ["z", "a"]


def test_recursion_with_siblings() -> None:
    tree = {**OPEN, "properties": {"next": {"$ref": "#", "minProperties": 1}}, "additionalProperties": False}
    assert takes(tree, {"next": {"next": {}}}, {"next": {}}, {}) == [False, False, True]


def test_values_of_an_enum_that_do_not_fit_are_left_out() -> None:
    assert made({"type": ["string", "null"], "enum": ["a", 1, None], "maxLength": 3}).schema == {
        "enum": ["a", None]
    }


def test_what_is_cleaned_has_no_annotations() -> None:
    schema = {**OPEN, "title": "T", "properties": {"a": {"type": "string", "description": "d"}}}
    assert "description" not in json.dumps(made(schema).schema)
