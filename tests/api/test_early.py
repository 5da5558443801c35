"""What is refused before a prompt is rendered, and what is given up when its client leaves."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from api_fakes import N_CTX, READY, ByteTokenizer, FakeBackend, T, World, finish, run, settle

from ds4.api.app import build_app
from ds4.api.early import longest_piece, refuse_crowd, refuse_long, refuse_overlong
from ds4.core.errors import ContextOverflow, Overloaded, Unavailable
from ds4.core.messages import Conversation, Message, Role, TextPart, Tool, ToolCall
from ds4.core.status import Readiness, SlotStatus, Status
from ds4.testing.asgi import Client, Reply

HI = {"role": "user", "content": "hi"}
BODIES = [
    ("/v1/chat/completions", {"messages": [HI]}),
    ("/v1/completions", {"prompt": "hi"}),
    ("/v1/responses", {"model": "m", "input": "hi"}),
    ("/v1/messages", {"max_tokens": 5, "messages": [HI]}),
]
SLOTS = (SlotStatus(0, "busy", 1, "", job="a"), SlotStatus(1, "idle", 1, ""))


def status(queued: int, capacity: int = 4) -> Status:
    return Status(Readiness.READY, SLOTS, queued, N_CTX, capacity=capacity, retry_after=7)


def world(state: Status = READY) -> World:
    backend = FakeBackend([(finish(),)])
    backend.state = state
    return World(backend)


def post(desk: World, path: str, body: dict[str, Any]) -> Reply:
    return run(desk.client().post(path, body))


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_nothing_is_rendered_for_a_server_that_shuts_down(path: str, body: dict[str, Any]) -> None:
    draining = world(replace(READY, readiness=Readiness.DRAINING))
    reply = post(draining, path, body)
    assert (reply.status, "retry-after" in reply.headers) == (503, True)
    assert (draining.renderer.conversations, draining.renderer.prompts) == ([], [])


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_nothing_is_rendered_for_a_full_queue(path: str, body: dict[str, Any]) -> None:
    full = world(status(queued=3))
    reply = post(full, path, body)
    assert (reply.status, reply.headers["retry-after"]) == (429, "7")
    assert (full.renderer.conversations, full.renderer.prompts) == ([], [])


def test_the_last_place_is_given_away() -> None:
    refuse_crowd(status(queued=2), 1, "n")
    with pytest.raises(Overloaded, match="3 requests are already waiting, the limit is 2"):
        refuse_crowd(status(queued=3), 1, "n")


def test_without_a_queue_a_free_slot_counts() -> None:
    refuse_crowd(status(queued=0, capacity=2), 1, "n")
    with pytest.raises(Overloaded):
        refuse_crowd(status(queued=1, capacity=2), 1, "n")


def test_a_server_that_does_not_know_its_capacity_refuses_nothing() -> None:
    refuse_crowd(status(queued=1000, capacity=0), 1000, "n")


def test_shutting_down_is_said_first() -> None:
    with pytest.raises(Unavailable):
        refuse_crowd(replace(status(queued=9), readiness=Readiness.DRAINING), 9, "n")


@pytest.mark.parametrize(
    ("path", "body", "blamed"),
    [
        ("/v1/chat/completions", {"messages": [HI], "n": 5}, "n"),
        ("/v1/completions", {"prompt": "hi", "n": 5}, "n"),
        ("/v1/completions", {"prompt": ["hi"] * 5}, "prompt"),
    ],
)
def test_more_choices_than_there_are_places_is_400(path: str, body: dict[str, Any], blamed: str) -> None:
    reply = post(world(status(queued=3)), path, body)
    assert (reply.status, reply.json()["error"]["param"]) == (400, blamed)
    assert reply.json()["error"]["message"].startswith(f"{blamed}: 5 choices are more")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/chat/completions", {"messages": [HI] * N_CTX}),
        ("/v1/completions", {"prompt": [1] * N_CTX}),
        ("/v1/completions", {"prompt": [[1], [1] * N_CTX]}),
        ("/v1/responses", {"model": "m", "input": [HI] * N_CTX}),
    ],
)
def test_more_pieces_than_the_context_has_rows_overflow_it(path: str, body: dict[str, Any]) -> None:
    calm = world()
    reply = post(calm, path, body)
    assert (reply.status, reply.json()["error"]["code"]) == (400, "context_length_exceeded")
    assert (calm.renderer.conversations, calm.renderer.prompts) == ([], [])


@pytest.mark.parametrize("path", ["/v1/messages", "/v1/messages/count_tokens"])
def test_more_messages_than_rows_overflow_the_context_of_anthropics_clients_too(path: str) -> None:
    reply = post(world(), path, {"max_tokens": 5, "messages": [HI] * N_CTX})
    assert (reply.status, "prompt is too long" in reply.json()["error"]["message"]) == (400, True)


def test_a_text_too_long_for_the_longest_pieces_overflows_the_context() -> None:
    services = replace(World().services(), longest_piece=lambda: 5)
    refuse_long(services, ["x" * 300, "y" * 199])
    with pytest.raises(ContextOverflow) as refused:
        refuse_long(services, ["x" * 300, "y" * 200])
    assert (refused.value.prompt_tokens, refused.value.context) == (100, N_CTX)


def test_blanks_at_the_ends_do_not_count() -> None:
    refuse_long(replace(World().services(), longest_piece=lambda: 1), [" " * 500 + "x" * 99 + "\n" * 500])


def test_the_vocabulary_is_not_asked_about_short_texts() -> None:
    def forbidden() -> int:
        raise AssertionError

    refuse_long(replace(World().services(), longest_piece=forbidden), ["x" * (N_CTX - 1)])


@pytest.mark.parametrize(("role", "counts"), [(role, role is not Role.ASSISTANT) for role in Role])
def test_what_templates_may_leave_out_does_not_count(role: Role, counts: bool) -> None:
    services = replace(World().services(), longest_piece=lambda: 1)
    message = Message(role, (TextPart("x" * 60), TextPart("x" * 60)), reasoning="r" * 200)
    if counts:
        with pytest.raises(ContextOverflow):
            refuse_overlong(services, Conversation((message,)))
    else:
        refuse_overlong(services, Conversation((message,)))


def test_messages_calls_and_tools_take_a_row_each() -> None:
    calls = tuple(ToolCall(str(number), "f", "{}") for number in range(60))
    messages = (Message(Role.USER), Message(Role.ASSISTANT, tool_calls=calls))
    tools = tuple(Tool(str(number), "{}") for number in range(N_CTX - 62))
    refuse_overlong(World().services(), Conversation(messages, tools[1:]))
    with pytest.raises(ContextOverflow):
        refuse_overlong(World().services(), Conversation(messages, tools))


def test_the_longest_piece_is_found() -> None:
    assert longest_piece(ByteTokenizer()) == len(b"<bos>")


@pytest.mark.parametrize(("path", "body"), BODIES)
def test_long_texts_are_refused_unrendered(path: str, body: dict[str, Any]) -> None:
    field = next(name for name in ("messages", "prompt", "input") if name in body)
    long = "x" * N_CTX
    calm = World()
    services = replace(calm.services(), longest_piece=lambda: 1)
    value = {**body, field: [{"role": "user", "content": long}] if field == "messages" else long}
    reply = run(Client(build_app(services)).post(path, value))
    assert (reply.status, str(N_CTX) in reply.json()["error"]["message"]) == (400, True)
    assert (calm.renderer.conversations, calm.renderer.prompts) == ([], [])


@pytest.mark.parametrize(("path", "body"), [*BODIES, ("/tokenize", {"content": "hi"})])
def test_a_prompt_is_given_up_when_its_client_leaves(path: str, body: dict[str, Any]) -> None:
    given_up: list[bool] = []

    async def forever(work: Callable[[], T], /) -> T:  # noqa: ARG001
        try:
            await asyncio.Event().wait()
        finally:
            given_up.append(True)
        raise AssertionError

    async def scenario() -> None:
        calm = world()
        client = Client(build_app(replace(calm.services(), run=forever)))
        async with client.open("POST", path, value=body):
            await settle()
            assert given_up == []
        assert given_up == [True]
        assert calm.backend.jobs == []

    run(scenario())
