"""Where system text goes when a template does not take it."""

import pytest
from prompt_cases import chat

from ds4.core.messages import Conversation, Message
from ds4.prompt.folding import forms

Turns = list[tuple[str, str]]


def shown(messages: tuple[Message, ...]) -> Turns:
    return [(message.role.value, message.text) for message in messages]


def folded(*turns: tuple[str, str]) -> list[Turns]:
    return [shown(form.messages) for form in forms(chat(*turns))]


def test_the_clients_own_form_comes_first() -> None:
    turns = [("system", "s"), ("user", "u"), ("system", "late"), ("assistant", "a")]
    assert folded(*turns)[0] == turns


def test_without_system_text_there_is_nothing_to_fold() -> None:
    assert folded(("user", "u"), ("assistant", "a")) == [[("user", "u"), ("assistant", "a")]]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        ([("user", "u"), ("system", "L"), ("user", "v")], [("user", "u"), ("user", "L\n\nv")]),
        (
            [("user", "u"), ("system", "L"), ("assistant", "a")],
            [("user", "u\n\nL"), ("assistant", "a")],
        ),
        (
            [("user", "u"), ("assistant", "c"), ("tool", "r"), ("developer", "L"), ("assistant", "a")],
            [("user", "u"), ("assistant", "c"), ("tool", "r\n\nL"), ("assistant", "a")],
        ),
        (
            [("user", "u"), ("assistant", "a"), ("system", "L")],
            [("user", "u"), ("assistant", "a"), ("user", "L")],
        ),
        ([("user", "u"), ("system", "L"), ("system", "M")], [("user", "u\n\nL\n\nM")]),
        ([("user", "u"), ("system", ""), ("assistant", "a")], [("user", "u"), ("assistant", "a")]),
        (
            [("system", "s"), ("developer", "d"), ("user", "u")],
            [("system", "s\n\nd"), ("user", "u")],
        ),
    ],
)
def test_late_text_joins_the_neighbouring_turn(turns: Turns, expected: Turns) -> None:
    assert folded(*turns)[1] == expected


def test_at_last_no_system_message_is_left_and_users_are_joined() -> None:
    turns = [
        ("system", "s"),
        ("user", "u"),
        ("assistant", "a"),
        ("user", "v"),
        ("system", "L"),
        ("user", "w"),
    ]
    assert folded(*turns)[-1] == [("user", "s\n\nu"), ("assistant", "a"), ("user", "v\n\nL\n\nw")]


def test_a_conversation_of_system_text_only() -> None:
    assert folded(("system", "s"))[-1] == [("user", "s")]


def test_everything_else_is_kept() -> None:
    conversation = chat(("system", "s"), ("user", "u"), namespace="mine")
    assert {form.namespace for form in forms(conversation)} == {"mine"}
    assert isinstance(next(forms(conversation)), Conversation)
