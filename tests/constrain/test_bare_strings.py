"""Strings between tags: patterns, formats and lists as one terminal."""

import json

import pytest
from constrain_answers import form, guide, sampled, takes, text_of
from hypothesis import given
from hypothesis import strategies as st

from ds4.constrain.schema import cleaned
from ds4.constrain.schema.formats import FORMATS
from ds4.constrain.schema.library import possible
from ds4.constrain.strings import Bare
from ds4.constrain.text_formats import TEXT_FORMATS
from ds4.core.constraint import Constraint, Syntax

ANY = "/(?s:.*)/"
BARE = Bare(ANY, ANY, lambda text: None if "<" in text else text)
EXAMPLES = {
    "date": ("2024-12-31", "2024-02-30"),
    "date-time": ("2024-06-30T23:59:59.5+01:00", "2024-06-31T00:00:00Z"),
    "duration": ("P1Y2M3DT4H5M6S", "P"),
    "email": ("a.b+c@d-e.org", "a.@b"),
    "hostname": ("a-b.c", "-a"),
    "ipv4": ("255.0.19.1", "256.0.0.1"),
    "ipv6": ("1:2::3", "1:2:3"),
    "time": ("23:59:59Z", "24:00:00Z"),
    "uri": ("https://a.b:80/c?d=e#f", "a b:c"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123e4567"),
}


def lost(keyword: str) -> None:
    raise AssertionError(keyword)


def is_taken(schema: object, text: str) -> bool:
    found = cleaned(json.dumps(schema), "schema", strict=True).schema
    body = BARE.body(found, lost)
    return body is not None and takes(
        "chatml", guide("chatml", Constraint(form(Syntax.LARK, f"start: T\nT: {body}"))), text
    )


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("^ab$", ["ab"], ["xab", "abx", ""]),
        ("ab", ["ab", "xab", "x\nabx"], ["a", "ba"]),
        ("^a|b$", ["a", "ax", "xb", "b"], ["xa", "bx", ""]),
        ("^(a|b)/c", ["a/c", "b/cx"], ["a", "xa/c"]),
        ("^$", [""], ["a"]),
        ("[|^$]", ["|", "a$"], ["a"]),
        ("^\\$\\|a", ["$|a"], ["a"]),
    ],
)
def test_patterns(pattern: str, yes: list[str], no: list[str]) -> None:
    schema = {"type": "string", "pattern": pattern}
    assert [text for text in yes if not is_taken(schema, text)] == []
    assert [text for text in no if is_taken(schema, text)] == []


def test_an_anchor_in_the_middle_is_lost_by_name() -> None:
    heard: list[str] = []
    assert BARE.body({"type": "string", "pattern": "^(?:^a|b)$"}, heard.append) == ANY
    assert heard == ["pattern"]


def test_lengths_count_characters_and_go_with_patterns() -> None:
    schema = {"type": "string", "pattern": "^é", "minLength": 2, "maxLength": 3}
    assert [is_taken(schema, text) for text in ("é", "é😀", "é\nz", "éabc")] == [False, True, True, False]


@given(
    st.lists(st.sampled_from(["a", "ab", "", "a b", 'x"y', "\n", "\\"]), min_size=1, unique=True),
    st.sampled_from(["a", "ab", "", "abc", "\n"]),
)
def test_lists(values: list[str], text: str) -> None:
    assert is_taken({"enum": values}, text) is (text in values)


def test_what_cannot_be_written_is_left_out() -> None:
    assert is_taken({"enum": ["<", "a"]}, "a")
    assert BARE.body({"enum": ["<"]}, lost) is None
    assert BARE.body({"anyOf": [{"enum": ["<"]}, {"type": "string", "maxLength": 1}]}, lost) is not None
    assert BARE.body({"allOf": [{"enum": ["<"]}, {"type": "string", "maxLength": 1}]}, lost) is None
    assert BARE.body(False, lost) is None


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_formats(name: str) -> None:
    good, bad = EXAMPLES[name]
    schema = {"type": "string", "format": name}
    assert is_taken(schema, good)
    assert not is_taken(schema, bad)


@pytest.mark.parametrize("name", sorted(TEXT_FORMATS))
def test_no_format_allows_more_than_inside_json(name: str) -> None:
    wanted = Constraint(form(Syntax.REGEX, TEXT_FORMATS[name]))
    for seed in range(4):
        text = text_of("chatml", sampled("chatml", guide("chatml", wanted), seed))
        assert possible({"const": text}, {"type": "string", "format": name}), text
