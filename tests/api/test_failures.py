"""The request boundary: whatever goes wrong is an answer, in the API's shape."""

from typing import Any

import pytest
from api_fakes import FakeBackend, FakeRenderer, Stream, World, finish, run, settle

from ds4.core.errors import BadRequest, ContextOverflow, Ds4Error, TemplateError, Unavailable
from ds4.core.events import Event, Text
from ds4.core.messages import Conversation
from ds4.core.plan import PromptPlan
from ds4.core.status import Status
from ds4.observe.records import Notice
from ds4.testing.asgi import Reply

CHAT = "/v1/chat/completions"
ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}


def post(world: World, path: str = CHAT, **fields: object) -> Reply:
    return run(world.client().post(path, {**ASK, "prompt": "hi", **fields}))


@pytest.mark.parametrize(("path", "param"), [(CHAT, "messages"), ("/v1/completions", "prompt")])
@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_that_does_not_fit_is_worded_for_agents(path: str, param: str, stream: bool) -> None:
    reply = post(World(FakeBackend(refusal=ContextOverflow(120, 100))), path, stream=stream)
    assert reply.status == 400
    assert reply.json()["error"] == {
        "message": "This model's maximum context length is 100 tokens. However, your request has 120 input"
        f" tokens. Please reduce the length of the {param}.",
        "type": "invalid_request_error",
        "param": param,
        "code": "context_length_exceeded",
        "n_prompt_tokens": 120,
        "n_ctx": 100,
    }


@pytest.mark.parametrize(
    ("error", "status"),
    [(BadRequest("roles must alternate", param="messages"), 400), (TemplateError("undefined name"), 500)],
)
def test_what_the_renderer_says_reaches_the_client(error: Ds4Error, status: int) -> None:
    reply = post(World(renderer=FakeRenderer(error)), stream=True)
    assert (reply.status, reply.json()["error"]["message"]) == (status, error.message)


def test_shutting_down_is_503_with_a_time_to_come_back() -> None:
    world = World(FakeBackend(refusal=Unavailable("server shutting down", retry_after=3)))
    reply = post(world)
    assert (reply.status, reply.headers["retry-after"]) == (503, "3")
    assert world.records == []


class BrokenRenderer(FakeRenderer):
    def render(self, conversation: Conversation) -> PromptPlan:
        raise ZeroDivisionError(f"a bug, {len(conversation.messages)}")


def test_a_bug_is_500_with_the_requests_id_and_a_traceback_in_the_log() -> None:
    world = World(renderer=BrokenRenderer(), cors=True)
    reply = post(world)
    request_id = reply.headers["x-ds4-request"]
    assert reply.status == 500
    assert reply.json()["error"]["type"] == "server_error"
    assert request_id in reply.json()["error"]["message"]
    assert "a bug" not in reply.json()["error"]["message"]
    assert reply.headers["access-control-allow-origin"] == "*"
    (record,) = world.records
    assert isinstance(record, Notice)
    assert record.level == "error"
    assert request_id in record.text
    assert "ZeroDivisionError: a bug, 1" in record.text


def test_a_bug_in_the_middle_of_a_stream_ends_it_and_cancels_the_job() -> None:
    class BrokenStream(Stream):
        async def batch(self) -> tuple[Event, ...]:
            raise ZeroDivisionError

    world = World(FakeBackend(stream=BrokenStream))
    reply = post(world, stream=True)
    assert reply.status == 200
    assert reply.body.count(b"event: error\n") == 1
    assert b"[DONE]" not in reply.body
    assert world.backend.cancelled == [job.id for job in world.backend.jobs]


def test_a_bug_where_no_job_is_has_an_id_too() -> None:
    class BrokenBackend(FakeBackend):
        def status(self) -> Status:
            raise KeyError("slots")

    reply = run(World(BrokenBackend()).client().get("/slots"))
    assert reply.status == 500
    assert reply.headers["x-ds4-request"].startswith("req-")


def test_a_client_that_leaves_while_it_sends_is_nobody_to_answer() -> None:
    async def scenario() -> None:
        world = World()
        async with world.client().open("POST", CHAT, body=[b'{"mess']) as exchange:
            exchange.hang_up()
            with pytest.raises(EOFError):
                await exchange.start()
        assert world.records == []
        assert world.backend.jobs == []

    run(scenario())


def test_one_client_leaving_does_not_touch_the_others() -> None:
    async def scenario() -> None:
        world = World()
        client = world.client()
        async with client.open("POST", CHAT, value=ASK) as stays:
            async with client.open("POST", CHAT, value=ASK):
                await settle()
                first, second = (job.id for job in world.backend.jobs)
            assert world.backend.cancelled == [second]
            world.backend.streams[first].push(Text("a"), finish())
            await stays.start()
            assert (await stays.read()).startswith(b'{"id":"' + first.encode())
        assert world.backend.cancelled == [second]

    run(scenario())


@pytest.mark.parametrize("path", ["/v1/unknown", "/health", "/v1/models/unknown"])
def test_every_error_has_an_id_to_ask_about(path: str) -> None:
    reply = run(World().client().post(path, {}))
    assert reply.status in (404, 405)
    assert reply.headers["x-ds4-request"] == reply.headers["request-id"] != ""
