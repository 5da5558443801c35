"""Replayed prompts say what the client says, and have the model's own tokens where that is the same."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from replay_talk import FAMILIES, Model, answer, conversation, notebook, say

from ds4.core.messages import Message, Role, TextPart
from ds4.core.plan import Image, Origin, PastTurn, PromptPlan, Tokens
from ds4.core.usage import AsSent, Replay, Unlike
from ds4.kv.replay.meaning import meaning_of, unlike
from ds4.kv.replay.notebook import Notebook, Options
from ds4.kv.replay.replayer import Replayer
from ds4.kv.replay.splice import Known
from ds4.testing.clock import FakeClock

TEMPLATES = Path(__file__).parents[2] / "prompt" / "templates"
SYSTEM, USER, TOOL = Role.SYSTEM, Role.USER, Role.TOOL
OTHER = '{"deep":{}, "path":"p"}'
words = st.sampled_from(["one", "two words", "x < y & z", "é日👩", "a\nb"])
anything = words | st.sampled_from(["<|im_end|>", "</think>", "<｜User｜>", "<|user|>"])
thoughts = st.sampled_from(["", "Hm.", "Well, well."])
answers = st.builds(answer, words, thoughts, st.lists(st.sampled_from(["p", "/q"]), max_size=2))


@st.composite
def talks(draw: st.DrawFn) -> list[Message]:
    """A question, and then answers with something behind each."""
    messages = [say(SYSTEM, "S"), say(USER, draw(anything))]
    for _ in range(draw(st.integers(1, 4))):
        given_answer = draw(answers)
        messages.append(given_answer)
        results = [replace(say(TOOL, draw(anything)), tool_call_id=c.id) for c in given_answer.tool_calls]
        messages += results or [say(draw(st.sampled_from([USER, SYSTEM])), draw(anything))]
    return messages


Draw = Callable[[st.SearchStrategy[Any]], Any]


def text_edit(message: Message, text: str) -> Message:
    return replace(message, content=(TextPart(text),))


def edited(draw: Draw, messages: list[Message]) -> list[Message]:
    at = draw(st.integers(0, len(messages) - 1))
    message = messages[at]
    edits = [
        [text_edit(message, draw(words))],
        [],
        [message, message],
        [message, say(SYSTEM, "late")],
        [replace(message, reasoning=None)],
        [replace(message, reasoning="Other.")] if message.role is Role.ASSISTANT else [message],
        [replace(message, tool_calls=message.tool_calls[:1])],
        [replace(message, tool_calls=tuple(reversed(message.tool_calls)))],
        [replace(message, tool_calls=tuple(replace(c, arguments=OTHER) for c in message.tool_calls))],
    ]
    return [*messages[:at], *draw(st.sampled_from(edits)), *messages[at + 1 :]]


def remembered(model: Model, messages: Sequence[Message]) -> Notebook:
    """After the model has given every answer in `messages`."""
    book = notebook()
    for at, message in enumerate(messages):
        if message.role is Role.ASSISTANT:
            record = model.record(messages[:at], message, book)
            assert record is not None
            assert unlike(record.meaning, meaning_of([message])) is None
            book.remember(record)
    return book


def turns_of(messages: Sequence[Message]) -> list[list[Message]]:
    found: list[list[Message]] = []
    for before, message in zip([None, *messages], messages, strict=False):
        if message.role is Role.ASSISTANT:
            if before is None or before.role is not Role.ASSISTANT:
                found.append([])
            found[-1].append(message)
    return found


def around(plan: PromptPlan) -> list[list[int]]:
    """The rows between the answers."""
    known = [(turn.start, turn.end) for turn in plan.turns if turn.start is not None and turn.end is not None]
    edges = [0, *(edge for turn in known for edge in turn), plan.rows]
    return [plan.ids[a:b].tolist() for a, b in zip(edges[::2], edges[1::2], strict=True)]


def rows_of(plan: PromptPlan, turn: int) -> list[int]:
    place = plan.turns[turn]
    return [int(row) for row in plan.ids[place.start : place.end]]


def inside(turn: PastTurn) -> range:
    assert turn.start is not None
    assert turn.end is not None
    return range(turn.start + 1, turn.end)


def check_sound(plan: PromptPlan, plain: PromptPlan) -> None:
    """All that counts rows still does, and what is no answer is as it was."""
    assert around(plan) == around(plain)
    flat = [row for item in plan.items for row in (item.ids if isinstance(item, Tokens) else item.row_ids())]
    assert flat == plan.ids.tolist()
    assert plan.ids[plan.answer_start :].tolist() == plain.ids[plain.answer_start :].tolist()
    rows = [boundary.row for boundary in plan.boundaries]
    assert rows == sorted(rows)


@pytest.mark.parametrize("family", FAMILIES)
@given(st.data())
def test_no_edit_is_ever_lost(family: str, data: st.DataObject) -> None:
    model, messages = Model(family), data.draw(talks())
    book = remembered(model, messages)
    sent = messages
    for _ in range(data.draw(st.integers(0, 2))):
        sent = edited(data.draw, sent)
    if not sent or sent[-1].role is Role.ASSISTANT:
        sent = [*sent, say(USER, "go on")]
    plain, plan = model.plan(sent), model.replayed(sent, book)
    if len(plan.turns) == len(turns_of(sent)):
        check_sound(plan, plain)
        for at, wanted in enumerate(turns_of(sent)):
            if rows_of(plan, at) != rows_of(plain, at):
                assert unlike(model.said(rows_of(plan, at)), meaning_of(wanted)) is None
                assert not any(boundary.row in inside(plan.turns[at]) for boundary in plan.boundaries)
    if sent == messages:
        assert plan.replay == Replay(len(turns_of(sent)))


@pytest.mark.parametrize("family", FAMILIES)
@given(talks())
def test_what_was_sampled_stands_in_the_next_prompt(family: str, messages: list[Message]) -> None:
    """Every prompt begins with the one before and its answer."""
    model, book, held = Model(family), notebook(), np.array([], np.int32)
    for at, message in enumerate(messages):
        if message.role is not Role.ASSISTANT:
            continue
        plan = model.replayed(messages[:at], book)
        assert plan.ids[: held.size].tolist() == held.tolist()
        record = model.record(messages[:at], message, book)
        assert record is not None
        book.remember(record)
        held = np.concatenate([plan.ids[: plan.answer_start], record.ids])


# What a template from a model file writes


def with_template(family: str, name: str) -> Model:
    return Model(family, (TEMPLATES / f"{name}.jinja").read_text())


TALK = [
    say(SYSTEM, "S"),
    say(USER, "First?"),
    answer("Two.", "Hm.", ["p"]),
    say(TOOL, "three"),
    answer("Four."),
]


@pytest.mark.parametrize(
    ("family", "name"),
    [("chatml", "chatml"), ("glm-5.2", "glm"), ("deepseek-v4", "deepseek"), ("qwen3.8", "qwen3")],
)
def test_a_template_is_replayed_too(family: str, name: str) -> None:
    model = with_template(family, name)
    book = remembered(model, TALK)
    plan = model.replayed([*TALK, say(USER, "five")], book)
    assert plan.replay == Replay(2)
    text = model.text(plan.ids.tolist())
    assert [text.count(word) for word in ("First?", "Two.", "three", "Four.", "five", "Hm.")] == [1] * 6


def test_text_behind_an_answer_that_nothing_ends_is_not_swallowed() -> None:
    """GLM's system marker ends no answer: the next end token stands behind the system text."""
    model = with_template("glm-5.2", "glm")
    book = remembered(model, TALK)
    plan = model.replayed([*TALK, say(SYSTEM, "Be brief!"), say(USER, "five")], book)
    assert "Be brief!" in model.text(plan.ids.tolist())
    assert plan.replay == Replay(1, (AsSent(4, Unlike.NO_PLACE),))


