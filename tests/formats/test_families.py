"""Family data, detection and the built-in templates."""

from collections.abc import Iterator
from typing import Any

import pytest
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ds4.core.errors import OptionError
from ds4.formats.family import Family
from ds4.formats.registry import FAMILIES, detect, family_named


def render(family: Family, messages: list[dict[str, Any]], *, trim: bool = True, **variables: Any) -> str:
    env = ImmutableSandboxedEnvironment(trim_blocks=trim, lstrip_blocks=trim)
    variables.setdefault("add_generation_prompt", True)
    return env.from_string(family.template).render(messages=messages, **variables)


def said(role: str, content: str | None, reasoning: str | None = None) -> dict[str, Any]:
    return {"role": role, "content": content, "reasoning_content": reasoning}


CHAT = [
    said("system", "Be brief."),
    said("user", "2+2?"),
    said("assistant", "4", "easy"),
    said("user", "And 3+3?"),
]


def thinking_off(family: Family) -> dict[str, bool]:
    return {"thinking": False} if family.name.startswith("deepseek") else {"enable_thinking": False}


@pytest.mark.parametrize(
    ("arch", "controls", "name"),
    [
        ("deepseek4", (), "deepseek-v4"),
        ("deepseek4", ("<｜System｜>",), "deepseek-v4.1"),
        ("glm-dsa", (), "glm-5.2"),
        ("glm5-next", (), "glm-5.3"),
        ("qwen4exp", ("<|im_start|>",), "qwen3.8"),
        ("llama", ("<|im_start|>", "<|im_end|>"), "chatml"),
        ("llama", ("<s>",), "generic"),
        ("nobody-knows", (), "generic"),
        ("", (), "generic"),
    ],
)
def test_detect(arch: str, controls: tuple[str, ...], name: str) -> None:
    assert detect(arch, controls).name == name


def test_every_family_is_found_by_its_name() -> None:
    assert [family_named(family.name) for family in FAMILIES] == list(FAMILIES)


def test_unknown_family_is_refused_with_the_known_ones() -> None:
    with pytest.raises(OptionError) as caught:
        family_named("deepseek-v5")
    assert "--model-family deepseek-v5" in caught.value.message
    assert all(family.name in caught.value.message for family in FAMILIES)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_spellings_are_consistent(family: Family) -> None:
    assert len(set(family.spellings)) == len(family.spellings)
    assert all(family.spellings)
    ends = {family.bos, family.eos, *family.ends} - {None}
    assert ends <= set(family.control)


def test_quantum_and_aliases() -> None:
    quanta = {family.name: family.min_quantum for family in FAMILIES if family.min_quantum != 1}
    assert quanta == {"glm-5.3": 1024}
    deepseek = ("deepseek-v4-flash", "deepseek-v4-pro", "deepseek-chat", "deepseek-reasoner")
    aliases = {family.name: family.aliases for family in FAMILIES if family.aliases}
    assert aliases == {"deepseek-v4": deepseek, "deepseek-v4.1": deepseek}


EFFORT = " (range 1-100, the higher the value, the more thorough the reasoning)\n\n"


def golden() -> Iterator[tuple[str, bool, str]]:
    """(family, thinking, CHAT rendered)."""
    yield (
        "deepseek-v4",
        True,
        "<｜begin▁of▁sentence｜>Be brief.<｜User｜>2+2?<｜Assistant｜></think>4<｜end▁of▁sentence｜>"
        "<｜User｜>And 3+3?<｜Assistant｜><think>",
    )
    yield (
        "deepseek-v4",
        False,
        "<｜begin▁of▁sentence｜>Be brief.<｜User｜>2+2?<｜Assistant｜></think>4<｜end▁of▁sentence｜>"
        "<｜User｜>And 3+3?<｜Assistant｜></think>",
    )
    yield (
        "deepseek-v4.1",
        True,
        f"<｜begin▁of▁sentence｜><｜System｜>Reasoning Effort: 75{EFFORT}Be brief."
        "<｜User｜>2+2?<｜Assistant｜>4<｜end▁of▁sentence｜><｜User｜>And 3+3?<｜Assistant｜><think>",
    )
    yield (
        "deepseek-v4.1",
        False,
        "<｜begin▁of▁sentence｜><｜System｜>Be brief.<｜User｜>2+2?<｜Assistant｜></think>4"
        "<｜end▁of▁sentence｜><｜User｜>And 3+3?<｜Assistant｜></think>",
    )
    for name in ("glm-5.2", "glm-5.3"):
        head = (
            "[gMASK]<sop><|system|>Be brief.<|user|>2+2?<|assistant|></think>4<|user|>And 3+3?<|assistant|>"
        )
        yield name, True, head + "<think>"
        yield name, False, head + "</think>"
    chatml = (
        "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\n2+2?<|im_end|>\n"
        "<|im_start|>assistant\n4<|im_end|>\n<|im_start|>user\nAnd 3+3?<|im_end|>\n<|im_start|>assistant\n"
    )
    yield "qwen3.8", True, chatml + "<think>\n"
    yield "qwen3.8", False, chatml + "<think>\n\n</think>\n\n"
    yield "chatml", True, chatml
    yield (
        "generic",
        True,
        "System: Be brief.\n\nUser: 2+2?\n\nAssistant: 4\n\nUser: And 3+3?\n\nAssistant:",
    )


