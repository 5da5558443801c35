"""What a template is told about reasoning, and gpt-oss's one place for what comes before a call."""

import json
from functools import cache

import pytest
from prompt_cases import CASES, ByteTokenizer, call, chat, say, tool

from ds4.core.errors import BadRequest
from ds4.core.messages import Conversation, Thinking
from ds4.formats.thinking import DEEPSEEK_V4, DEEPSEEK_V41, THINK_MAX_CTX
from ds4.prompt.options import PromptOptions
from ds4.prompt.renderer import PromptRenderer
from ds4.testing.clock import FakeClock

SHOWN = "{{ [enable_thinking, thinking, reasoning_effort] | tojson }}"
DEFINED = "{{ [enable_thinking is defined, thinking is defined, reasoning_effort is defined] | tojson }}"


def told(thinking: Thinking, options: PromptOptions = PromptOptions(), source: str = SHOWN) -> object:  # noqa: B008
    renderer = PromptRenderer(ByteTokenizer([]), source, FakeClock(), options=options)
    return json.loads(renderer.render(chat(("user", "q"), thinking=thinking)).text)


def test_nothing_asked_nothing_told() -> None:
    assert told(Thinking(), source=DEFINED) == [False, False, False]


def test_a_switch_goes_by_both_names() -> None:
    assert told(Thinking(enabled=False), source=DEFINED) == [True, True, False]
    assert told(Thinking(True, "low")) == [True, True, "low"]


def test_the_familys_table_applies() -> None:
    small, large = (PromptOptions(n_ctx=n, efforts=DEEPSEEK_V4) for n in (4096, THINK_MAX_CTX))
    assert told(Thinking(True, "max"), small) == [True, True, "high"]
    assert told(Thinking(True, "max"), large) == [True, True, "max"]
    assert told(Thinking(True, "7"), PromptOptions(efforts=DEEPSEEK_V41)) == [True, True, 7]


def test_an_unknown_effort_is_refused() -> None:
    with pytest.raises(BadRequest) as caught:
        told(Thinking(effort="ultra"))
    assert caught.value.param == "reasoning_effort"


HARMONY = next(case for case in CASES if case.name == "harmony")
STRICT = HARMONY.source.replace(
    "{%- set call = m.tool_calls[0].function %}",
    "{%- if m.content and m.thinking %}{{ raise_exception('both content and thinking') }}{% endif %}"
    "{%- set call = m.tool_calls[0].function %}",
)


@cache
def gpt_oss_renderer() -> PromptRenderer:
    assert HARMONY.source != STRICT
    return PromptRenderer(ByteTokenizer(HARMONY.controls), STRICT, FakeClock())


def gpt_oss(conversation: Conversation) -> str:
    return gpt_oss_renderer().render(conversation).text


def test_text_and_reasoning_before_a_call_share_their_place() -> None:
    looked = say("assistant", "Let me look.", reasoning="Hm.", tool_calls=(call("f", "{}"),))
    text = gpt_oss(Conversation((say("user", "q"), looked, say("tool", "r")), (tool("f"),)))
    assert "<|channel|>analysis<|message|>Hm.\n\nLet me look.<|end|>" in text
    alone = say("assistant", "Let me look.", tool_calls=(call("f", "{}"),))
    text = gpt_oss(Conversation((say("user", "q"), alone, say("tool", "r")), (tool("f"),)))
    assert "<|channel|>analysis<|message|>Let me look.<|end|>" in text


@pytest.mark.parametrize(("asked", "level"), [("none", "low"), ("minimal", "low"), ("xhigh", "high")])
def test_gpt_oss_is_told_levels_it_knows(asked: str, level: str) -> None:
    assert f"Reasoning: {level}\n" in gpt_oss(chat(("user", "q"), thinking=Thinking(effort=asked)))
