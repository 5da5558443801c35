"""Users report: the tools come in another order, and the whole prompt is computed again without a word. Or
the system text holds the time of day, and the tools beside it are computed again with it."""

import asyncio

import pytest

from ds4.core.step import Trim
from ds4.core.usage import MissReason, Part
from ds4.schedule.scheduler import CachePlan
from ds4.testing.inside import Inside, Setting, inside

RULES = "You are a careful agent. " * 80
SYSTEM = ("system", RULES)
ASKED = ("user", "what is written on line one of this? " * 20)
TEMPLATES = {
    "tools first": "{% if tools %}<|im_start|>system\n# Tools\n{{ tools | tojson }}<|im_end|>{% endif %}",
    "system first": "{% if messages[0].role == 'system' and tools %}<|im_start|>system\n"
    "{{ messages[0].content }}\n# Tools\n{{ tools | tojson }}<|im_end|>"
    "{% set messages = messages[1:] %}{% endif %}",
}
TURNS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
each_template = pytest.mark.parametrize("template", ["", *TEMPLATES])
rewinding = pytest.mark.parametrize("trim", [Trim.WINDOW, Trim.BOUNDARY])


def tool(name: str, *, turned: bool = False) -> dict[str, object]:
    """`turned`: with its keys in another order."""
    parameters = {"type": "object", "properties": {"path": {"type": "string"}}}
    about = f"{name} does what its name says. " * 6
    keys = {"name": name, "description": about, "parameters": parameters}
    return {"type": "function", "function": dict(reversed(keys.items())) if turned else keys}


TOOLS = [tool("read"), tool("write"), tool("list")]


def desk_with(template: str = "", trim: Trim = Trim.ANY, *, tools_first: bool = True) -> Inside:
    source = TEMPLATES[template] + TURNS if template else ""
    cache = CachePlan(ram=1 << 20)
    setting = Setting(n_slots=1, trim=trim, cache=cache, tools_first=tools_first, template=source)
    return inside(lambda prompt: "fine", setting)  # noqa: ARG005


async def asked(desk: Inside, system: tuple[str, str], tools: list[dict[str, object]]) -> None:
    await desk.chat(system, ASKED, tools=tools, max_tokens=1)


def size(desk: Inside, text: str) -> int:
    return len(desk.engine.tokenizer.encode_plain(text))


def test_the_system_text_before_the_tools_survives_and_the_reason_is_named() -> None:
    async def body() -> None:
        desk = desk_with(tools_first=False)
        await asked(desk, SYSTEM, TOOLS)
        await asked(desk, SYSTEM, TOOLS[::-1])
        assert desk.last_report().reason is MissReason.TOOLS_CHANGED
        assert desk.last_cost().reused >= size(desk, RULES)

    asyncio.run(body())


@each_template
def test_the_difference_shows_the_tool_that_moved(template: str) -> None:
    async def body() -> None:
        desk = desk_with(template)
        await asked(desk, SYSTEM, TOOLS)
        await asked(desk, SYSTEM, TOOLS[::-1])
        report = desk.last_report()
        assert report.reason is MissReason.TOOLS_CHANGED
        assert report.difference is not None
        assert "read" in report.difference.held
        assert "list" in report.difference.wanted

    asyncio.run(body())


@each_template
def test_keys_in_another_order_are_other_tools(template: str) -> None:
    async def body() -> None:
        desk = desk_with(template)
        keys = [tool(name, turned=True) for name in ("read", "write", "list")]
        await asked(desk, SYSTEM, TOOLS)
        await asked(desk, SYSTEM, keys)
        assert desk.last_report().reason is MissReason.TOOLS_CHANGED

    asyncio.run(body())


@each_template
def test_other_system_text_is_not_blamed_on_the_tools(template: str) -> None:
    async def body() -> None:
        desk = desk_with(template)
        for now in ("9:41", "9:42"):
            await asked(desk, ("system", f"It is {now}. {RULES}"), TOOLS)
        report = desk.last_report()
        assert report.reason is MissReason.PREAMBLE_CHANGED
        assert report.difference is not None
        assert report.difference.message == 0

    asyncio.run(body())


@rewinding
@pytest.mark.parametrize("template", ["", "tools first"])
def test_a_memory_that_cannot_be_cut_keeps_the_tools_in_front_of_other_system_text(
    trim: Trim, template: str
) -> None:
    async def body() -> None:
        desk = desk_with(template, trim)
        systems = [("system", f"It is {now}. {RULES}") for now in ("9:41", "9:42")]
        for system in systems:
            await asked(desk, system, TOOLS)
        report, cost = desk.last_report(), desk.last_cost()
        behind = size(desk, systems[1][1]) + size(desk, ASKED[1])
        assert behind <= cost.computed <= behind + 24
        assert (report.rewound, report.changed) == (True, Part.PREAMBLE)
        assert report.reason is MissReason.CANNOT_REWIND
        assert cost.reused > 100

    asyncio.run(body())


@rewinding
@pytest.mark.parametrize("template", ["", "system first"])
def test_a_memory_that_cannot_be_cut_keeps_the_system_text_in_front_of_other_tools(
    trim: Trim, template: str
) -> None:
    async def body() -> None:
        desk = desk_with(template, trim, tools_first=False)
        await asked(desk, SYSTEM, TOOLS)
        await asked(desk, SYSTEM, TOOLS[::-1])
        report, cost = desk.last_report(), desk.last_cost()
        assert size(desk, RULES) <= cost.reused <= size(desk, RULES) + 16
        assert (report.rewound, report.changed) == (True, Part.TOOLS)

    asyncio.run(body())
