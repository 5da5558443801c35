"""What counts as the same answer, and what as an edit."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ds4.core.messages import Message, Role, TextPart, ToolCall
from ds4.core.usage import Unlike
from ds4.kv.replay.meaning import Call, Meaning, arguments_digest, meaning_of, unlike


def said(text: str = "", *, reasoning: str | None = None, calls: tuple[tuple[str, str], ...] = ()) -> Message:
    made = tuple(ToolCall(str(n), name, arguments) for n, (name, arguments) in enumerate(calls))
    return Message(Role.ASSISTANT, (TextPart(text),) if text else (), reasoning, made)


def differs(held: Message, *sent: Message) -> Unlike | None:
    return unlike(meaning_of([held]), meaning_of(sent))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1,"b":[{"c":null,"d":"x"}]}', '{\n  "b": [{"d": "x", "c": null}],\n  "a": 1\n}'),
        ('{"a":"é/\\n"}', '{"a": "\\u00e9\\/\\u000a"}'),
        ('{"a":1.0,"b":-0.0,"c":1e3}', '{"a":1,"b":0,"c":1000}'),
        ('{"a":1}', '"{\\"a\\": 1}"'),
        ("{}", ""),
        ("{}", " \n"),
        ("no json", " no json\n"),
        ('{"a":"\\ud83d"}', '{"a":"\\uD83D"}'),
    ],
)
def test_these_arguments_are_the_same(one: str, other: str) -> None:
    assert arguments_digest(one) == arguments_digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a":1}', '{"a":2}'),
        ('{"a":1}', '{"a":true}'),
        ('{"a":0}', '{"a":false}'),
        ('{"a":1}', '{"a":"1"}'),
        ('{"a":null}', "{}"),
        ('{"a":[1,2]}', '{"a":[2,1]}'),
        ('{"a":"x "}', '{"a":"x"}'),
        ('{"a":9007199254740993}', '{"a":9007199254740992}'),
        ('{"a":1.5}', '{"a":1.25}'),
        ('{"a":{"b":1}}', '{"a":"{\\"b\\":1}"}'),
        ("no json", "no  json"),
        ('{"a":1', '{"a":1}'),
        ('"{}"', "text {}"),
    ],
)
def test_these_are_not(one: str, other: str) -> None:
    assert arguments_digest(one) != arguments_digest(other)


def test_no_arguments_are_too_strange() -> None:
    deep = "[" * 100_000
    assert arguments_digest(deep) == arguments_digest(deep + "\n")
    assert arguments_digest("1" * 5000) == arguments_digest("1" * 5000)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


def plain(value: object) -> object:
    """Told apart as JSON tells them apart, but for 1.0 and 1."""
    match value:
        case dict():
            return ("dict", frozenset((key, plain(item)) for key, item in value.items()))
        case list():
            return ("list", tuple(map(plain, value)))
        case bool():
            return ("bool", value)
        case float() if not value.is_integer() or abs(value) >= 2**53:
            return ("float", value)
        case float() | int():
            return ("int", int(value))
        case _:
            return value


@given(json_values, json_values)
def test_arguments_are_the_same_when_their_values_are(one: object, other: object) -> None:
    digests = [arguments_digest(json.dumps({"a": value})) for value in (one, other)]
    assert (digests[0] == digests[1]) == (plain(one) == plain(other))
    assert arguments_digest(json.dumps({"a": one}, indent=1, ensure_ascii=False)) == digests[0]


@pytest.mark.parametrize(
    ("held", "sent"),
    [
        (said("Hi."), (said("Hi.\n"),)),
        (said("Hi. Ho."), (said("Hi."), said("Ho."))),
        (said("", reasoning="Hm."), (said(" "),)),
        (said("Hi.", reasoning="Hm."), (said("Hi.", reasoning=" "),)),
        (said("Hi.", reasoning="Hm."), (said("Hi."),)),
        (said("Hi.", reasoning="Hm.\n"), (said("Hi.", reasoning="Hm."),)),
        (said("Hi.", reasoning="Hm."), (said("<think>\nHm.\n</think>\n\nHi."),)),
        (said(calls=(("a", "{}"), ("b", "{}"))), (said(calls=(("a", "{}"),)), said(calls=(("b", "{}"),)))),
    ],
)
def test_what_clients_do_is_no_edit(held: Message, sent: tuple[Message, ...]) -> None:
    assert differs(held, *sent) is None


def test_pieces_may_be_joined_with_or_without_blanks() -> None:
    held = Meaning(("One,", "two "), reasoning=("a", "b"))
    for text, reasoning in (("One,two", "ab"), ("One,\n\ntwo", "a\n\nb")):
        assert unlike(held, Meaning((text,), reasoning=(reasoning,))) is None


@pytest.mark.parametrize(
    ("sent", "why"),
    [
        (said("Hi!", reasoning="Hm.", calls=(("a", "{}"),)), Unlike.TEXT),
        (said("", reasoning="Hm.", calls=(("a", "{}"),)), Unlike.TEXT),
        (said("Hi. x", reasoning="Hm.", calls=(("a", "{}"),)), Unlike.TEXT),
        (said("H i.", reasoning="Hm.", calls=(("a", "{}"),)), Unlike.TEXT),
        (said("Hi.", reasoning="Hm!", calls=(("a", "{}"),)), Unlike.REASONING),
        (said("Hi.", reasoning="Hm.", calls=(("a", '{"b":1}'),)), Unlike.ARGUMENTS),
        (said("Hi.", reasoning="Hm.", calls=(("b", "{}"),)), Unlike.CALLS),
        (said("Hi.", reasoning="Hm."), Unlike.CALLS),
        (said("Hi.", reasoning="Hm.", calls=(("a", "{}"), ("a", "{}"))), Unlike.CALLS),
    ],
)
def test_an_edit_is_told(sent: Message, why: Unlike) -> None:
    assert differs(said("Hi.", reasoning="Hm.", calls=(("a", "{}"),)), sent) is why


def test_reasoning_that_was_never_there_is_an_edit() -> None:
    assert differs(said("Hi."), said("Hi.", reasoning="Hm.")) is Unlike.REASONING


def test_a_call_is_its_name_and_what_its_arguments_mean() -> None:
    assert meaning_of([said(calls=(("a", "{ }"),))]).calls == (Call("a", arguments_digest("{}")),)
