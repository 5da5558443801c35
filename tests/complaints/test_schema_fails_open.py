"""Users report: a schema is asked for, and free text comes back with status 200."""

import asyncio
import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from ds4.testing.inside import Inside, Setting, inside
from thorough import pairs

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string", "maxLength": 40},
        "lines": {"type": "integer", "minimum": 1, "maximum": 999},
    },
    "required": ["path", "lines"],
    "additionalProperties": False,
}
UNSUPPORTED = {**SCHEMA, "propertyNames": {"maxLength": 4}}
APIS = ("chat", "responses", "messages")
FAMILIES = ("chatml", "qwen3.8", "glm-5.2", "deepseek-v4.1")
HELLO = [{"role": "user", "content": "Where is it?"}]
everywhere = pytest.mark.parametrize(("family", "api"), pairs(FAMILIES, APIS))


def chatty(family: str) -> Inside:
    """The model would rather talk."""
    return inside(lambda _: "Sure! The function is in main.py, near the top. ", Setting(family=family))


async def ask(server: Inside, api: str, schema: object, tokens: int = 300) -> Any:
    """The reply, without thinking."""
    form: dict[str, object]
    if api == "chat":
        form = {"type": "json_schema", "json_schema": {"name": "place", "schema": schema, "strict": True}}
        body: dict[str, object] = {"messages": HELLO, "response_format": form, "max_tokens": tokens}
        return await server.client.post("/v1/chat/completions", {**body, "thinking": {"type": "disabled"}})
    if api == "responses":
        form = {"type": "json_schema", "name": "place", "schema": schema, "strict": True}
        body = {"model": "any", "input": HELLO, "text": {"format": form}, "max_output_tokens": tokens}
        return await server.client.post("/v1/responses", {**body, "reasoning": {"effort": "none"}})
    form = {"type": "json_schema", "schema": schema}
    body = {"messages": HELLO, "output_config": {"format": form}, "max_tokens": tokens}
    return await server.client.post("/v1/messages", {**body, "thinking": {"type": "disabled"}})


def told(api: str, answer: Any) -> tuple[str, str]:
    """Its text, and why it ended."""
    if api == "chat":
        (choice,) = answer["choices"]
        return choice["message"]["content"], choice["finish_reason"]
    if api == "messages":
        return "".join(block["text"] for block in answer["content"]), answer["stop_reason"]
    texts = [part["text"] for item in answer["output"] for part in item["content"]]
    return "".join(texts), (answer["incomplete_details"] or {}).get("reason", answer["status"])


@everywhere
def test_an_answer_conforms(family: str, api: str) -> None:
    async def body() -> None:
        reply = await ask(chatty(family), api, SCHEMA)
        assert reply.status == 200, reply.body
        text, why = told(api, reply.json())
        Draft202012Validator(SCHEMA).validate(json.loads(text))
        assert why in ("stop", "completed", "end_turn")

    asyncio.run(body())


@everywhere
def test_what_cannot_be_kept_to_is_refused_by_its_place(family: str, api: str) -> None:
    async def body() -> None:
        reply = await ask(chatty(family), api, UNSUPPORTED)
        assert reply.status == 400
        assert "schema.propertyNames" in reply.json()["error"]["message"]

    asyncio.run(body())


@everywhere
def test_half_an_answer_is_never_called_whole(family: str, api: str) -> None:
    async def body() -> None:
        reply = await ask(chatty(family), api, SCHEMA, tokens=5)
        text, why = told(api, reply.json())
        assert text
        assert why in ("length", "max_output_tokens", "max_tokens")

    asyncio.run(body())
