"""Requests recorded from real agents (texts shortened), against the whole server without a socket.

Each must be answered, and each request of a session must begin with all of the one before.
"""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from api_fakes import run
from messages_reading import parsed, read

from ds4.testing.agent_script import reply
from ds4.testing.asgi import Reply
from ds4.testing.inside import Setting, inside
from thorough import pairs

FOLDER = Path(__file__).parents[1] / "wire" / "messages_requests"
NAMES = sorted(path.stem for path in FOLDER.glob("*.json"))
FAMILIES = ("deepseek-v4", "glm-5.2", "qwen3.8")
SESSIONS = {"claude_code_bare": 0, "claude_code_tools": 0, "pi": 0, "opencode": 1}
"""The number of the first request; others stand beside the session."""


def recorded(name: str) -> list[dict[str, Any]]:
    session = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    requests: list[dict[str, Any]] = session["requests"]
    return requests


async def asked(server: Any, request: dict[str, Any], **fields: object) -> Reply:
    answer: Reply = await server.client.request(
        "POST", request["path"], value={**request["body"], **fields}, headers=request["headers"]
    )
    assert answer.status == 200, answer.body
    return answer


def prompts_of(family: str, requests: list[dict[str, Any]]) -> list[str]:
    """What the model was given for each request."""

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return "ok"

    async def scenario() -> None:
        server = inside(answer, Setting(family, n_ctx=16384))
        for request in requests:
            await asked(server, request, stream=False)

    prompts: list[str] = []
    run(scenario())
    return prompts


@pytest.mark.parametrize(("name", "family"), pairs(NAMES, FAMILIES))
def test_every_request_is_answered_streamed_and_whole_alike(name: str, family: str) -> None:
    async def scenario() -> None:
        server = inside(reply, Setting(family, n_ctx=16384))
        for request in recorded(name):
            streamed = parsed(read((await asked(server, request, stream=True)).body))
            whole = (await asked(server, request, stream=False)).json()
            assert streamed["stop_reason"] == whole["stop_reason"] in ("tool_use", "end_turn")
            shown = [{**block, "id": None} for block in streamed["content"]]
            assert shown == [{**block, "id": None} for block in whole["content"]]

    run(scenario())


@pytest.mark.parametrize(("name", "family"), pairs(tuple(SESSIONS), FAMILIES))
def test_every_request_of_a_session_begins_with_the_one_before(name: str, family: str) -> None:
    prompts = prompts_of(family, recorded(name)[SESSIONS[name] :])
    ends = ("<think>\n", "<think>")
    assert len(prompts) > 1
    for before, after in pairwise(prompts):
        stem = next((before.removesuffix(end) for end in ends if before.endswith(end)), before)
        assert after.startswith(stem)


def test_deferred_tools_are_shown_only_where_they_were_found() -> None:
    first, *later = prompts_of("deepseek-v4", recorded("claude_code_tools"))
    assert "WebSearch" not in first
    assert '"name": "ToolSearch"' in first
    for prompt in later:
        head, found = prompt.split("<tool_result>", 1)
        assert '"name": "WebSearch"' not in head
        assert found.count('{"name": "WebSearch"') == found.count('{"name": "WebFetch"') == 1
        assert "DeferredToolPlaceholder" not in prompt


@pytest.mark.parametrize("version", ["eaf", "0b8"])
def test_a_changing_billing_header_costs_nothing(version: str) -> None:
    async def scenario() -> None:
        server = inside(lambda _: "ok", Setting("deepseek-v4", n_ctx=16384))
        request = recorded("claude_code_bare")[0]
        await asked(server, request, stream=False)
        system = request["body"]["system"]
        assert system[0]["text"].startswith("x-anthropic-billing-header:")
        system[0]["text"] = f"x-anthropic-billing-header: cc_version=2.1.332.{version}; cch={version};"
        usage = (await asked(server, request, stream=False)).json()["usage"]
        assert (usage["input_tokens"], usage["cache_creation_input_tokens"]) == (1, 0)

    run(scenario())
