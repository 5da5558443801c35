"""Several answers to one request: choices of a prompt, and several prompts."""

import asyncio
import json
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest
from api_fakes import DeafReader, FakeBackend, NotedGuide, Stream, World, deaf_reader, finish, run, settle
from hypothesis import given
from hypothesis import strategies as st

from ds4.api.openai.choices import jobs_of
from ds4.api.openai.generation import MAX_SEED, Wanted
from ds4.api.services import Wished
from ds4.core.constraint import Constraint, Form, Syntax
from ds4.core.errors import EngineError, Overloaded
from ds4.core.events import Event, Failed, FinishReason, Progress, Reasoning, Text
from ds4.core.job import Job, JobKind
from ds4.core.sampling import Sampled, Sampling
from ds4.core.usage import Usage
from ds4.testing.jobs import make_plan

CHAT = "/v1/chat/completions"
COMPLETIONS = "/v1/completions"
ASK: dict[str, dict[str, Any]] = {
    CHAT: {"messages": [{"role": "user", "content": "hi"}]},
    COMPLETIONS: {"prompt": "hi"},
}
BOTH = pytest.mark.parametrize("path", [CHAT, COMPLETIONS])
ONE = make_plan([1])
OTHER = make_plan([2, 3])
FORM = Constraint(Form(Syntax.REGEX, "a*", "guided_regex"))


def want(n: int, seed: int | None = None) -> Wanted:
    return Wanted("m", False, False, n, 9, Sampling(seed=seed, logprobs=0), ("x",))


def jobs(n: int, seed: int | None = None) -> tuple[Job, ...]:
    wishes = [Wished(JobKind.COMPLETION, plan, ("x",), tokens=True, constraint=FORM) for plan in (ONE, OTHER)]
    return jobs_of("id", wishes, want(n, seed), deaf_reader, NotedGuide.of)


def test_choices_stand_prompt_by_prompt_and_share_the_prompts_plan() -> None:
    found = jobs(2)
    assert [job.id for job in found] == ["id", "id-1", "id-2", "id-3"]
    assert [job.plan for job in found] == [ONE, ONE, OTHER, OTHER]
    assert len({id(job.reader) for job in found}) == len({id(job.guide) for job in found}) == 4
    assert all(job.reader == DeafReader(JobKind.COMPLETION, ("x",), want_tokens=True) for job in found)


@pytest.mark.parametrize(
    ("seed", "seeds"),
    [(None, [None] * 3), (7, [7, 8, 9]), (MAX_SEED - 1, [MAX_SEED - 1, MAX_SEED, 1])],
)
def test_a_seed_is_varied_by_choice_and_the_first_is_what_it_alone_would_be(
    seed: int | None, seeds: list[int | None]
) -> None:
    assert [job.sampling.seed for job in jobs(3, seed)] == seeds * 2


class Script:
    """The batches of every choice, and the order in which they come."""

    def __init__(self, batches: list[list[tuple[Event, ...]]], order: list[int]) -> None:
        self.batches = batches
        self.order = order


@st.composite
def scripts(draw: st.DrawFn) -> Script:
    tokens = st.lists(
        st.integers(0, 255).map(lambda token: Sampled(token, -1.0, ((token, -1.0),))), max_size=2
    )
    texts = st.builds(Text, st.text(max_size=3), tokens.map(tuple))
    events = texts | st.text(max_size=3).map(Reasoning) | st.just(Progress(1, 2))
    batches: list[list[tuple[Event, ...]]] = []
    for _ in range(draw(st.integers(1, 4))):
        spoken = draw(st.lists(st.lists(events, min_size=1, max_size=3).map(tuple), max_size=4))
        batches.append([*spoken, (finish(draw(st.sampled_from(list(FinishReason)))),)])
    turns = [choice for choice, parts in enumerate(batches) for _ in parts]
    return Script(batches, draw(st.permutations(turns)))


async def play(path: str, script: Script, **fields: object) -> bytes:
    """The body of the answer whose events come in the script's order."""
    world = World()
    value = {**ASK[path], "n": len(script.batches), "logprobs": 1 if path == COMPLETIONS else True, **fields}
    left = [iter(parts) for parts in script.batches]
    async with world.client().open("POST", path, value=value) as exchange:
        await settle()
        ids = [job.id for job in world.backend.jobs]
        for choice in script.order:
            world.backend.streams[ids[choice]].push(*next(left[choice]))
            await asyncio.sleep(0)
        await exchange.start()
        body = await exchange.read()
    assert world.backend.cancelled == []
    return body


