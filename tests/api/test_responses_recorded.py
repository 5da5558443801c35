"""What real clients sent, shortened: taken, and answered in a stream that keeps the contract."""

import json
from pathlib import Path
from typing import Any

import pytest
from api_fakes import FakeBackend, World, finish, run
from responses_reading import read

from ds4.core.events import Reasoning, Text
from ds4.core.messages import Conversation, Role

RECORDED: dict[str, dict[str, Any]] = {
    entry["client"]: entry["body"]
    for entry in json.loads((Path(__file__).parent / "recorded" / "responses.json").read_text())
}
CONSTRAINED = {
    "Codex 0.171 with a model it knows: grammar tool, client-side tool search",
    "Codex 0.171: output schema",
    "openai-agents: strict tool",
    "pydantic-ai: forced tool",
    "pydantic-ai: reasoning as tagged text",
}
ANSWER = [(Reasoning("Hm."), Text("Done."), finish())]


def world() -> World:
    return World(FakeBackend(ANSWER))


def asked(client: str) -> Conversation:
    made = world()
    reply = run(made.client().post("/v1/responses", RECORDED[client]))
    assert reply.status == 200
    return made.renderer.conversations[0]


@pytest.mark.parametrize("client", RECORDED)
def test_it_is_answered(client: str) -> None:
    body = RECORDED[client]
    assert (
        read(run(world().client().post("/v1/responses", body | {"stream": True})).body).names[-1]
        == "completed"
    )
    whole = run(world().client().post("/v1/responses", body | {"stream": False})).json()
    assert [item["type"] for item in whole["output"]] == ["reasoning", "message"]


@pytest.mark.parametrize("client", RECORDED)
def test_what_demands_something_of_the_answer_gets_a_guide(client: str) -> None:
    made = world()
    run(made.client().post("/v1/responses", RECORDED[client]))
    assert (made.backend.jobs[0].guide is not None) is (client in CONSTRAINED)


def test_codex_sees_its_tools_and_gets_no_hosted_ones() -> None:
    names = [tool.name for tool in asked("Codex 0.171: a shell call and its result").tools]
    assert names[0] == "exec_command"
    assert "multi_agent_v1__spawn_agent" in names
    assert not any("web_search" in name for name in names)


def test_codex_replays_a_turn_as_one_message() -> None:
    *_, turn, result = asked("Codex 0.171: a shell call and its result").messages
    assert (turn.role, turn.reasoning, turn.text) == (Role.ASSISTANT, "Let me think.", "I will do it.")
    assert turn.tool_calls[0].name == "exec_command"
    assert (result.role, result.tool_call_id) == (Role.TOOL, turn.tool_calls[0].id)


def test_codex_calls_are_replayed_in_pairs_whatever_they_were() -> None:
    messages = asked(
        "Codex 0.171: an image from a tool, parallel calls, an unknown tool, a namespaced call"
    ).messages
    calls = [call for message in messages for call in message.tool_calls]
    results = [message.tool_call_id for message in messages if message.role is Role.TOOL]
    assert [call.id for call in calls] == results
    assert [call.name for call in calls][-1] == "multi_agent_v1__spawn_agent"


def test_codex_patch_and_found_tools() -> None:
    conversation = asked("Codex 0.171 with a model it knows: grammar tool, client-side tool search")
    assert {"apply_patch", "tool_search"} <= {tool.name for tool in conversation.tools}
    assert [tool.name for tool in conversation.messages[-1].tools] == ["multi_agent_v1__spawn_agent"]
    (patch,) = [c for m in conversation.messages for c in m.tool_calls if c.name == "apply_patch"]
    assert json.loads(patch.arguments)["input"].startswith("*** Begin Patch\n")


def test_the_ai_sdks_references_to_what_is_gone_are_left_out() -> None:
    *_, question, turn, result = asked("AI SDK: references to items").messages
    assert (question.role, turn.role, result.role) == (Role.USER, Role.ASSISTANT, Role.TOOL)
    assert turn.text == ""
