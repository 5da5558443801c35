"""The answers of a recording: what the model said, read from what the agent sent back of it."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from recordings import Json

from ds4.testing.agent_script import MARKUPS, Markup

_TAGGED = re.compile(r"<think>\n(.*)\n</think>", re.DOTALL)
_JOINTS = (
    *((f"\n</｜DSML｜{block}>\n\n<｜DSML｜{block}>", "") for block in ("tool_calls", " calls")),
    ("\n<arg_key>", "<arg_key>"),
    ("</arg_key>\n", "</arg_key>"),
    ("</arg_value>\n", "</arg_value>"),
)
"""Calls of one answer share a block. Strict tools leave no choice of blanks."""


@dataclass(frozen=True)
class Answer:
    """`calls` are names, as the model speaks them, and arguments."""

    reasoning: str = ""
    text: str = ""
    calls: tuple[tuple[str, Json], ...] = ()


def answer_of(items: list[Json]) -> Answer:
    """Of messages or items of any API that are one answer."""
    parts = [part for item in items for part in _parts(item)]
    said = ["".join(str(value) for kind, value in parts if kind == wanted) for wanted in ("thought", "text")]
    calls = tuple(value for kind, value in parts if kind == "call")
    return Answer(said[0], said[1], calls)


def _parts(item: Json) -> Iterator[tuple[str, Any]]:
    if "role" not in item:
        yield from _item(item)
        return
    if item.get("reasoning_content"):
        yield "thought", item["reasoning_content"]
    content = item.get("content") or []
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        yield from _block(block)
    for call in item.get("tool_calls") or ():
        yield "call", (call["function"]["name"], json.loads(call["function"]["arguments"]))


def _block(block: Json) -> Iterator[tuple[str, Any]]:
    match block["type"]:
        case "thinking":
            yield "thought", block["thinking"]
        case "tool_use":
            yield "call", (block["name"], block["input"])
        case _:
            tagged = _TAGGED.fullmatch(block["text"])
            yield ("thought", tagged[1]) if tagged else ("text", block["text"])


def _item(item: Json) -> Iterator[tuple[str, Any]]:
    """Of Responses."""
    match item["type"]:
        case "reasoning":
            yield "thought", "".join(part["text"] for part in item["summary"])
        case "function_call":
            name = "__".join(filter(None, (item.get("namespace"), item["name"])))
            yield "call", (name, json.loads(item["arguments"]))
        case "custom_tool_call":
            yield "call", (item["name"], {"input": item["input"]})
        case "tool_search_call":
            yield "call", ("tool_search", item["arguments"])
        case "item_reference":
            kind = "thought" if item["id"].startswith("rs_") else "text"
            yield kind, f"What {kind} the agent only names."
        case other:
            raise AssertionError(f"an item nobody here knows: {other}")


def markup_in(prompt: str) -> Markup:
    """The format that a prompt with tools teaches."""
    return next(markup for markup in MARKUPS if markup.sign in prompt)


def sampled(answer: Answer, prompt: str) -> str:
    """The answer in the model's own words: behind `prompt`, in the markup that it teaches."""
    return _thought(answer.reasoning, prompt) + answer.text + _calls(answer, prompt)


def _thought(reasoning: str, prompt: str) -> str:
    if prompt.endswith("<think>"):
        return f"{reasoning}</think>"
    if prompt.endswith("<think>\n"):
        return f"{reasoning}\n</think>\n\n"
    return f"<think>\n{reasoning}\n</think>\n\n" if reasoning else ""


def _calls(answer: Answer, prompt: str) -> str:
    markup = markup_in(prompt)
    # No template writes the arguments in this order.
    text = "".join(markup.call(name, dict(reversed(given.items()))) for name, given in answer.calls)
    for joint, nothing in _JOINTS:
        text = text.replace(joint, nothing)
    return text