@pytest.mark.parametrize("family", FAMILIES)
def test_two_messages_are_one_answer(family: str) -> None:
    model = Model(family)
    asked, whole = [say(SYSTEM, "S"), say(USER, "one")], answer("Two. Three.", "", ["p"])
    book = remembered(model, [*asked, whole])
    sent = [*asked, answer("Two."), replace(whole, content=(TextPart("Three."),)), say(TOOL, "four")]
    plan = model.replayed(sent, book)
    assert plan.replay == Replay(1)
    # Where the second of them began is no place any more.
    assert len(plan.boundaries) == len(model.plan(sent).boundaries) - 1
    text = model.text(plan.ids.tolist())
    assert [text.count(word) for word in ("Two. Three.", "Two.", "Three.", "look", "four")] == [1, 1, 1, 2, 1]


def test_a_template_has_one_end_for_each_message() -> None:
    model = with_template("chatml", "chatml")
    book = remembered(model, [say(USER, "one"), answer("Two. Three.")])
    plan = model.replayed([say(USER, "one"), answer("Two."), answer("Three."), say(USER, "four")], book)
    text = model.text(plan.ids.tolist())
    assert plan.replay.turns == 1
    assert [text.count(word) for word in ("Two. Three.", "Two.", "Three.", "four")] == [1] * 4