def chunks(body: bytes) -> list[dict[str, Any]]:
    frames = body.decode().split("\n\n")
    return [json.loads(frame.removeprefix("data: ")) for frame in frames if frame.startswith("data: {")]


def join_chat(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    message = {"role": "", "content": "", "reasoning_content": ""}
    tokens: list[Any] = []
    reasons = []
    for part in parts:
        for name, value in part["delta"].items():
            message[name] += value
        tokens += (part.get("logprobs") or {"content": []})["content"]
        reasons.append(part["finish_reason"])
    assert reasons[:-1] == [None] * (len(reasons) - 1), "nothing follows the finish reason"
    if not message["reasoning_content"]:
        del message["reasoning_content"]
    return {"message": message, "tokens": tokens, "finish": reasons[-1]}


def join_text(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {"text": "", "finish": None}
    logprobs: dict[str, list[Any]] = {}
    for part in parts:
        assert found["finish"] is None, "nothing follows the finish reason"
        found["text"] += part["text"]
        found["finish"] = part["finish_reason"]
        for name, values in (part["logprobs"] or {}).items():
            logprobs.setdefault(name, []).extend(values)
    return found | {"logprobs": logprobs}


def by_choice(body: bytes) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for chunk in chunks(body):
        for choice in chunk["choices"]:
            found.setdefault(choice["index"], []).append(choice)
    return found


@given(scripts())
def test_interleaved_streams_add_up_to_the_whole_answers(script: Script) -> None:
    whole = json.loads(run(play(CHAT, script)))["choices"]
    streamed = by_choice(run(play(CHAT, script, stream=True)))
    assert [choice["index"] for choice in whole] == list(range(len(script.batches))) == sorted(streamed)
    for choice in whole:
        del choice["message"]["refusal"], choice["message"]["annotations"]
        assert join_chat(streamed[choice["index"]]) == {
            "message": choice["message"],
            "tokens": choice["logprobs"]["content"],
            "finish": choice["finish_reason"],
        }
    whole = json.loads(run(play(COMPLETIONS, script)))["choices"]
    streamed = by_choice(run(play(COMPLETIONS, script, stream=True)))
    for choice in whole:
        logprobs = {name: values for name, values in choice["logprobs"].items() if values}
        expected = {"text": choice["text"], "finish": choice["finish_reason"], "logprobs": logprobs}
        assert join_text(streamed[choice["index"]]) == expected


def post(world: World, path: str, **fields: object) -> Any:
    return run(world.client().post(path, {**ASK[path], **fields}))


@BOTH
def test_the_prompt_counts_once_and_the_answers_add_up(path: str) -> None:
    world = World(FakeBackend([(finish(),)]))
    usage = post(world, path, n=3).json()["usage"]
    assert (usage["prompt_tokens"], usage["completion_tokens"], usage["total_tokens"]) == (7, 15, 22)
    assert usage["prompt_tokens_details"] == {"cached_tokens": 3, "cache_write_tokens": 4}
    assert usage["completion_tokens_details"] == {"reasoning_tokens": 6}
    streamed = chunks(post(world, path, n=3, stream=True, stream_options={"include_usage": True}).body)
    assert [chunk["usage"] for chunk in streamed if "usage" in chunk] == [usage]


def test_cached_is_what_the_first_choice_of_each_prompt_found() -> None:
    async def scenario() -> dict[str, Any]:
        world = World()
        value = {"prompt": ["hi", "ho"], "n": 2}
        async with world.client().open("POST", COMPLETIONS, value=value) as exchange:
            await settle()
            for job, cached in zip(world.backend.jobs, (1, 6, 2, 6), strict=True):
                usage = Usage(prompt=7, cached=cached, completion=5)
                world.backend.streams[job.id].push(replace(finish(), usage=usage))
            await exchange.start()
            answer: dict[str, Any] = json.loads(await exchange.read())
            return answer

    answer = run(scenario())
    assert [choice["index"] for choice in answer["choices"]] == [0, 1, 2, 3]
    assert answer["usage"]["prompt_tokens"] == 14
    assert answer["usage"]["prompt_tokens_details"] == {"cached_tokens": 3, "cache_write_tokens": 11}
    assert answer["usage"]["completion_tokens"] == 20


def test_several_prompts_are_rendered_once_each() -> None:
    world = World(FakeBackend([(Text("!"), finish())]))
    answer = post(world, COMPLETIONS, prompt=["hi", [104, 111]], n=2, echo=True).json()
    assert world.renderer.prompts == ["hi", (104, 111)]
    assert [choice["text"] for choice in answer["choices"]] == ["hi!", "hi!", "ho!", "ho!"]


@pytest.mark.parametrize("stream", [False, True])
def test_echo_puts_the_prompt_in_front_once(stream: bool) -> None:
    world = World(FakeBackend([(Progress(1, 2),), (Text("a"),), (Text("b"), finish())]))
    body = post(world, COMPLETIONS, echo=True, n=2, stream=stream).body
    choices = (
        [join_text(parts) for parts in by_choice(body).values()] if stream else json.loads(body)["choices"]
    )
    assert [choice["text"] for choice in choices] == ["hiab", "hiab"]


def test_an_answer_of_no_tokens_still_echoes() -> None:
    answer = post(World(FakeBackend([(finish(FinishReason.LENGTH),)])), COMPLETIONS, echo=True, max_tokens=0)
    assert (answer.json()["choices"][0]["text"], answer.json()["choices"][0]["finish_reason"]) == (
        "hi",
        "length",
    )


class Crowded(FakeBackend):
    """Has room for two."""

    def submit(self, job: Job) -> Stream:
        if len(self.jobs) == 2:
            raise Overloaded("2 requests are already waiting", retry_after=4)
        return super().submit(job)


@BOTH
@pytest.mark.parametrize("stream", [False, True])
def test_one_refused_choice_refuses_the_request_and_frees_the_others(path: str, stream: bool) -> None:
    world = World(Crowded())
    reply = post(world, path, n=3, stream=stream)
    assert (reply.status, reply.headers["retry-after"]) == (429, "4")
    assert world.backend.cancelled == [job.id for job in world.backend.jobs]
    assert len(world.backend.cancelled) == 2


@BOTH
@pytest.mark.parametrize("stream", [False, True])
def test_one_failed_choice_ends_the_request_and_the_others(path: str, stream: bool) -> None:
    async def scenario() -> None:
        world = World()
        value = {**ASK[path], "n": 3, "stream": stream}
        async with world.client().open("POST", path, value=value) as exchange:
            await settle()
            first, second, third = (world.backend.streams[job.id] for job in world.backend.jobs)
            first.push(Text("done"), finish())
            second.push(Text("so far"))
            await settle()
            third.push(Failed(EngineError("decode failed")))
            await exchange.start()
            body = await exchange.read()
            assert exchange.status == (200 if stream else 500)
            assert b"decode failed" in body
            assert b"[DONE]" not in body
            assert (b"so far" in body) is stream
            assert set(world.backend.cancelled) == {job.id for job in world.backend.jobs}

    run(scenario())


@BOTH
@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_leaves_cancels_every_choice(path: str, stream: bool) -> None:
    async def scenario() -> None:
        world = World()
        value = {**ASK[path], "n": 3, "stream": stream}
        async with world.client().open("POST", path, value=value) as exchange:
            await settle()
            world.backend.streams[world.backend.jobs[1].id].push(Text("a"))
            await settle()
            exchange.hang_up()
            await settle()
            assert world.backend.cancelled == [job.id for job in world.backend.jobs]
            assert len(world.backend.cancelled) == 3

    run(scenario())


@BOTH
def test_the_heartbeat_speaks_for_a_choice_that_is_not_finished(path: str) -> None:
    async def scenario() -> None:
        world = World()
        value = {**ASK[path], "n": 2, "stream": True}
        async with world.client().open("POST", path, value=value) as exchange:
            await exchange.start()
            body = exchange.chunks()
            first, second = (world.backend.streams[job.id] for job in world.backend.jobs)
            first.push(Text("a"), finish())
            await anext(body)
            beat = asyncio.ensure_future(anext(body))
            await world.time.pass_(10)
            assert by_choice(await beat).keys() == {1}
            second.push(finish())
            assert (await anext(body)).endswith(b"data: [DONE]\n\n")

    run(scenario())


@BOTH
def test_what_comes_together_goes_out_together(path: str) -> None:
    async def scenario() -> None:
        world = World()
        value = {**ASK[path], "n": 3, "stream": True}
        async with world.client().open("POST", path, value=value) as exchange:
            await exchange.start()
            body = exchange.chunks()
            await settle()
            for word in ("one", "two"):
                for job in world.backend.jobs:
                    world.backend.streams[job.id].push(Text(word))
                assert (await anext(body)).count(word.encode()) == 3

    run(scenario())


def test_without_logprobs_readers_are_not_asked_for_tokens() -> None:
    world = World(FakeBackend([(finish(),)]))
    post(world, CHAT)
    post(world, CHAT, logprobs=True)
    assert [job.reader for job in world.backend.jobs] == [
        DeafReader(JobKind.CHAT, ()),
        DeafReader(JobKind.CHAT, (), want_tokens=True),
    ]