@pytest.mark.parametrize("trim", [True, False])
@pytest.mark.parametrize(("name", "thinking", "text"), list(golden()))
def test_chat(name: str, thinking: bool, text: str, trim: bool) -> None:
    family = family_named(name)
    variables = {} if thinking else thinking_off(family)
    assert render(family, CHAT, trim=trim, **variables) == text


def test_deepseek_without_system_message_and_thinking() -> None:
    text = render(family_named("deepseek-v4"), [said("user", "Name a river.")], thinking=False)
    assert text == "<｜begin▁of▁sentence｜><｜User｜>Name a river.<｜Assistant｜></think>"


def test_deepseek_hoists_and_joins_all_system_messages() -> None:
    messages = [
        said("system", "A"),
        said("user", "q"),
        said("developer", "B"),
        said("system", ""),
    ]
    text = render(family_named("deepseek-v4"), messages)
    assert text == "<｜begin▁of▁sentence｜>A\n\nB\n\n<｜User｜>q<｜Assistant｜><think>"


def test_deepseek_v41_keeps_a_later_system_message_at_its_place_as_a_turn() -> None:
    messages = [said("user", "q"), said("assistant", "a", "r"), said("system", "late")]
    text = render(family_named("deepseek-v4.1"), messages, thinking=False)
    assert text == (
        "<｜begin▁of▁sentence｜><｜User｜>q<｜Assistant｜></think>a<｜end▁of▁sentence｜>"
        "<｜System｜>late<｜Assistant｜></think>"
    )


@pytest.mark.parametrize(
    ("effort", "number"),
    [(None, 75), ("low", 50), ("high", 75), ("xhigh", 75), ("max", 100), (33, 33)],
)
def test_deepseek_v41_effort(effort: str | int | None, number: int) -> None:
    text = render(family_named("deepseek-v4.1"), [said("user", "q")], reasoning_effort=effort)
    assert f"<｜System｜>Reasoning Effort: {number}{EFFORT}<｜User｜>q" in text


@pytest.mark.parametrize(
    ("name", "tail"),
    [
        ("deepseek-v4", "<｜Assistant｜><think>why</think>half<｜end▁of▁sentence｜>"),
        ("deepseek-v4.1", "<｜Assistant｜><think>why</think>half<｜end▁of▁sentence｜>"),
        ("glm-5.2", "<|assistant|><think>why</think>half"),
        ("qwen3.8", "<|im_start|>assistant\n<think>\nwhy\n</think>\n\nhalf<|im_end|>\n"),
    ],
)
def test_reasoning_after_the_last_user_turn_is_kept(name: str, tail: str) -> None:
    messages = [said("user", "q"), said("assistant", "half", "why")]
    text = render(family_named(name), messages, add_generation_prompt=False)
    assert text.endswith(tail)


def test_deepseek_closes_a_final_assistant_message_and_adds_nothing() -> None:
    text = render(family_named("deepseek-v4"), [said("assistant", "one"), said("assistant", "two", "r")])
    assert text == "<｜begin▁of▁sentence｜>one<｜end▁of▁sentence｜>two<｜end▁of▁sentence｜>"


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_null_content_and_unknown_variables_do_not_crash(family: Family) -> None:
    messages = [{"role": "user", "content": None}, {"role": "assistant", "content": None}, said("tool", "7")]
    text = render(family, messages, tools=[{"name": "f"}], thinking=None, enable_thinking=None)
    assert "7" in text
    assert "None" not in text
    assert render(family, []) is not None
