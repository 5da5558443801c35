"""Agents that keep no history send nothing but results: an API goes on where it can, or says what to send."""

import asyncio
from typing import Any

import pytest
from echoing import PARAMETERS, SYSTEM, Agent

from ds4.kv.replay.notebook import Notebook, Options
from ds4.schedule.scheduler import CachePlan
from ds4.testing.asgi import Reply
from ds4.testing.clock import FakeClock
from ds4.testing.inside import Inside, Setting, inside

MARKERS = 32


def desk() -> Inside:
    cache = CachePlan(notebook=Notebook(Options(), FakeClock()))
    return inside(Agent(), Setting("qwen3.8", n_ctx=16384, cache=cache))


async def respond(server: Inside, given: object, **fields: object) -> Reply:
    tools = [{"type": "function", "name": "look", "parameters": PARAMETERS}]
    body = {"model": "m", "instructions": SYSTEM, "input": given, "tools": tools, "temperature": 0}
    return await server.client.post("/v1/responses", body | fields)


def outputs(response: Any, text: str) -> list[Any]:
    ids = [item["call_id"] for item in response["output"] if item["type"] == "function_call"]
    return [{"type": "function_call_output", "call_id": one, "output": text} for one in ids]


def test_results_alone_go_on_from_the_response_that_asked_for_them() -> None:
    async def body() -> None:
        server = desk()
        response = (await respond(server, "What is there?")).json()
        for turn in range(3):
            text = f"result {turn} " * 10
            before = response["id"]
            response = (await respond(server, outputs(response, text))).json()
            assert response["previous_response_id"] == before
            report = server.last_report()
            assert (report.replay.turns, report.replay.refused) == (turn + 1, ())
            new = len(server.engine.tokenizer.encode_plain(text))
            assert server.last_cost().computed <= new + MARKERS

    asyncio.run(body())


def test_other_conversations_between_do_no_harm() -> None:
    """What is gone from the engine is computed again: the history is kept, not only its state."""

    async def body() -> None:
        server = desk()
        asked = [(await respond(server, f"Question {number}")).json() for number in range(4)]
        reply = await respond(server, outputs(asked[0], "late"))
        assert reply.status == 200
        assert reply.json()["previous_response_id"] == asked[0]["id"]

    asyncio.run(body())


def test_what_was_not_kept_is_refused_and_the_remedy_named() -> None:
    async def body() -> None:
        server = desk()
        response = (await respond(server, "What is there?", store=False)).json()
        results = outputs(response, "gone")
        reply = await respond(server, results)
        assert reply.status == 400
        said = reply.json()["error"]["message"]
        assert f"call_id {results[0]['call_id']}; retry by replaying the full input history" in said
        replayed = [{"role": "user", "content": "What is there?"}, *response["output"], *results]
        assert (await respond(server, replayed)).status == 200

    asyncio.run(body())


def test_results_of_two_responses_or_with_more_beside_them_are_no_next_turn() -> None:
    async def body() -> None:
        server = desk()
        one, other = [(await respond(server, f"Question {number}")).json() for number in range(2)]
        results = [*outputs(one, "1"), *outputs(other, "2")]
        assert (await respond(server, results)).status == 400
        question = {"role": "user", "content": "And?"}
        assert (await respond(server, [*outputs(one, "1"), question])).status == 400

    asyncio.run(body())


def test_the_messages_api_wants_its_history() -> None:
    async def body() -> None:
        server = desk()
        fields = {"model": "m", "max_tokens": 1000, "tools": [{"name": "look", "input_schema": PARAMETERS}]}
        question = {"role": "user", "content": "What is there?"}
        answer = (await server.client.post("/v1/messages", fields | {"messages": [question]})).json()
        call = next(block for block in answer["content"] if block["type"] == "tool_use")
        result = {"type": "tool_result", "tool_use_id": call["id"], "content": "ok"}
        turn = {"role": "user", "content": [result]}
        refused = await server.client.post("/v1/messages", fields | {"messages": [turn]})
        assert refused.status == 400
        error = refused.json()["error"]
        assert error["type"] == "invalid_request_error"
        assert f"tool_use_id {call['id']}; retry by replaying the full messages history" in error["message"]
        said = {"role": "assistant", "content": answer["content"]}
        replayed = await server.client.post("/v1/messages", fields | {"messages": [question, said, turn]})
        assert replayed.status == 200
        assert server.last_report().replay.turns == 1

    asyncio.run(body())


@pytest.mark.parametrize("call_id", [{"tool_call_id": "call_unknown"}, {}])
def test_chat_asks_no_result_for_its_call(call_id: dict[str, str]) -> None:
    """Chat clients are known to drop calls and ids; their results are shown to the model as they are."""

    async def body() -> None:
        agent = Agent()
        server = inside(agent, Setting("qwen3.8", n_ctx=16384))
        messages = [{"role": "tool", "content": "Seven.", **call_id}]
        tools = [{"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}]
        reply = await server.client.post("/v1/chat/completions", {"messages": messages, "tools": tools})
        assert reply.status == 200
        assert "<tool_response>\nSeven.\n</tool_response>" in agent.prompts[-1]

    asyncio.run(body())
