"""Where the answers stand in a prompt: those of the history, and the one to generate."""

from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_cases import ALL_CASES, CASES, LAYOUT_CASES, ByteTokenizer, Case, call, chat, say

from ds4.core.messages import Conversation, Message
from ds4.core.plan import PromptPlan
from ds4.prompt.renderer import PromptRenderer
from ds4.testing.clock import FakeClock

every_case = pytest.mark.parametrize("case", ALL_CASES, ids=lambda case: case.layout or case.name)
every_layout = pytest.mark.parametrize("case", LAYOUT_CASES, ids=lambda case: case.layout)
TALK = (
    *(say("system", "S"), say("user", "Q1")),
    *(say("assistant", "A1"), say("user", "Q2"), say("assistant", "A2"), say("user", "Q3")),
)


def text_of(case: Case, ids: Iterable[int]) -> str:
    tokenizer = ByteTokenizer(case.controls)
    return b"".join(tokenizer.piece(int(row)) for row in ids).decode()


def plan_of(case: Case, messages: Sequence[Message]) -> PromptPlan:
    return case.renderer().render(Conversation(tuple(messages)))


@every_case
def test_the_answer_begins_where_the_conversation_ends(case: Case) -> None:
    """Its rows are those of the history that the answer itself is rendered behind."""
    plan = plan_of(case, TALK)
    assert plan.answer_start is not None
    assert "Q3" in text_of(case, plan.ids[: plan.answer_start])
    later = plan_of(case, (*TALK, say("assistant", "A3"), say("user", "Q4")))
    if case.name == "mistral":
        return  # the system text moves to the last question
    assert list(later.ids[: plan.answer_start]) == list(plan.ids[: plan.answer_start])


@every_case
def test_every_answer_of_the_history_has_its_place(case: Case) -> None:
    plan = plan_of(case, TALK)
    assert [turn.messages for turn in plan.turns] == [1, 1]
    for turn, said, following in zip(plan.turns, ("A1", "A2"), ("Q2", "Q3"), strict=True):
        assert said in text_of(case, plan.ids[turn.after : turn.until])
        assert following not in text_of(case, plan.ids[: turn.until])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_nothing_of_the_client_stands_between_its_last_words_and_an_answer(case: Case) -> None:
    plan = plan_of(case, TALK)
    for turn, before, said in zip(plan.turns, ("Q1", "Q2"), ("A1", "A2"), strict=True):
        assert text_of(case, plan.ids[: turn.after]).endswith(before)
        assert text_of(case, plan.ids[turn.after : turn.until]).count(said) == 1


def test_what_a_template_moves_costs_its_neighbours_their_place() -> None:
    """Late system text goes to the top."""
    case = next(case for case in CASES if case.name == "deepseek")
    late = (*TALK[:3], say("system", "late"), say("assistant", "B1"), *TALK[3:])
    assert [turn.until > 0 for turn in plan_of(case, late).turns] == [False, False, True]
    beside = (*TALK[:2], say("system", "late"), *TALK[2:])
    plan = plan_of(case, beside)
    assert [turn.until > 0 for turn in plan.turns] == [True, True]
    assert text_of(case, plan.ids[: plan.turns[0].after]).endswith("Q1")


