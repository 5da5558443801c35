"""Cleaning against JSON schema's own verdict, on schemas at random.

In references a schema only points forward, or inside an object or array: what includes itself on the spot has
no meaning, and the judge here would not end.
"""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from schema_machine import Machine, Verdict, attempt

from ds4.constrain.schema import other_part, parameters, string_part, types_of
from ds4.core.errors import BadRequest

NAMES = ("a", "b", "ab", 'c"d')
PATTERNS = ("^a", "b$", '^[^"]*$', "a|b", "^[0-9a-z]+$", "^(a|b)?$", "[^a]")
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, 2, -1, 1.5, 0.5, 10, -0.5),
    *("", "a", "b", "ab", "aé", '"', "\n", "a\\", "\u0001"),
    *([], [1], ["a"], [1, 2, 3], [None, "a"], [[]], [True, {}]),
    *({}, {"a": 1}, {"a": "a"}, {"b": 1}, {"a": 1, "b": "b"}, {"ab": 1}, {"a": {"a": 1}}, {'c"d': 1}),
    *({"a": 1, "b": 2, "zz": 3}, {"zz": None}, {"yy": 1, "zz": 2}, {"a": [], "zz": "a"}),
)
BOUNDS = st.sampled_from([0, 1, -1, 0.5, 2, 10, 1.5, -0.5])
COUNTS = st.sampled_from([0, 1, 2, 3])
TYPES = st.sampled_from(["string", "integer", "number", "object", "array", "null", "boolean"])
PLAIN: dict[str, st.SearchStrategy[Any]] = {
    "type": TYPES | st.lists(TYPES, min_size=1, max_size=3, unique=True),
    "enum": st.lists(st.sampled_from(VALUES), min_size=1, max_size=5),
    "const": st.sampled_from(VALUES),
    **dict.fromkeys(["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"], BOUNDS),
    "multipleOf": st.sampled_from([1, 2, 0.5, 3]),
    **dict.fromkeys(
        ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"], COUNTS
    ),
    "pattern": st.sampled_from(PATTERNS),
    "required": st.lists(st.sampled_from(NAMES), min_size=1, max_size=2, unique=True),
    "uniqueItems": st.just(True),
    "dependentRequired": st.just({"a": ["b"]}),
    "title": st.just("T"),
}
IN_PLACE = ("anyOf", "oneOf", "allOf", "not", "if")
DEEPER = (
    "items",
    "additionalProperties",
    "prefixItems",
    "properties",
    "patternProperties",
    "propertyNames",
    "contains",
)


@st.composite
def schemas(draw: st.DrawFn, depth: int = 2, targets: tuple[str, ...] = ("#/$defs/x", "#/$defs/y")) -> Any:
    """`targets` are the definitions that may stand here."""
    if draw(st.integers(0, 15)) == 0 or depth == 0:
        return draw(st.sampled_from([True, False, {}, {"type": "string"}, {"type": "integer"}, {"const": 1}]))
    schema: dict[str, Any] = {}
    names = st.sampled_from([*PLAIN, *IN_PLACE, *DEEPER, *DEEPER[:4], "$ref"])
    for keyword in draw(st.lists(names, min_size=1, max_size=4, unique=True)):
        if keyword in PLAIN:
            schema[keyword] = draw(PLAIN[keyword])
        elif keyword == "$ref":
            schema |= {"$ref": draw(st.sampled_from(targets))} if targets else {}
        else:
            here = keyword in IN_PLACE or keyword == "propertyNames"
            inner = schemas(depth - 1, targets if here else ("#", "#/$defs/x", "#/$defs/y"))
            schema[keyword] = draw(_holding(keyword, inner))
    return schema


def _holding(keyword: str, inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    if keyword in ("properties", "patternProperties"):
        names = NAMES if keyword == "properties" else PATTERNS
        return st.dictionaries(st.sampled_from(names), inner, min_size=1, max_size=3)
    if keyword in ("anyOf", "oneOf", "allOf", "prefixItems"):
        return st.lists(inner, min_size=1, max_size=3)
    return inner


@st.composite
def documents(draw: st.DrawFn) -> Any:
    definitions = {"x": draw(schemas(2, ("#/$defs/y",))), "y": draw(schemas(1, ()))}
    root = draw(schemas())
    return root if isinstance(root, bool) else {**root, "$defs": definitions}


@given(documents())
def test_strict_is_exact(schema: Any) -> None:
    verdict = Verdict(schema)
    found = attempt(schema, strict=True)
    if isinstance(found, BadRequest):
        assert str(found.param).startswith("s")
        return
    assert found.dropped == ()
    machine = Machine(found.schema)
    for value in VALUES:
        assert machine.takes(value) == verdict.on(value), (value, found.schema)
    for seed in range(3):
        text = machine.sampled(seed)
        assert text is None or verdict.on_text(text), (text, found.schema)


@given(documents())
def test_dropping_only_allows_more(schema: Any) -> None:
    verdict = Verdict(schema)
    found = attempt(schema, strict=False)
    if isinstance(found, BadRequest):
        assert "allows no value" in found.message
        return
    machine = Machine(found.schema)
    for value in VALUES:
        assert machine.takes(value) or not verdict.on(value), (value, found)


@given(documents())
def test_parts_are_the_whole(schema: Any) -> None:
    found = attempt(schema, strict=False)
    if isinstance(found, BadRequest):
        return
    whole = found.schema
    strings, others, types = string_part(whole), other_part(whole), types_of(whole)
    all_of_it, first, second = Machine(whole), Machine(strings), Machine(others)
    for value in VALUES:
        part, rest = (first, second) if isinstance(value, str) else (second, first)
        assert part.takes(value) == all_of_it.takes(value)
        assert not rest.takes(value)
    assert (strings is not False) == ("string" in types)
    assert (others is not False) == bool(types - {"string"})
    assert bool(parameters(whole)) == ("object" in types)
    for one in (one for kind in parameters(whole) for one in kind.named):
        Machine(one.schema)


JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from([*PLAIN, *IN_PLACE, *DEEPER, "$ref", "$defs", "format", "nullable"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=10,
)


@given(JUNK, st.booleans())
def test_what_is_no_schema_is_refused_or_dropped_by_name(junk: object, strict: bool) -> None:
    found = attempt(junk, strict=strict)
    if isinstance(found, BadRequest):
        assert str(found.param).startswith("s")
    else:
        Machine(found.schema)
