import json

import pytest
from constrain_vocabularies import compiler, lark

from ds4.constrain.foreign import MAX_LEVELS, checked
from ds4.constrain.grammar import LONGEST
from ds4.core.errors import BadRequest, Unsupported


def chain(count: int, brackets: int = 0, name: str = "r") -> str:
    """Each rule leads to the next one."""
    opened, closed = "(" * brackets, ")" * brackets
    rules = [f'{name}{n}: {opened}{name}{n + 1}{closed} "y"' for n in range(count)]
    return "\n".join([f"start: {name}0", *rules, f'{name}{count}: "x"'])


def references(count: int) -> str:
    definitions: dict[str, object] = {
        f"d{n}": {"type": "object", "properties": {"x": {"$ref": f"#/$defs/d{n + 1}"}}, "required": ["x"]}
        for n in range(count)
    }
    definitions[f"d{count}"] = {"type": "string"}
    return "start: %json " + json.dumps({"$defs": definitions, "$ref": "#/$defs/d0"})


TOO_DEEP = {
    "rules": chain(6000),
    "terminals": chain(6000, name="R"),
    "brackets": chain(1000, 20),
    "references": references(2000),
}


@pytest.mark.parametrize("kind", sorted(TOO_DEEP))
def test_what_would_overflow_the_librarys_stack_is_refused(kind: str) -> None:
    with pytest.raises(BadRequest) as refused:
        checked(TOO_DEEP[kind], "grammar")
    assert (refused.value.param or "").startswith("grammar")


ALLOWED = {
    "rules": chain(MAX_LEVELS - 2),
    "terminals": chain(MAX_LEVELS - 2, name="R"),
    "brackets": chain((MAX_LEVELS - 2) // 26, 25),
}


@pytest.mark.parametrize("kind", sorted(ALLOWED))
def test_as_deep_as_allowed_is_compiled(kind: str) -> None:
    text = checked(ALLOWED[kind], "grammar")
    assert compiler("chatml").guide(lark(text), "grammar").forced()


def test_names_in_texts_and_comments_are_no_rules() -> None:
    colons = ":(" * MAX_LEVELS
    text = f'// {colons}\n# {colons}\nstart: "{colons}" /[{colons}]/'
    assert checked(text, "grammar") == text


def test_parameters_of_rules_are_no_rules() -> None:
    text = "start: a::0x0\na::_: " + " | ".join(['"a" a::incr(_)'] * MAX_LEVELS)
    assert checked(text, "grammar") == text


def test_a_schema_inside_is_held_to_what_can_be_enforced() -> None:
    text = 'start: "x" %json {"type": "integer", "title": "n", "x-guidance": {"item_separator": ","}} "y"'
    found = checked(text, "grammar")
    assert json.loads(found[found.index("{") : found.index("}}") + 2]) == {
        "type": "integer",
        "x-guidance": {"item_separator": ","},
    }
    with pytest.raises(Unsupported) as refused:
        checked('start: %json {"properties": {"a": {"not": {}}}}', "tools.0.format.definition")
    assert refused.value.param == "tools.0.format.definition.properties.a.not"


def test_a_schema_that_allows_nothing_is_refused() -> None:
    with pytest.raises(BadRequest, match="allows no value"):
        checked("start: %json false", "grammar")


@pytest.mark.parametrize("text", ['start: %json {"a":', "start: %json", 'start: "%json"', "start: /%lark/"])
def test_what_is_not_understood_is_left_to_the_library(text: str) -> None:
    if text.startswith("start: %json"):
        with pytest.raises(BadRequest):
            compiler("chatml").guide(lark(checked(text, "grammar")), "grammar")
    else:
        assert checked(text, "grammar") == text


def test_grammars_inside_grammars_are_refused_by_name() -> None:
    with pytest.raises(Unsupported, match="%lark"):
        checked('start: %lark {\nstart: "a"\n}', "grammar")


def test_many_schemas_are_too_large_together() -> None:
    wide = {"enum": [f"value {n:050}" for n in range(2000)]}
    with pytest.raises(BadRequest, match="too large"):
        checked("start: " + " ".join([f"%json {json.dumps(wide)}"] * 6), "grammar")
    with pytest.raises(BadRequest, match="too large"):
        checked("//" + "x" * LONGEST, "grammar")
