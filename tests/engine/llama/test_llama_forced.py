"""Forced calls of models that would say anything, through the whole server, in every family and tool format.

The demo model at a temperature of 1.5 writes markup in ordinary tokens. The tiny ones have random weights and
their families' own entries for markup.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from bench.forced import Run, run, serve
from bench.forced_calls import (
    ROUND,
    SCHEMAS,
    STYLES,
    Answer,
    Style,
    Way,
    body,
    choice,
    faults,
    streamed,
    whole,
)

from ds4.engine.llama import LlamaEngine, LlamaOptions
from ds4.testing.asgi import Client
from ds4.testing.tiny import tiny_model

pytest_plugins = ("llama_fixtures",)
pytestmark = pytest.mark.engine

CALLS = 20
WAY = Way("whole", {"parallel_tool_calls": False})
TINY = {"deepseek4": "deepseek-v4", "glm-dsa": "glm-5.2", "qwen35moe": "qwen3.8"}


@pytest.fixture(scope="module")
def engine(demo_path: Path) -> Iterator[LlamaEngine]:
    opened = LlamaEngine.open(LlamaOptions(demo_path, n_ctx=2048, n_slots=8))
    yield opened
    opened.close()


def assert_right(found: Run) -> None:
    assert found.faults == ()
    assert found.right >= CALLS
    assert found.cut <= CALLS / ROUND
    assert found.tools.keys() == SCHEMAS.keys()
    assert 0.3 * found.tokens < found.forced < found.tokens


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
def test_every_call_is_right(engine: LlamaEngine, style: Style) -> None:
    assert_right(asyncio.run(run(engine, style, CALLS)))


@pytest.fixture(params=TINY)
def tiny(request: pytest.FixtureRequest) -> Iterator[tuple[LlamaEngine, Style]]:
    opened = LlamaEngine.open(LlamaOptions(tiny_model(request.param), n_ctx=8192, n_slots=3, threads=1))
    yield opened, Style(TINY[request.param])
    opened.close()


def test_so_it_is_where_markup_has_its_own_tokens(tiny: tuple[LlamaEngine, Style]) -> None:
    assert_right(asyncio.run(run(*tiny, CALLS)))


async def twice(client: Client, seed: int) -> tuple[Answer, Answer]:
    """One after the other, so that their steps are the same."""
    (one,) = whole((await client.post("/v1/chat/completions", body(seed, WAY.fields))).json())
    reply = await client.post("/v1/chat/completions", body(seed, WAY.fields | {"stream": True}))
    (other,) = streamed(reply.body)
    return one, other


def test_whole_and_streamed_calls_are_the_same(engine: LlamaEngine) -> None:
    async def scene() -> None:
        server = serve(engine, Style("qwen3.8"))
        await twice(server.client, 1)
        for seed in range(2, 8):
            one, other = await twice(server.client, seed)
            assert faults(one, choice(seed)[1], WAY) == []
            assert without_ids(one) == without_ids(other)

    asyncio.run(scene())


def without_ids(answer: Answer) -> Answer:
    return replace(answer, calls=tuple(replace(call, id="") for call in answer.calls))


def test_a_call_that_is_cut_is_told_as_cut_and_nothing_of_it_is_text(tiny: tuple[LlamaEngine, Style]) -> None:
    async def scene() -> None:
        server = serve(*tiny)
        asked = body(1, WAY.fields)
        full = (await server.client.post("/v1/chat/completions", asked)).json()
        (answer,) = whole(full)
        assert faults(answer, choice(1)[1], WAY) == []
        for limit in range(1, full["usage"]["completion_tokens"], 3):
            reply = await server.client.post("/v1/chat/completions", asked | {"max_tokens": limit})
            (cut,) = whole(reply.json())
            assert (cut.finish, cut.content) == ("length", ""), limit
            assert reply.json()["usage"]["completion_tokens"] == limit
            assert [call.name for call in cut.calls] in ([], [answer.calls[0].name])

    asyncio.run(scene())
