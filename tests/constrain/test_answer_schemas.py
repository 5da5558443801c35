"""Any schema, any way to write calls: arguments are valid by the schema as the caller wrote it."""

import random
from typing import Any

import pytest
from constrain_answers import (
    MODELS,
    NoEnd,
    compiled,
    compiler,
    may_call,
    must_call,
    read,
    sampled,
    signature,
    text_of,
)
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from ds4.constrain.style import Start
from ds4.core.errors import BadRequest

TEXTS = (
    "a",
    "",
    "a b",
    "</parameter>",
    "</arg_value>",
    "</｜DSML｜parameter>",
    "&lt;/｜DSML｜parameter>",
    "</｜DSML｜ parameter>",
    "<tool_call>",
    "<think>",
    '"',
    "\\",
    "\n\nx\n",
    "😀",
    "12",
    "-3e5",
    "true",
    "null",
    "nul",
    "[1]",
    "{}",
    " 1 ",
    "a</",
)
PATTERNS = ("^[a-c]+$", "^\\d{2,4}$", "a|b", "^(foo|bar)", "z$", "<", "[^<]", "^[^ ]+$", "(?:x|y)z?", "^$")
FORMATS = ("date", "date-time", "email", "uuid", "ipv4", "ipv6", "hostname", "uri", "time", "duration")
TYPES = ("string", "integer", "number", "boolean", "null", "array", "object")

strings = st.fixed_dictionaries(
    {"type": st.just("string")},
    optional={
        "minLength": st.integers(0, 2),
        "maxLength": st.integers(3, 8),
        "pattern": st.sampled_from(PATTERNS),
    },
) | st.fixed_dictionaries({"type": st.just("string"), "format": st.sampled_from(FORMATS)})
numbers = st.fixed_dictionaries(
    {"type": st.sampled_from(["integer", "number"])},
    optional={"minimum": st.integers(-9, 5), "maximum": st.integers(6, 2000)},
)
values = st.lists(st.sampled_from([*TEXTS, 1, None, True, 2.5]), min_size=1, max_size=5, unique_by=repr)
leaves: st.SearchStrategy[Any] = (
    strings
    | numbers
    | st.fixed_dictionaries({"enum": values})
    | st.fixed_dictionaries({"const": st.sampled_from([*TEXTS, 5, [1], {"a": "b"}])})
    | st.fixed_dictionaries({"type": st.sampled_from(TYPES)})
    | st.fixed_dictionaries({"type": st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True)})
    | st.just({})
)


def objects(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    names = st.sampled_from(["a", "b", "ab", "name", "input", "path", "x-1"])
    return st.fixed_dictionaries(
        {"type": st.just("object"), "properties": st.dictionaries(names, inner, max_size=4)},
        optional={
            "additionalProperties": st.just(False) | inner,
            "required": st.lists(names, max_size=2, unique=True),
        },
    )


def branches(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return (
        objects(inner)
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner}, optional={"maxItems": st.just(2)})
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
    )


schemas = objects(st.recursive(leaves, branches, max_leaves=5))


# A smaller schema takes another way through the sampler, so shrinking finds little and takes minutes.
@settings(phases=[Phase.explicit, Phase.reuse, Phase.generate])
@pytest.mark.parametrize("kind", ["plain", "entries"])
@given(schemas, schemas, st.integers(0, 10**6))
def test_arguments_are_valid(kind: str, first: Any, second: Any, seed: int) -> None:
    tools = (signature("one", first), signature("two_b", second))
    checks = {"one": Draft202012Validator(first), "two_b": Draft202012Validator(second)}
    for model in random.Random(seed).sample(
        [name for name in MODELS if (kind == "plain") is (kind in name)], k=1
    ):
        rng = random.Random(seed)
        constraint = rng.choice([must_call(*tools), must_call(*tools, single=True), may_call(*tools)])
        start = rng.choice([Start(), Start(in_reasoning=True), Start(may_reason=True)])
        try:
            grammar = compiled(model, constraint, start)
        except BadRequest:
            assume(False)
        try:
            ids = sampled(model, compiler(model).guide(grammar, "tools"), seed)
        except NoEnd:
            assume(False)
        found = read(model, ids, tools, reasoning_open=start.in_reasoning)
        said = text_of(model, ids)
        assert constraint.calls
        assert bool(found.calls) or not constraint.calls.required, said
        assert not (found.text and constraint.calls.required), said
        assert not (constraint.calls.single and len(found.calls) > 1), said
        for name, arguments in found.calls:
            assert grammar.dropped or checks[name].is_valid(arguments), said
