from typing import Any

import pytest
from api_fakes import CARD

from ds4.api.openai.completions import CompletionRequest, Prompt, completion_request
from ds4.core.errors import BadRequest, Unsupported


def ask(**fields: Any) -> CompletionRequest:
    return completion_request(fields, CARD, n_vocab=257)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("once", ("once",)),
        ("", ("",)),
        (["once"], ("once",)),
        ([1, 256], ((1, 256),)),
        ([[1, 2]], ((1, 2),)),
        ([], ((),)),
        (["a", "", "b"], ("a", "", "b")),
        ([[1], [2, 3]], ((1,), (2, 3))),
        (["a", [1]], ("a", (1,))),
        (["a"] * 32, ("a",) * 32),
    ],
)
def test_prompt_forms(prompt: object, expected: tuple[Prompt, ...]) -> None:
    assert ask(prompt=prompt).prompts == expected


@pytest.mark.parametrize(
    ("prompt", "param"),
    [
        (None, "prompt"),
        (5, "prompt"),
        ({}, "prompt"),
        ([257], "prompt.0"),
        ([1, -1], "prompt.1"),
        ([1, True], "prompt.1"),
        ([1, "a"], "prompt.1"),
        ([1.0], "prompt.0"),
        (["a", 5], "prompt.1"),
        (["a", None], "prompt.1"),
        ([[1], [2, 257]], "prompt.1.1"),
        (["a"] * 33, "prompt"),
    ],
)
def test_a_broken_prompt_is_named(prompt: object, param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        ask(prompt=prompt)
    assert caught.value.param == param


def test_prompts_and_choices_together_are_limited() -> None:
    assert len(ask(prompt=["a"] * 16, n=2).prompts) == 16
    with pytest.raises(BadRequest, match="17 prompts of n = 2 are more than 32 choices"):
        ask(prompt=["a"] * 17, n=2)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"best_of": 3}, "best_of"),
        ({"best_of": 1, "n": 2}, "best_of"),
        ({"suffix": "."}, "suffix"),
        ({"prompt_logprobs": 1}, "prompt_logprobs"),
        ({"echo": True, "logprobs": 0}, "echo"),
    ],
)
def test_what_would_change_the_answer_is_refused_by_name(fields: dict[str, Any], param: str) -> None:
    with pytest.raises(Unsupported) as caught:
        ask(prompt="x", **fields)
    assert caught.value.param == param


@pytest.mark.parametrize("logprobs", [-1, 21, True, 1.5])
def test_logprobs_out_of_range_are_named(logprobs: object) -> None:
    with pytest.raises(BadRequest) as caught:
        ask(prompt="x", logprobs=logprobs)
    assert caught.value.param == "logprobs"


@pytest.mark.parametrize(("asked", "reported"), [(0, 0), (5, 5), (20, 20), (None, None), (False, None)])
def test_logprobs(asked: object, reported: int | None) -> None:
    assert ask(prompt="x", logprobs=asked).wanted.sampling.logprobs == reported


def test_echo_and_choices() -> None:
    asked = ask(prompt="x", echo=True, n=3, best_of=3)
    assert (asked.echo, asked.wanted.n) == (True, 3)


def test_what_asks_for_the_ordinary_is_fine() -> None:
    asked = ask(prompt="x", n=1, best_of=1, echo=False, suffix="", logprobs=None, user="me")
    assert asked == ask(prompt="x")