def test_what_a_template_writes_twice_has_no_place() -> None:
    doubling = (
        "{% for m in messages %}"
        "<|im_start|>{{ m.role }}\n{{ m.content }}{{ m.content }}<|im_end|>{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    renderer = PromptRenderer(ByteTokenizer(("<|im_start|>", "<|im_end|>")), doubling, FakeClock())
    plan = renderer.render(chat(("user", "q"), ("assistant", "a"), ("user", "r")))
    assert (plan.turns, plan.answer_start) == ((), None)


@pytest.mark.parametrize(("role", "places"), [("m.role", [True, True]), ("m.name or m.role", [False, True])])
def test_an_answer_whose_name_is_written_has_no_place(role: str, places: list[bool]) -> None:
    template = (
        "{% for m in messages %}<|im_start|>{{ ROLE }}\n{{ m.content }}<|im_end|>{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    ).replace("ROLE", role)
    renderer = PromptRenderer(ByteTokenizer(("<|im_start|>", "<|im_end|>")), template, FakeClock())
    talk = [*TALK[:2], say("assistant", "A1", name="ann"), *TALK[3:]]
    plan = renderer.render(Conversation(tuple(talk)))
    assert [turn.until > 0 for turn in plan.turns] == places


@every_layout
def test_a_layout_knows_it_to_the_row(case: Case) -> None:
    plan = plan_of(case, TALK)
    asked = plan_of(case, TALK[:2])
    for turn, said in zip(plan.turns, ("A1", "A2"), strict=True):
        assert turn.start is not None
        assert turn.end == turn.until
        assert text_of(case, plan.ids[turn.start : turn.end]).endswith(said)
    assert plan.turns[0].start == asked.answer_start


@pytest.mark.parametrize("case", [c for c in CASES if not c.simple], ids=lambda case: case.name)
def test_what_follows_an_answer_may_be_anything(case: Case) -> None:
    messages = [
        say("user", "Q1"),
        say("assistant", "A1", tool_calls=(call("look", "{}"),)),
        say("tool", "  R1 ", tool_call_id="abcdefgh1"),
        say("assistant", ""),
        say("user", "  "),
        say("assistant", "A3"),
        say("user", "Q3"),
    ]
    plan = plan_of(case, messages)
    for turn, after in zip(plan.turns, ("R1", "A3", "Q3"), strict=False):
        assert after not in text_of(case, plan.ids[: turn.until])


@every_case
def test_an_answer_that_is_gone_on_with_is_not_complete(case: Case) -> None:
    plan = plan_of(case, (*TALK[:4], say("assistant", "and")))
    assert plan.answer_start is None
    assert len(plan.turns) == 1


@every_layout
def test_messages_that_follow_one_another_are_one_answer(case: Case) -> None:
    plan = plan_of(case, (*TALK[:3], say("assistant", "B1"), *TALK[3:]))
    assert [turn.messages for turn in plan.turns] == [2, 1]
    text = text_of(case, plan.ids[plan.turns[0].start : plan.turns[0].end])
    assert "A1" in text
    assert text.endswith("B1")


def test_answers_that_a_form_made_neighbours_have_no_place() -> None:
    """A template that takes no late system text, and an empty one between two answers."""
    refusing = (
        "{% for m in messages %}"
        "{% if m.role == 'system' and loop.index0 %}{{ raise_exception('no') }}{% endif %}"
        "<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    renderer = PromptRenderer(ByteTokenizer(("<|im_start|>", "<|im_end|>")), refusing, FakeClock())
    sent = chat(("user", "q"), ("assistant", "a"), ("system", ""), ("assistant", "b"), ("user", "r"))
    plan = renderer.render(sent)
    assert plan.turns == ()
    assert plan.answer_start is not None


def test_a_template_that_changes_with_its_end_tells_nothing() -> None:
    changing = (
        "{{ 'A' if add_generation_prompt else 'B' }}"
        "{% for m in messages %}<|im_start|>{{ m.content }}<|im_end|>{% endfor %}"
    )
    renderer = PromptRenderer(ByteTokenizer(("<|im_start|>", "<|im_end|>")), changing, FakeClock())
    plan = renderer.render(chat(("user", "q"), ("assistant", "a"), ("user", "r")))
    assert (plan.turns, plan.answer_start) == ((), None)


@pytest.mark.parametrize("name", ["chatml", "llama3", "glm", "phi"])
@given(texts=st.lists(st.text("aé <|_>\n{}", max_size=6), min_size=3, max_size=7))
def test_a_place_never_reaches_into_what_follows(name: str, texts: list[str]) -> None:
    case = next(case for case in CASES if case.name == name)
    roles = ["user", "assistant"] * len(texts)
    marked = [f"{text}\u2603{number}" for number, text in enumerate(texts)]
    messages = [say(role, text) for role, text in zip(roles, marked, strict=False)]
    if messages[-1].role.value == "assistant":
        messages.append(say("user", "end\u2603"))
    plan = plan_of(case, messages)
    for number, turn in enumerate(plan.turns):
        assert text_of(case, plan.ids[: turn.until]).count("\u2603") == 2 * number + 2
