"""The official openai SDK against a running server, on the demo model and on the scripted engine."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import httpx
import openai
import openai.types.chat
import pytest
from openai.types.chat import ChatCompletionChunk, ChatCompletionUserMessageParam

from ds4.testing.process import ServerProcess, server_process

pytestmark = [pytest.mark.server, pytest.mark.engine]

SCRIPT = """
def reply(prompt):
    return "The rivers are Rhine, Main, Elbe and Oder. " * 3
"""


@pytest.fixture(scope="module", params=["demo", "scripted"])
def server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ServerProcess]:
    folder: Path = tmp_path_factory.mktemp(request.param)
    options = ["--ctx", "1024", "--batched-session", "4"]
    if request.param == "scripted":
        script = folder / "rivers.py"
        script.write_text(SCRIPT)
        options += ["--engine", "scripted", "--script", str(script)]
    with server_process(folder, *options) as running:
        yield running


@pytest.fixture
def client(server: ServerProcess) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as made:
        yield made


def warm(client: openai.OpenAI, text: str) -> list[ChatCompletionUserMessageParam]:
    """A prompt that is in memory already, so that every later request computes it in the same steps.

    A real model's sums, and now and then a token, depend on how a prompt is cut into steps.
    """
    client.chat.completions.create(model="any", messages=user(text), max_tokens=1)
    return user(text)


def user(text: str) -> list[ChatCompletionUserMessageParam]:
    return [{"role": "user", "content": text}]


def joined(chunks: list[ChatCompletionChunk]) -> str:
    return "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices)


def test_whole_and_streamed_answers_are_the_same(client: openai.OpenAI) -> None:
    messages = warm(client, "Name two rivers. " * 10)
    whole = client.chat.completions.create(model="any", messages=messages, temperature=0, max_tokens=24)
    chunks = list(
        client.chat.completions.create(
            model="any",
            messages=messages,
            temperature=0,
            max_tokens=24,
            stream=True,
            stream_options={"include_usage": True},
        )
    )
    assert whole.model == "any"
    assert whole.choices[0].message.content
    assert joined(chunks) == whole.choices[0].message.content
    reasons = [choice.finish_reason for chunk in chunks for choice in chunk.choices if choice.finish_reason]
    assert reasons == [whole.choices[0].finish_reason]
    usage, streamed = whole.usage, chunks[-1].usage
    assert usage is not None
    assert streamed is not None
    assert (streamed.prompt_tokens, streamed.completion_tokens) == (
        usage.prompt_tokens,
        usage.completion_tokens,
    )
    assert streamed.prompt_tokens_details is not None
    assert streamed.prompt_tokens_details.cached_tokens == usage.prompt_tokens - 1, "the same prompt again"


def test_max_tokens_gives_length(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="any", messages=user("Count."), max_tokens=3)
    assert answer.choices[0].finish_reason == "length"
    assert answer.usage is not None
    assert answer.usage.completion_tokens == 3


def test_a_stop_string_cuts_the_answer(client: openai.OpenAI) -> None:
    messages = warm(client, "Name two rivers. " * 10)
    whole = client.chat.completions.create(model="any", messages=messages, temperature=0, max_tokens=24)
    text = whole.choices[0].message.content
    assert text is not None
    stop = text[5:9]
    cut = client.chat.completions.create(
        model="any", messages=messages, temperature=0, max_tokens=24, stop=[stop, "never said"]
    )
    assert cut.choices[0].message.content == text[: text.index(stop)]
    assert cut.choices[0].finish_reason == "stop"


def test_a_seed_repeats_an_answer(client: openai.OpenAI) -> None:
    messages = warm(client, "Tell me a story about a river. " * 10)
    answers = {
        client.chat.completions.create(model="any", messages=messages, seed=7, max_tokens=16)
        .choices[0]
        .message.content
        for _ in range(3)
    }
    assert len(answers) == 1


def test_completions_whole_and_streamed(client: openai.OpenAI) -> None:
    prompt = "The river flows to the sea. " * 10
    client.completions.create(model="any", prompt=prompt, max_tokens=1)
    whole = client.completions.create(model="any", prompt=prompt, temperature=0, max_tokens=12)
    pieces = client.completions.create(model="any", prompt=prompt, temperature=0, max_tokens=12, stream=True)
    assert "".join(piece.choices[0].text for piece in pieces) == whole.choices[0].text
    assert whole.choices[0].text


def test_four_at_once_each_get_an_answer_of_their_own(server: ServerProcess) -> None:
    async def all_of(questions: list[str]) -> list[openai.types.chat.ChatCompletion]:
        async with openai.AsyncOpenAI(base_url=f"{server.url}/v1", api_key="none", max_retries=0) as client:
            asked = [
                client.chat.completions.create(
                    model="any", messages=user(question), temperature=0, max_tokens=16
                )
                for question in questions
            ]
            return await asyncio.gather(*asked)

    questions = [f"Say something about {thing}. " * 5 for thing in ("rivers", "trees", "iron", "bread")]
    answers = asyncio.run(all_of(questions))
    assert all(answer.choices[0].message.content for answer in answers)
    assert len({answer.id for answer in answers}) == len(questions)
    slots = httpx.get(f"{server.url}/slots").json()["slots"]
    assert sum(slot["rows"] > 0 for slot in slots) == len(questions), "they ran side by side"


def test_the_model_list_names_the_model(client: openai.OpenAI) -> None:
    (model, *_) = client.models.list().data
    assert client.models.retrieve(model.id).id == model.id
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("no-such-model")


def test_a_prompt_beyond_the_context_is_refused_before_the_stream(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="any", messages=user("word " * 3000), stream=True)
    assert caught.value.code == "context_length_exceeded"
    assert "maximum context length is 1024 tokens" in caught.value.message


def test_a_field_that_changes_the_answer_is_refused_by_name(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError, match="suffix"):
        client.completions.create(model="any", prompt="a", suffix="b")
