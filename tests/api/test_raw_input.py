import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.api.raw_input import RawInput

TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)


def decoded(pieces: list[str]) -> str:
    """What went out piece by piece."""
    raw = RawInput()
    out = "".join([*map(raw.add, pieces), raw.end()])
    assert out == raw.text
    return out


@given(TEXTS, st.booleans(), st.lists(st.integers(0, 80), max_size=5))
def test_any_text_survives_any_cut(text: str, ascii_only: bool, places: list[int]) -> None:
    arguments = json.dumps({"input": text}, ensure_ascii=ascii_only, separators=(",", ":"))
    cuts = sorted(min(place, len(arguments)) for place in places)
    assert decoded([arguments[a:b] for a, b in zip([0, *cuts], [*cuts, len(arguments)], strict=True)]) == text


@given(TEXTS)
def test_one_character_at_a_time(text: str) -> None:
    assert decoded(list(json.dumps({"input": text}, separators=(",", ":")))) == text


@pytest.mark.parametrize("head", ['{"input":"', '{"input": "', '{ "input" : "'])
def test_it_goes_out_before_the_end(head: str) -> None:
    raw = RawInput()
    assert raw.add(head + "first\\nsec") == "first\nsec"
    assert raw.add("ond\\") == "ond"
    assert raw.add('"') == '"'


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"note":"x","input":"y"}', "y"),
        ('{"input":"y","note":"x"}', "y"),
        ('{ "input" : "y" }', "y"),
        ('{"patch":"the only text"}', "the only text"),
        ('{"a":"x","b":"y"}', '{"a":"x","b":"y"}'),
        ('{"input":{"a":1}}', '{"input":{"a":1}}'),
        ("{}", "{}"),
        # Cut off.
        ('{"input":"so far', "so far"),
        ('{"input":"so far\\', "so far"),
        ('{"input":"so far\\u00', "so far"),
        ('{"inp', ""),
        ("", ""),
        # Halves of pairs that stay alone.
        ('{"input":"\\ud83dx"}', "\ufffdx"),
        ('{"input":"\\ud83d\\u0041"}', "\ufffdA"),
        ('{"input":"\\ud83d"}', "\ufffd"),
        ('{"input":"\\ude00"}', "\ufffd"),
        ('{"input":"\\ud83d\\ud83d\\ude00"}', "\ufffd😀"),
    ],
)
def test_what_is_judged(arguments: str, text: str) -> None:
    assert decoded([arguments]) == decoded(list(arguments)) == text