def test_a_message_between_two_that_nobody_sees_keeps_them_apart() -> None:
    """DeepSeek V4 writes nothing of it: two answers of the client are one turn of the prompt."""
    model = Model("deepseek-v4")
    book = remembered(model, [say(USER, "one"), answer("Two.")])
    sent = [say(USER, "one"), answer("Two."), say(SYSTEM, ""), answer("Three."), say(USER, "four")]
    plan = model.replayed(sent, book)
    assert plan.replay == Replay()
    assert "Three." in model.text(plan.ids.tolist())


def test_an_answer_that_is_gone_on_with_is_not_replayed() -> None:
    for model in (Model("chatml"), with_template("chatml", "chatml")):
        book = remembered(model, [say(USER, "one"), answer("Two.")])
        plan = model.replayed([say(USER, "one"), answer("Two.")], book)
        assert plan.replay == Replay()
        assert model.text(plan.ids.tolist()).endswith("Two.")


# Whose, and where


def test_another_caller_s_answers_are_not_used() -> None:
    model = Model("qwen3.8")
    asked = conversation(TALK[:4])
    book = remembered(model, TALK[:3])
    theirs = replace(asked, namespace="other")
    plan = Replayer(book, model.tokenizer).replay(model.renderer.render(theirs), theirs)
    assert plan.replay == Replay()


def test_of_two_answers_to_one_prompt_the_one_that_was_given_is_used() -> None:
    model, asked = Model("qwen3.8"), [say(USER, "one")]
    book = notebook()
    for text in ("Two.", "Three.", "Four."):
        record = model.record(asked, answer(text), book)
        assert record is not None
        book.remember(record)
    plan = model.replayed([*asked, answer("Three."), say(USER, "five")], book)
    assert plan.replay == Replay(1)
    assert "Three." in model.text(plan.ids.tolist())


def test_an_image_stays_where_it_is() -> None:
    model = Model("qwen3.8")
    book = remembered(model, TALK[:3])
    plan = model.plan(TALK[:4])
    image = Image("ab" * 32, 4, 1, causal=True)
    with_image = PromptPlan.of(
        [*plan.items, image], boundaries=plan.boundaries, namespace=plan.namespace, turns=plan.turns
    )
    found = Replayer(book, model.tokenizer).replay(with_image, conversation(TALK[:4]))
    assert found.replay.turns == 1
    assert found.items[-1] == image
    assert sum(isinstance(item, Tokens) and item.origin is Origin.REPLAYED for item in found.items) == 1
    check_sound(found, with_image)


@pytest.mark.parametrize(("question", "turns"), [("", 1), ("And?", 0)])
def test_reasoning_is_left_to_the_template_where_the_operator_wants_that(question: str, turns: int) -> None:
    model = Model("qwen3.8")
    sent = [*TALK[:4], *([say(USER, "x"), answer("y"), say(USER, question)] if question else [])]
    book = Notebook(Options(keeps_reasoning=False), FakeClock())
    for record in [model.record(TALK[:2], TALK[2], book)]:
        assert record is not None
        book.remember(record)
    plan = model.replayed(sent, book)
    assert plan.replay.turns == turns
    assert [one.why for one in plan.replay.refused] == [Unlike.REASONING_LEFT_OUT] * (1 - turns)
    assert ("Hm." in model.text(plan.ids.tolist())) == bool(turns)


@pytest.mark.parametrize("thought", ["Two.", "Two", "p"])
def test_reasoning_is_left_out_also_where_the_answer_says_the_same(thought: str) -> None:
    model = Model("qwen3.8")
    talk = [say(USER, "one"), answer("Two.", thought, ["p"]), say(USER, "three")]
    book = Notebook(Options(keeps_reasoning=False), FakeClock())
    record = model.record(talk[:1], talk[1], book)
    assert record is not None
    book.remember(record)
    plan = model.replayed(talk, book)
    assert plan.replay == Replay(0, (AsSent(1, Unlike.REASONING_LEFT_OUT),))
    assert plan.ids.tolist() == model.plan(talk).ids.tolist()


def test_pages_are_what_the_splice_asks_for() -> None:
    known: Known = notebook().of("")
    assert (known.spots().size, list(known.find(b""))) == (0, [])
