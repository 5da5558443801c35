"""Conversations and the exact prompts they become, per family, under tests/wire/prompt/.

    conversations/NAME.json     what a client sends
    FAMILY/NAME.txt             the prompt's text, byte for byte
    FAMILY/NAME.ids             its token ids, with the scripted engine's tokenizer

Run this file to write them anew; then read the difference.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from ds4.core.messages import Conversation, Message, Role, TextPart, Thinking, Tool, ToolCall
from ds4.core.plan import PromptPlan
from ds4.engine.scripted.bpe import packaged_bpe
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.registry import family_named
from ds4.prompt.options import PromptOptions
from ds4.prompt.renderer import PromptRenderer
from ds4.testing.clock import FakeClock

WIRE = Path(__file__).parents[1] / "wire" / "prompt"
TEMPLATES = Path(__file__).parent / "templates"

TEMPLATES_OF = {"chatml-smollm2": "smollm2", "chatml-qwen3": "qwen3"}
"""ChatML by a file's own template: one that knows no tools, and one that does."""
FAMILIES = ("deepseek-v4", "deepseek-v4.1", "glm-5.2", "qwen3.8", "chatml", "generic", *TEMPLATES_OF)

CONVERSATIONS = tuple(sorted(path.stem for path in (WIRE / "conversations").glob("*.json")))


@cache
def tokenizer(family: str) -> ScriptedTokenizer:
    return ScriptedTokenizer(family_named(family), packaged_bpe())


@cache
def renderer(family: str, options: PromptOptions = PromptOptions()) -> PromptRenderer:  # noqa: B008
    """For a name of FAMILIES, or any family."""
    known = family_named("chatml" if family in TEMPLATES_OF else family)
    source = known.template
    if family in TEMPLATES_OF:
        source = (TEMPLATES / f"{TEMPLATES_OF[family]}.jinja").read_text(encoding="utf-8")
    return PromptRenderer(tokenizer(known.name), source, FakeClock(), options=options, min_boundary_chars=0)


def conversation(name: str) -> Conversation:
    text = (WIRE / "conversations" / f"{name}.json").read_text(encoding="utf-8")
    return conversation_of(json.loads(text))


def conversation_of(body: dict[str, Any]) -> Conversation:
    return Conversation(
        tuple(map(_message, body["messages"])),
        tools=tuple(
            Tool(tool["function"]["name"], orjson.dumps(tool["function"]).decode())
            for tool in body.get("tools", [])
        ),
        thinking=Thinking(body.get("thinking"), body.get("reasoning_effort")),
    )


def _message(body: dict[str, Any]) -> Message:
    content = body.get("content") or []
    parts = [content] if isinstance(content, str) else [part["text"] for part in content]
    return Message(
        Role(body["role"]),
        tuple(map(TextPart, parts)),
        reasoning=body.get("reasoning_content"),
        tool_calls=tuple(
            ToolCall(call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in body.get("tool_calls", [])
        ),
        tool_call_id=body.get("tool_call_id"),
    )


def golden(family: str, name: str) -> tuple[str, list[int]]:
    path = WIRE / family / name
    ids = path.with_suffix(".ids").read_text(encoding="ascii").split()
    return path.with_suffix(".txt").read_bytes().decode(), list(map(int, ids))


def write(family: str, name: str, plan: PromptPlan) -> None:
    path = WIRE / family / name
    path.parent.mkdir(exist_ok=True)
    path.with_suffix(".txt").write_bytes(plan.text.encode())
    rows = [" ".join(map(str, plan.ids[at : at + 20])) for at in range(0, plan.rows, 20)]
    path.with_suffix(".ids").write_text("\n".join(rows) + "\n", encoding="ascii")


if __name__ == "__main__":
    for each in FAMILIES:
        for one in CONVERSATIONS:
            write(each, one, renderer(each).render(conversation(one)))
