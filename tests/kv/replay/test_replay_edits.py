"""An edited answer, and what stands behind it."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from replay_talk import FAMILIES, Model, answer, notebook, say

from ds4.core.messages import Message, Role
from ds4.core.usage import AsSent, Replay, Unlike
from ds4.kv.replay.notebook import Notebook

FILES = Path(__file__).parents[2] / "prompt" / "templates"
TEMPLATES = (("chatml", "chatml"), ("glm-5.2", "glm"), ("deepseek-v4", "deepseek"), ("qwen3.8", "qwen3"))
ALL = [*((family, "") for family in FAMILIES), *TEMPLATES]
SYSTEM, USER = Role.SYSTEM, Role.USER


@cache
def model(family: str, name: str) -> Model:
    return Model(family, (FILES / f"{name}.jinja").read_text() if name else "")


def remembered(made: Model, messages: Sequence[Message], book: Notebook | None = None) -> Notebook:
    """After the model has given every answer in `messages`."""
    book = book or notebook()
    for at, message in enumerate(messages):
        if message.role is Role.ASSISTANT:
            record = made.record(messages[:at], message, book)
            assert record is not None
            book.remember(record)
    return book


TALK = [
    say(USER, "one"),
    answer("Two.", "Hm."),
    say(USER, "three"),
    answer("Four.", "Hm."),
    say(USER, "five"),
    answer("Six.", "Hm."),
    say(USER, "seven"),
]
EDITED = [*TALK[:1], answer("Other."), *TALK[2:]]


@pytest.mark.parametrize(("family", "name"), ALL)
def test_one_edit_is_named_once_and_what_is_behind_it_is_counted(family: str, name: str) -> None:
    made = model(family, name)
    book = remembered(made, TALK)
    assert made.replayed(TALK, book).replay == Replay(3)
    found = made.replayed(EDITED, book)
    assert found.replay == Replay(0, (AsSent(1, Unlike.TEXT),), behind=2)
    assert found.ids.tolist() == made.plan(EDITED).ids.tolist()


@pytest.mark.parametrize(("family", "name"), ALL)
def test_what_is_answered_behind_an_edit_is_replayed_again(family: str, name: str) -> None:
    made = model(family, name)
    book = remembered(made, TALK)
    record = made.record(EDITED, answer("Eight.", "Hm."), book)
    assert record is not None
    book.remember(record)
    plan = made.replayed([*EDITED, answer("Eight."), say(USER, "nine")], book)
    assert plan.replay == Replay(1, (AsSent(1, Unlike.TEXT),), behind=2)


@pytest.mark.parametrize(("family", "name"), ALL)
def test_a_history_that_nobody_knows_is_no_edit(family: str, name: str) -> None:
    made = model(family, name)
    assert made.replayed(TALK, notebook()).replay == Replay()
    # A question that was edited: the cache's report names it, and the answers are unknown.
    book = remembered(made, TALK)
    asked = [say(USER, "Other?"), *TALK[1:]]
    assert made.replayed(asked, book).replay == Replay()


def test_the_next_answer_is_not_taken_for_the_edited_one() -> None:
    """GLM's system marker ends no turn. Here what was edited away comes next: a search that began where the
    edited answer does would find one end, and put it in the place of all of this."""
    made = model("glm-5.2", "glm")
    book = remembered(made, TALK[:3])
    sent = [TALK[0], answer("Other."), say(SYSTEM, "Be brief!"), answer("Two."), say(USER, "more")]
    plan = made.replayed(sent, book)
    assert plan.replay == Replay(0, (AsSent(1, Unlike.TEXT),), behind=1)
    assert plan.ids.tolist() == made.plan(sent).ids.tolist()


@pytest.mark.parametrize(("family", "name"), ALL)
def test_a_question_that_was_added_is_not_taken_for_the_answer(family: str, name: str) -> None:
    """The prompt goes on as the one that was answered for a while, and the answer is the same."""
    made = model(family, name)
    book = remembered(made, TALK[:2])
    sent = [TALK[0], say(USER, "Added."), *TALK[1:3]]
    plan = made.replayed(sent, book)
    assert plan.replay == Replay()
    assert plan.ids.tolist() == made.plan(sent).ids.tolist()


WORDS = ("red", "green", "blue")
few = st.sampled_from(WORDS)
answers = st.builds(answer, few, st.sampled_from(["", "Hm."]))
others = st.builds(say, st.sampled_from([USER, SYSTEM]), few)


@st.composite
def talks(draw: st.DrawFn) -> list[Message]:
    """So few words that answers are alike."""
    rounds = draw(st.lists(st.tuples(others, answers), min_size=1, max_size=4))
    return [say(USER, "go"), *(message for pair in rounds for message in pair)]


@pytest.mark.parametrize(("family", "name"), ALL)
@given(talks(), st.data())
def test_no_word_of_the_client_is_lost_or_doubled(
    family: str, name: str, talk: list[Message], data: st.DataObject
) -> None:
    made = model(family, name)
    book = remembered(made, talk)
    sent = list(talk)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(1, len(sent) - 1))
        sent[at : at + data.draw(st.integers(0, 1))] = data.draw(st.lists(answers | others, max_size=2))
        if len(sent) < 2:
            break
    sent.append(say(USER, "end"))
    plain, plan = (made.text(one.ids.tolist()) for one in (made.plan(sent), made.replayed(sent, book)))
    assert [plan.count(word) for word in WORDS] == [plain.count(word) for word in WORDS]
