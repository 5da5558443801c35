"""What cannot be held to is refused by name where it was promised, and reported where it was not."""

import pytest
from constrain_answers import compiled, may_call, must_call, signature

from ds4.core.constraint import Signature
from ds4.core.errors import BadRequest

NUMBERED = {
    "type": "object",
    "properties": {"a b": {"type": "string"}, "c": {"type": "string"}},
    "additionalProperties": False,
}
FEW = {"type": "object", "additionalProperties": {"type": "string"}, "maxProperties": 2}
MIXED = {
    "type": "object",
    "properties": {"a": {"type": ["string", "integer"], "pattern": "^\\d+$"}},
    "required": ["a"],
}


def refused(model: str, tool: Signature, *, demanded: bool = True) -> str | None:
    """The field that is blamed."""
    with pytest.raises(BadRequest) as caught:
        compiled(model, must_call(tool) if demanded else may_call(tool))
    assert str(caught.value.param) in caught.value.message
    return caught.value.param


def test_a_name_that_the_format_cannot_write() -> None:
    tool = signature("a tool<", {"type": "object"})
    assert refused("qwen3.8", tool) == "tools.a tool<"
    found = compiled("qwen3.8", may_call(tool, signature("good", {"type": "object"})))
    assert found.dropped == ("tools.a tool<: tool",)
    assert "good" in found.text
    assert compiled("deepseek-v4.1", must_call(tool)).dropped == ()


def test_without_a_tool_that_can_be_called_all_is_text() -> None:
    found = compiled("qwen3.8", may_call(signature("a tool", {})))
    assert "function" not in found.text


def test_a_parameter_whose_name_the_format_cannot_write() -> None:
    assert compiled("qwen3.8", must_call(signature("t", NUMBERED))).dropped == (
        "tools.t.properties.a b: name",
    )
    assert refused("qwen3.8", signature("t", NUMBERED, strict=True)) == "tools.t.properties.a b"
    assert refused("qwen3.8", signature("t", NUMBERED | {"required": ["a b"]})) == "tools.t.properties.a b"
    assert compiled("glm-5.2", must_call(signature("t", NUMBERED, strict=True))).dropped == ()


def test_a_bound_on_the_number_of_parameters_holds_inside_json_only() -> None:
    assert compiled("deepseek-v4.1", must_call(signature("t", FEW))).dropped == ("tools.t: maxProperties",)
    assert refused("deepseek-v4.1", signature("t", FEW, strict=True)) == "tools.t"
    assert compiled("chatml", must_call(signature("t", FEW, strict=True))).dropped == ()


def test_digits_beside_numbers_hold_where_the_markup_tells_them_apart() -> None:
    assert compiled("glm-5.2", must_call(signature("t", MIXED))).dropped == ("tools.t.properties.a: pattern",)
    assert refused("glm-5.2", signature("t", MIXED, strict=True)) == "tools.t.properties.a"
    assert compiled("deepseek-v4.1", must_call(signature("t", MIXED, strict=True))).dropped == ()


@pytest.mark.parametrize("model", ["chatml", "deepseek-v4.1"])
@pytest.mark.parametrize("schema", [{"type": "string"}, False])
def test_arguments_that_are_no_object(model: str, schema: object) -> None:
    tool = signature("t", schema)
    assert refused(model, tool) == "tools.t"


def test_a_strict_tool_is_refused_also_where_no_call_is_demanded() -> None:
    assert refused(
        "chatml", signature("t", {"type": "object", "uniqueItems": True}, strict=True), demanded=False
    )


@pytest.mark.parametrize("model", ["chatml", "deepseek-v4.1", "glm-5.2", "qwen3.8"])
def test_an_empty_list_of_parameters_means_none(model: str) -> None:
    none = {"type": "object", "properties": {}}
    closed = compiled(model, must_call(signature("t", none | {"additionalProperties": False}))).text
    assert compiled(model, must_call(signature("t", none))).text == closed
    assert (
        compiled(model, must_call(signature("t", none | {"required": [], "description": "x"}))).text == closed
    )
    others: list[dict[str, object]] = [{"additionalProperties": True}, {"patternProperties": {"^x": {}}}]
    for more in others:
        assert compiled(model, must_call(signature("t", none | more))).text != closed
