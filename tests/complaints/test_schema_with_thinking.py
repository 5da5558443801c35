"""Users report: with a schema the JSON lands in the reasoning, or there is no reasoning any more."""

import asyncio
import json

import pytest

from ds4.testing.inside import Setting, inside

FORM = {
    "type": "json_schema",
    "json_schema": {
        "name": "n",
        "strict": True,
        "schema": {"type": "object", "properties": {"n": {"enum": [2, 3]}}, "required": ["n"]},
    },
}
THOUGHTS = 'It says {"n": 2}, but I count three. '
FAMILIES = ("qwen3.8", "glm-5.2", "deepseek-v4.1")


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("thinking", ["enabled", "disabled"])
def test_reasoning_is_free_and_the_text_has_the_form(family: str, thinking: str) -> None:
    def reply(_: str) -> str:
        return (f"{THOUGHTS}</think>" if thinking == "enabled" else "") + "There are three."

    async def body() -> None:
        server = inside(reply, Setting(family=family))
        answer = await server.chat(
            ("user", "How many?"), response_format=FORM, thinking={"type": thinking}, max_tokens=200
        )
        message = answer["choices"][0]["message"]
        assert json.loads(message["content"])["n"] in (2, 3)
        reasoning = message.get("reasoning_content") or ""
        assert reasoning.strip() == (THOUGHTS.strip() if thinking == "enabled" else "")

    asyncio.run(body())
