"""Patterns of ECMA-262 in the library's words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from schema_machine import Machine

from ds4.constrain.schema.complement import MAX_CHARACTERS, MAX_LENGTH, all_but
from ds4.constrain.schema.ecma import NotRegular, translated


def machine(regex: str) -> Machine:
    return Machine({"type": "string", "pattern": regex})


@pytest.mark.parametrize(
    ("pattern", "right", "wrong"),
    [
        ("ab", ["ab", "xaby"], ["a b", ""]),
        ("^a|b$", ["ax", "xb"], ["xa", "bx"]),
        ("^.$", ["x", "é", "\u0001"], ["\n", "\r", "\u2028", "ab"]),
        (r"^\d\w\s$", ["1a ", "0_\u3000"], ["١a ", "1é "]),
        (r"^\D\W\S$", ["aéx"], ["1éx", "aax", "aé "]),
        (r"^[\w.-]+@x$", ["a.b-c@x"], ["a b@x"]),
        (r"^[a-z&&[^b]$", ["a", "b", "&", "[", "^"], ["&&", "B"]),
        (r"^[[:alpha:]]$", ["[]", ":]", "a]"], ["a"]),
        (r"^[~\-a]$", ["~", "-", "a"], ["b"]),
        (r"^\x41\u0042\u{43}\cJ\t$", ["ABC\n\t"], ["ABC"]),
        (r"^\ud83d\ude00$", ["😀"], ["x"]),
        (r"^a{2}b{1,}c{0,1}?$", ["aab", "aabbc"], ["ab", "aabcc"]),
        (r"^a{,3}{x}$", ["a{,3}{x}"], ["aaa"]),
        (r"^(?<year>\d{4})-(?:a|b)\/\.$", ["2024-a/."], ["2024-a/x"]),
        (r"^\p{Lu}\P{L}$", ["É1"], ["é1", "ÉE"]),
        (r"^[^]$", ["x", "\n", '"'], [""]),
        (r'^[^"]$', ["x", "\\", "\n"], ['"']),
        (r'^[^"\\]*$', ["", "x\n"], ['"', "\\"]),
        (r"^[^\P{L}]$", ["a"], ["1", '"']),
        (r'^(?:[^"]|\\")*$', ["a", '\\"'], ['"']),
        (r"^(?:[\0-\x0f]|[\x10-\x1f])$", ["\n", "\u0001"], ['"', "\\"]),
        (r"^$", [""], ["\n", "a"]),
    ],
)
def test_it_means_the_same(pattern: str, right: list[str], wrong: list[str]) -> None:
    found = machine(translated(pattern))
    assert [text for text in right if not found.takes(text)] == []
    assert [text for text in wrong if found.takes(text)] == []


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=a)",
        "(?!a)",
        "(?<=a)",
        "(?<!a)",
        r"\bfoo",
        r"\1(a)",
        r"\k<a>",
        "(?i)a",
        "(?P<a>b)",
        "*a",
        "a**",
        "a*+",
        "(",
        ")",
        "[a",
        "[z-a]",
        r"[a-\d]",
        "a{2,1}",
        "a{20000}",
        r"\A",
        r"\Z",
        r"\_",
        r"\u12",
        r"\ud83d",
        r"\c1",
        "\\",
    ],
)
def test_what_is_not_regular_or_is_read_in_two_ways(pattern: str) -> None:
    with pytest.raises(NotRegular):
        translated(pattern)


@given(st.text(max_size=12) | st.text(r"ab\[]^$()?*+{},.-|&~1dwsxu\"", max_size=12))
def test_any_text_is_translated_or_refused(pattern: str) -> None:
    try:
        regex = translated(pattern)
    except NotRegular:
        return
    assert regex.isascii()


NAMES = st.text('ab"\\\né', max_size=3)


@given(st.sets(NAMES, max_size=4), NAMES)
def test_all_names_but_those(names: set[str], other: str) -> None:
    regex = all_but(names)
    assert regex is not None
    found = machine(regex)
    assert found.takes(other) == (other not in names)
    assert not any(map(found.takes, names))


def test_too_many_names_are_not_left_out() -> None:
    assert all_but(["x" * MAX_LENGTH]) is not None
    assert all_but(["x" * (MAX_LENGTH + 1)]) is None
    assert all_but([f"{number:05}" for number in range(MAX_CHARACTERS // 5 + 1)]) is None
