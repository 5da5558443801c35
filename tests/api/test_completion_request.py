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
        ("once", "once"),
        ("", ""),
        (["once"], "once"),
        ([1, 256], (1, 256)),
        ([[1, 2]], (1, 2)),
        ([], ()),
    ],
)
def test_prompt_forms(prompt: object, expected: Prompt) -> None:
    assert ask(prompt=prompt).prompt == expected


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
    ],
)
def test_a_broken_prompt_is_named(prompt: object, param: str) -> None:
    with pytest.raises(BadRequest) as caught:
        ask(prompt=prompt)
    assert caught.value.param == param


@pytest.mark.parametrize("prompt", [["a", "b"], [[1], [2]], ["a", 5]])
def test_several_prompts_are_refused_by_name(prompt: object) -> None:
    with pytest.raises(Unsupported) as caught:
        ask(prompt=prompt)
    assert caught.value.param == "prompt"


@pytest.mark.parametrize(
    ("name", "value"),
    [("n", 2), ("best_of", 3), ("echo", True), ("suffix", "."), ("logprobs", 0), ("logprobs", 5)],
)
def test_what_would_change_the_answer_is_refused_by_name(name: str, value: object) -> None:
    with pytest.raises(Unsupported) as caught:
        ask(prompt="x", **{name: value})
    assert caught.value.param == name


def test_what_asks_for_the_ordinary_is_fine() -> None:
    asked = ask(prompt="x", n=1, best_of=1, echo=False, suffix="", logprobs=None, user="me")
    assert asked == ask(prompt="x")
