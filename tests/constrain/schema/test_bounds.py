"""Schemas that would cost too much are refused, and soon."""

import json
from typing import Any

import pytest

from ds4.constrain.schema import cleaned, size, work
from ds4.constrain.schema.limits import (
    MAX_ALTERNATIVES,
    MAX_BYTES,
    MAX_DEPTH,
    MAX_ENUM,
    MAX_ONE_OF,
    MAX_PROPERTIES,
)
from ds4.constrain.schema.size import MAX_LEVELS
from ds4.core.errors import BadRequest

STRING = {"type": "string"}


def chained(count: int, keyword: str, twice: bool = False) -> dict[str, Any]:
    """Each definition has the next one, once or twice."""
    definitions: dict[str, Any] = {str(count): STRING}
    for number in range(count):
        inner = [{"$ref": f"#/$defs/{number + 1}"}] * (1 + twice)
        definitions[str(number)] = {
            keyword: dict(zip("ab", inner, strict=False)) if keyword == "properties" else inner
        }
    return {"$ref": "#/$defs/0", "$defs": definitions}


def choices(count: int) -> dict[str, Any]:
    return {"allOf": [{"anyOf": [{"required": [f"a{at}"]}, {"required": [f"b{at}"]}]} for at in range(count)]}


def subsets(count: int) -> dict[str, Any]:
    """Every set of the definitions must hold somewhere."""
    definitions: dict[str, Any] = {str(count): {"minProperties": 1}}
    for number in range(count):
        inner = {"$ref": f"#/$defs/{number + 1}"}
        definitions[str(number)] = {"properties": {"a": inner, "b": inner}}
    both = {"allOf": [{"$ref": "#/$defs/s"}, {"$ref": "#/$defs/0"}]}
    definitions["s"] = {"properties": {"a": both, "b": {"$ref": "#/$defs/s"}}}
    return {"$ref": "#/$defs/s", "$defs": definitions}


def tags(count: int) -> dict[str, Any]:
    kinds = [{"type": "object", "properties": {"k": {"const": at}}, "required": ["k"]} for at in range(count)]
    return {"oneOf": kinds}


@pytest.mark.parametrize(
    ("schema", "limit"),
    [
        (choices(20), MAX_ALTERNATIVES),
        (chained(60, "anyOf", twice=True), MAX_ALTERNATIVES),
        (chained(150, "properties"), MAX_LEVELS),
        (chained(150, "prefixItems"), MAX_LEVELS),
        ({"enum": list(range(MAX_ENUM + 1))}, MAX_ENUM),
        ({"properties": {str(at): True for at in range(MAX_PROPERTIES + 1)}}, MAX_PROPERTIES),
        ({"description": "x" * MAX_BYTES}, MAX_BYTES),
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_too_much_is_refused_by_its_limit(schema: object, limit: int, *, strict: bool) -> None:
    with pytest.raises(BadRequest, match=str(limit)) as error:
        cleaned(json.dumps(schema), "s", strict=strict)
    assert str(error.value.param).startswith("s")


@pytest.mark.parametrize(
    "schema",
    [
        subsets(10),
        {**STRING, "pattern": "^v", "enum": [f"v{at}" for at in range(101)]},
        {**tags(50), "$defs": {}},
    ],
)
def test_work_is_counted(schema: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "MAX_WORK", 1000)
    with pytest.raises(BadRequest, match="needs more than 1000 steps"):
        cleaned(json.dumps(schema), "s", strict=False)


def test_what_is_resolved_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(size, "MAX_SCHEMAS", 1000)
    leaf = {"$ref": "#/$defs/leaf"}
    wide = {
        "properties": {
            f"p{at}": {"properties": {f"q{inner}": leaf for inner in range(30)}} for at in range(30)
        }
    }
    with pytest.raises(BadRequest, match="has more than 1000 schemas"):
        cleaned(json.dumps({**wide, "$defs": {"leaf": STRING}}), "s", strict=False)


@pytest.mark.parametrize("text", ['{"items":' * MAX_DEPTH + "{}" + "}" * MAX_DEPTH, "[" * 100_000])
def test_depth_is_looked_at_before_anything_else(text: str) -> None:
    with pytest.raises(BadRequest):
        cleaned(text, "s", strict=False)


@pytest.mark.parametrize(
    "schema",
    [
        chained(30, "properties", twice=True),
        chained(60, "allOf", twice=True),
        tags(MAX_ONE_OF),
        choices(5),
        {"allOf": [{"anyOf": [STRING, {"allOf": [False]}]}] * 1500},
        {**STRING, "minLength": 2**31 - 1},
        {"type": "array", "minItems": 2**31 - 1},
        {**STRING, "pattern": "(a{1000}){1000}"},
        {**STRING, "pattern": "(.*a){50}"},
    ],
)
def test_what_only_looks_large_is_taken(schema: object) -> None:
    assert cleaned(json.dumps(schema), "s", strict=True).dropped == ()


def test_many_branches_are_not_compared() -> None:
    assert cleaned(json.dumps(tags(MAX_ONE_OF + 1)), "s", strict=False).dropped == ("s: oneOf",)


@pytest.mark.parametrize("text", ["{", '{"minimum": 1e999}', '{"const": "\\ud800"}', "nan"])
def test_text_that_is_no_json(text: str) -> None:
    with pytest.raises(BadRequest, match="s is not valid JSON"):
        cleaned(text, "s", strict=True)
