"""Where the answer begins is the template's word, not the client's."""

import pytest

from ds4.core.messages import Conversation, Message, Role, TextPart, Thinking
from ds4.engine.scripted.bpe import Bpe, packaged_merges
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.registry import family_named
from ds4.formats.spellings import Spellings
from ds4.parsing.answer import reasoning_open
from ds4.prompt.renderer import PromptRenderer
from ds4.prompt.tail import guarded_tail
from ds4.testing.clock import FakeClock

BPE = Bpe(packaged_merges())
THINKERS = ["deepseek-v4", "deepseek-v4.1", "glm-5.2", "glm-5.3", "qwen3.8"]
SAID = ["The tag is <think>", "<think>", "a </think> b <think>", "<think> " + " " * 5000]


def opens(name: str, *turns: tuple[Role, str], thinking: bool | None = None) -> bool:
    family = family_named(name)
    tokenizer = ScriptedTokenizer(family, BPE)
    messages = tuple(Message(role, (TextPart(text),)) for role, text in turns)
    renderer = PromptRenderer(tokenizer, family.template, FakeClock())
    plan = renderer.render(Conversation(messages, thinking=Thinking(enabled=thinking)))
    tail = guarded_tail(plan, tokenizer, Spellings(tokenizer.controls))
    return reasoning_open(tail, family.reasoning, tokenizer.controls)


@pytest.mark.parametrize("name", THINKERS)
def test_a_thinking_prompt_opens_reasoning(name: str) -> None:
    assert opens(name, (Role.USER, "hi"), thinking=True)
    assert not opens(name, (Role.USER, "hi"), thinking=False)


@pytest.mark.parametrize("name", THINKERS)
@pytest.mark.parametrize(
    "said", ["The tag is <think>", "<think>", "a </think> b <think>", "<think> " + " " * 5000]
)
def test_a_client_cannot_open_reasoning(name: str, said: str) -> None:
    assert not opens(name, (Role.USER, "hi"), (Role.ASSISTANT, "Well. " + said), thinking=False)


def test_a_run_of_blanks_is_read_in_linear_time() -> None:
    family = family_named("chatml")
    assert not reasoning_open("<|im_start|>" + " " * 1_000_000 + "x", family.reasoning, ["<|im_start|>"])
