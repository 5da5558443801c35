"""Users report: the tools come in another order, and the whole prompt is computed again without a word."""

import asyncio

from ds4.core.usage import MissReason
from ds4.testing.inside import Setting, inside

SYSTEM = ("system", "You are a careful agent. " * 80)


def tool(name: str) -> dict[str, object]:
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    return {"type": "function", "function": {"name": name, "description": "a tool", "parameters": parameters}}


def test_the_system_text_before_the_tools_survives_and_the_reason_is_named() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "fine", Setting(n_slots=1, tools_first=False))  # noqa: ARG005
        tools = [tool("read"), tool("write"), tool("list")]
        await desk.chat(SYSTEM, ("user", "go"), tools=tools, max_tokens=1)
        await desk.chat(SYSTEM, ("user", "go"), tools=tools[::-1], max_tokens=1)
        assert desk.last_report().reason is MissReason.PREAMBLE_CHANGED
        assert desk.last_cost().reused >= len(desk.engine.tokenizer.encode_plain(SYSTEM[1]))

    asyncio.run(body())


def test_the_difference_shows_the_tool_that_moved() -> None:
    async def body() -> None:
        desk = inside(lambda prompt: "fine", Setting(n_slots=1))  # noqa: ARG005
        tools = [tool("read"), tool("write")]
        await desk.chat(SYSTEM, ("user", "go"), tools=tools, max_tokens=1)
        await desk.chat(SYSTEM, ("user", "go"), tools=tools[::-1], max_tokens=1)
        report = desk.last_report()
        assert report.reason is MissReason.PREAMBLE_CHANGED
        assert report.difference is not None
        assert "read" in report.difference.held
        assert "write" in report.difference.wanted

    asyncio.run(body())
