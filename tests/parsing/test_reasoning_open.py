"""Where an answer begins is read off the rendered prompt's end."""

import pytest

from ds4.formats.reasoning import THINK
from ds4.formats.tools.harmony import HARMONY
from ds4.parsing.answer import reasoning_open

CONTROLS = (
    "<｜User｜>",
    "<｜Assistant｜>",
    "<|im_start|>",
    "<|im_end|>",
    "<|end_header_id|>",
    "<think>",
    "</think>",
)


@pytest.mark.parametrize(
    ("prompt", "is_open"),
    [
        ("<｜User｜>q<｜Assistant｜><think>", True),
        ("<｜User｜>q<｜Assistant｜></think>", False),
        ("<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n<think>\n", True),
        ("<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n", False),
        ("<|im_start|>user\nq<|im_end|>\n<|im_start|>assistant\n", False),
        ("<|end_header_id|>\n\n<think>\n", True),
        ("", False),
        ("A: <think>", True),
        pytest.param("<｜User｜>what is <think>?<｜Assistant｜></think>", False, id="asked about"),
        pytest.param("<｜User｜>what is <think>?<|im_start|>assistant\n", False, id="asked, not closed"),
        pytest.param("<｜User｜>q<｜Assistant｜><think>Let me", True, id="reasoning is continued"),
        pytest.param("<｜User｜>q<｜Assistant｜><think>So</think>It", False, id="text is continued"),
        pytest.param("<|im_start|>assistant\n<think>\nLet me", True, id="continued after a role"),
        pytest.param("<｜Assistant｜></think>The tag <think> opens", False, id="text that names it"),
    ],
)
def test_reasoning_open(prompt: str, is_open: bool) -> None:
    assert reasoning_open(prompt, THINK, CONTROLS) is is_open


def test_harmony() -> None:
    assert HARMONY.channels is not None
    marks = HARMONY.channels.reasoning
    assert reasoning_open("<|start|>assistant<|channel|>analysis<|message|>", marks)
    assert not reasoning_open("<|start|>assistant", marks)
