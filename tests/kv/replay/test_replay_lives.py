"""Conversations that are answered and edited in turn: what the next prompt says is what the client says.

The whole prompt is read back, turn by turn. With what was sampled in it, it must say the same as without, but
for reasoning that the client left out.
"""

import json
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from replay_talk import FAMILIES, Model, answer, notebook, say

from ds4.core.messages import Message, Role, TextPart, ToolCall
from ds4.core.plan import PromptPlan
from ds4.kv.replay.meaning import Call
from ds4.kv.replay.notebook import Notebook

FILES = Path(__file__).parents[2] / "prompt" / "templates"
TEMPLATES = (("chatml", "chatml"), ("glm-5.2", "glm"), ("chatml", "qwen3"))
ALL = [*((family, "") for family in FAMILIES), *TEMPLATES]
ANSWERS = r"<\|im_start\|>assistant\n|<\|assistant\|>|<｜Assistant｜>"
OTHERS = r"<\|im_start\|>|<\|(?:user|system|observation)\|>|<｜(?:User|System)｜>"
ENDS = r"<\|im_end\|>|<｜end▁of▁sentence｜>"
third = settings(max_examples=-(-settings().max_examples // 3))
WORDS = ("red", "red ", "red green", "re", "d", "", " ", "Hm.", "e\u0301", "\u00e9")


@cache
def model(family: str, name: str) -> Model:
    return Model(family, (FILES / f"{name}.jinja").read_text() if name else "")


def result(text: str, call_id: str) -> Message:
    return replace(say(Role.TOOL, text), tool_call_id=call_id)


words = st.sampled_from(WORDS)
answers = st.builds(
    answer, words, st.sampled_from(["", "Hm.", "red"]), st.lists(st.sampled_from("pq"), max_size=2)
)
others = st.builds(say, st.sampled_from([Role.USER, Role.USER, Role.SYSTEM, Role.DEVELOPER]), words)
results = st.builds(result, words, st.sampled_from(["c0", "c1"]))


def written_anew(message: Message, chance: random.Random) -> Message:
    """As another client writes it down: with other ids and keys in another order, without reasoning."""
    calls = [
        ToolCall(f"x{call.id}", call.name, json.dumps(json.loads(call.arguments), indent=1, sort_keys=True))
        for call in message.tool_calls
    ]
    return replace(message, tool_calls=tuple(calls), reasoning=chance.choice([message.reasoning, None, " "]))


def answered(made: Model, talk: list[Message], book: Notebook, data: st.DataObject) -> list[Message]:
    """The model answers, perhaps twice: the client goes on with the last one."""
    given_answer = answer("")
    for given_answer in data.draw(st.lists(answers, min_size=1, max_size=2)):
        record = made.record(talk, given_answer, book)
        if record is not None:
            book.remember(record)
    after = [result(data.draw(words), call.id) for call in given_answer.tool_calls]
    return [*talk, given_answer, *(after or [data.draw(others)])]


def edited(talk: list[Message], data: st.DataObject) -> list[Message]:
    at = data.draw(st.integers(1, len(talk) - 1))
    message = talk[at]
    anything = answers | others | results
    edits = [
        data.draw(st.lists(anything, max_size=2)),
        [message, data.draw(anything)],
        [replace(message, content=(TextPart(data.draw(words)),))],
        [replace(message, reasoning="Other.") if message.role is Role.ASSISTANT else message],
        [replace(message, tool_calls=message.tool_calls[::-1])],
        [replace(message, tool_calls=message.tool_calls[1:])],
        [message, talk[data.draw(st.integers(0, len(talk) - 1))]],
    ]
    return [*talk[:at], *data.draw(st.sampled_from(edits)), *talk[at + 1 :]]


def squeezed(texts: Sequence[str]) -> str:
    return "".join("".join(texts).split())


@dataclass(frozen=True)
class Turn:
    """What stands there; of an answer what it says, calls and thinks. Blanks do not count."""

    answers: bool
    text: str
    calls: tuple[Call, ...] = ()
    thoughts: str = ""

    def __add__(self, other: "Turn") -> "Turn":
        return Turn(
            self.answers, self.text + other.text, self.calls + other.calls, self.thoughts + other.thoughts
        )


def read_back(made: Model, plan: PromptPlan) -> list[Turn]:
    """Answers that follow one another are one turn."""
    parts = re.split(f"({ANSWERS}|{OTHERS}|{ENDS})", made.text(plan.ids.tolist()))
    turns = [Turn(answers=False, text=parts[0])]
    for marker, text in zip(parts[1::2], parts[2::2], strict=True):
        if re.fullmatch(ANSWERS, marker):
            meant = made.heard(PromptPlan.of(()), made.tokenizer.encode_raw(text)).meaning
            turn = Turn(True, squeezed(meant.text), meant.calls, squeezed(meant.reasoning))
            turns = [*turns[:-1], turns[-1] + turn] if turns[-1].answers else [*turns, turn]
        elif text.strip() or not re.fullmatch(ENDS, marker):
            turns.append(Turn(answers=False, text=text))
    return turns


def check(made: Model, talk: list[Message], book: Notebook) -> int:
    """How many answers were replayed."""
    plan = made.replayed(talk, book)
    now, sent = read_back(made, plan), read_back(made, made.plan(talk))
    assert [replace(turn, thoughts="") for turn in now] == [replace(turn, thoughts="") for turn in sent]
    assert all(a.thoughts == b.thoughts or not b.thoughts for a, b in zip(now, sent, strict=True))
    return plan.replay.turns


@pytest.mark.parametrize(("family", "name"), ALL)
@third
@given(st.lists(st.sampled_from(["answer", "edit", "anew"]), min_size=1, max_size=5), st.data())
def test_a_prompt_says_what_the_client_says(
    family: str, name: str, life: list[str], data: st.DataObject
) -> None:
    made, book = model(family, name), notebook()
    talk = answered(made, [say(Role.USER, "go")], book, data)
    chance = random.Random(len(life))
    for event in life:
        if event == "edit":
            talk = edited(talk, data)
        elif event == "anew":
            talk = [written_anew(message, chance) for message in talk]
        elif talk[-1].role is not Role.ASSISTANT:
            talk = answered(made, talk, book, data)
        if talk[-1].role is Role.ASSISTANT or len(talk) < 2:
            talk = [*talk, say(Role.USER, "end")]
        check(made, talk, book)


@pytest.mark.parametrize(("family", "name"), ALL)
def test_and_answers_are_replayed_in_such_lives(family: str, name: str) -> None:
    made, book = model(family, name), notebook()
    talk = [say(Role.USER, "go")]
    for given_answer in (answer("red", "Hm.", "pq"), answer("red", "Hm.")):
        record = made.record(talk, given_answer, book)
        assert record is not None
        book.remember(record)
        after = [result("r", call.id) for call in given_answer.tool_calls]
        talk += [given_answer, *(after or [say(Role.USER, "end")])]
    assert check(made, [written_anew(message, random.Random(0)) for message in talk], book) == 2
