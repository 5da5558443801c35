"""The tiny models' chat templates: each family's own markup, and no crash on what clients really send."""

import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ds4.testing.tiny import families
from ds4.testing.tiny.architecture import Family

USER = {"role": "user", "content": "Hi"}
CALL = {
    "role": "assistant",
    "content": None,
    "tool_calls": [{"id": "c1", "function": {"name": "add", "arguments": {"text": "a b", "n": 3}}}],
}
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "42"}
TOOL = {"type": "function", "function": {"name": "add", "parameters": {"type": "object"}}}

FAMILIES = [families.LLAMA, families.GEMMA, families.DEEPSEEK, families.GLM, families.QWEN]
WITH_TOOLS = [families.DEEPSEEK, families.GLM, families.QWEN]


def source(family: Family) -> str:
    return (files("ds4.testing.tiny") / "templates" / family.template).read_text(encoding="utf-8")


def render(family: Family, *messages: Mapping[str, object], tight: bool = True, **variables: Any) -> str:
    environment = ImmutableSandboxedEnvironment(trim_blocks=tight, lstrip_blocks=tight)
    template = environment.from_string(source(family))
    return template.render(messages=messages, bos_token="<BOS>", add_generation_prompt=True, **variables)


@pytest.mark.parametrize(
    ("family", "text"),
    [
        (
            families.LLAMA,
            "<BOS><|start_header_id|>user<|end_header_id|>\n\nHi<|eot_id|>"
            "<|start_header_id|>assistant<|end_header_id|>\n\n",
        ),
        (families.GEMMA, "<BOS><start_of_turn>user\nHi<end_of_turn>\n<start_of_turn>model\n"),
        (families.DEEPSEEK, "<BOS><｜User｜>Hi<｜Assistant｜></think>"),
        (families.GLM, "[gMASK]<sop><|user|>\nHi<|assistant|>\n<think></think>"),
        (
            families.QWEN,
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n<think>\n</think>\n\n",
        ),
    ],
    ids=lambda value: value.template if isinstance(value, Family) else "",
)
def test_one_user_turn_without_thinking(family: Family, text: str) -> None:
    assert render(family, USER, enable_thinking=False) == text


@pytest.mark.parametrize("family", WITH_TOOLS, ids=lambda family: family.template)
def test_thinking_is_on_unless_switched_off(family: Family) -> None:
    assert render(family, USER).rstrip("\n").endswith("<think>")


@pytest.mark.parametrize(
    ("family", "call"),
    [
        (
            families.DEEPSEEK,
            '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="add">\n'
            '<｜DSML｜parameter name="text" string="true">a b</｜DSML｜parameter>\n'
            '<｜DSML｜parameter name="n" string="false">3</｜DSML｜parameter>\n'
            "</｜DSML｜invoke>\n</｜DSML｜tool_calls><｜end▁of▁sentence｜>"
            "<｜User｜><tool_result>42</tool_result><｜Assistant｜>",
        ),
        (
            families.GLM,
            "<tool_call>add\n<arg_key>text</arg_key>\n<arg_value>a b</arg_value>\n"
            "<arg_key>n</arg_key>\n<arg_value>3</arg_value>\n</tool_call>"
            "<|observation|>\n<tool_response>42</tool_response><|assistant|>",
        ),
        (
            families.QWEN,
            "\n<tool_call>\n<function=add>\n<parameter=text>\na b\n</parameter>\n"
            "<parameter=n>\n3\n</parameter>\n</function>\n</tool_call><|im_end|>\n"
            "<|im_start|>user\n<tool_response>\n42\n</tool_response><|im_end|>\n",
        ),
    ],
    ids=lambda value: value.template if isinstance(value, Family) else "",
)
def test_calls_and_results_in_the_familys_markup(family: Family, call: str) -> None:
    text = render(family, USER, CALL, RESULT, tools=[TOOL])
    assert call in text
    assert '"name": "add"' in text.split("Hi")[0]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.template)
@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": None},
        {"role": "assistant"},
        {"role": "developer", "content": "Be brief."},
        {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "not json"}}]},
        RESULT,
    ],
    ids=["null content", "no content", "developer", "unparsed arguments", "stray result"],
)
def test_unusual_messages_do_not_break_the_next_turn(family: Family, message: Mapping[str, object]) -> None:
    text = render(family, message, USER)
    assert "None" not in text
    assert text.index("Hi") > 0


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.template)
def test_whitespace_options_of_the_renderer_change_nothing(family: Family) -> None:
    turns = (USER, CALL, RESULT, {"role": "assistant", "content": "ok", "reasoning_content": "hm"}, USER)
    assert render(family, *turns, tools=[TOOL]) == render(family, *turns, tools=[TOOL], tight=False)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.template)
def test_a_longer_history_extends_the_shorter_one(family: Family) -> None:
    short = render(family, USER, tools=[TOOL], enable_thinking=False)
    longer = render(family, USER, RESULT, tools=[TOOL], enable_thinking=False)
    assert longer.startswith(short[: short.index("Hi") + 2])


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.template)
def test_every_special_entry_in_a_template_is_in_the_vocabulary(family: Family) -> None:
    """A misspelt marker would be encoded as ordinary text and nobody would notice."""
    text = source(family)
    used = [token for token in (*family.controls, *family.user_defined) if token in text]
    for token in used:
        text = text.replace(token, "")
    assert used
    assert re.search(r"<[|｜]|[|｜]>|_of_|MASK|think>|arg_", text) is None
