"""Clients that keep a conversation of tool calls going, and send back what they understood of each answer.

One class per API; an `Echo` says what the client does to the answers it sends back.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from ds4.testing.agent_script import MARKUPS, THOUGHTS
from ds4.testing.inside import Inside

Json = dict[str, Any]
SYSTEM = "You are a careful agent. " * 12
PARAMETERS: Json = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "deep": {"type": "object"},
        "ratio": {"type": "number"},
    },
}


class Agent:
    """The model: calls a tool in every answer, in the markup its prompt teaches. Keeps the prompts it saw."""

    def __init__(self) -> None:
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        markup = next(markup for markup in MARKUPS if markup.sign in prompt)
        number = prompt.count(markup.turn) - 1
        opened = next((opening for opening in THOUGHTS if prompt.endswith(opening)), None)
        thought = f"<think>\nI must think of step {number}.\n</think>\n\n"
        if opened == "<think>":
            thought = f"I must think of step {number}.</think>"
        elif opened:
            thought = thought.removeprefix("<think>\n")
        text = f"Now step {number}: “careful”." if number % 2 else ""
        arguments = {
            "path": f"/tmp/ä {number}.txt",
            "deep": {"b": [{"z": None, "a": True}], "a": '<\n"'},
            "ratio": 1.0,
        }
        return thought + text + markup.call("look", arguments)


@dataclass(frozen=True)
class Said:
    """An answer, as its API gave it. Calls are (id, name, arguments as text)."""

    reasoning: str
    text: str
    calls: tuple[tuple[str, str, str], ...]
    sealed: Any = None
    response_id: str = ""


@dataclass(frozen=True)
class Echo:
    """What a client makes of an answer before it sends it back."""

    name: str
    arguments: Callable[[str], object] = str
    reasoning: Callable[[str], str | None] = str
    new_id: Callable[[str], str | None] = str
    text: Callable[[str], object] = str


def reversed_keys(text: str) -> str:
    def turned(value: object) -> object:
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(item) for item in value] if isinstance(value, list) else value

    return json.dumps(turned(json.loads(text)), separators=(",", ":"))


def as_javascript(text: str) -> str:
    """There 1.0 is 1."""

    def number(written: str) -> float | int:
        value = float(written)
        return int(value) if value.is_integer() else value

    return json.dumps(json.loads(text, parse_float=number))


def halves(text: str) -> list[Json]:
    middle = len(text) // 2
    return [{"type": "text", "text": part} for part in (text[:middle], text[middle:])]


ECHOES = (
    Echo("as it was"),
    Echo("reversed", arguments=reversed_keys),
    Echo("pretty", arguments=lambda text: json.dumps(json.loads(text), indent=2, ensure_ascii=True)),
    Echo("javascript", arguments=as_javascript),
    Echo("stringified", arguments=json.dumps),
    Echo("object", arguments=json.loads),
    Echo("no reasoning", reasoning=lambda _: None),
    Echo("blank reasoning", reasoning=lambda _: " "),
    Echo("other ids", new_id=lambda id_: f"x{id_[::-1]}"),
    Echo("no ids", new_id=lambda _: None),
    Echo("null", text=lambda text: text or None),
    Echo("in pieces", text=lambda text: halves(text) if text else []),
    Echo("all of it", reversed_keys, lambda _: None, lambda id_: f"y{id_}", lambda text: f"{text}\n"),
)


def without_none(value: Json) -> Json:
    return {key: item for key, item in value.items() if item is not None}


class Talk(Protocol):
    """A conversation. `ask` sends it with what is new and keeps the answer, as it will be echoed."""

    history: list[Any]

    async def ask(self, desk: Inside, new: str) -> Said: ...


async def post(desk: Inside, path: str, body: Json) -> Json:
    reply = await desk.client.post(path, body)
    if reply.status != 200:
        raise AssertionError(f"{reply.status}: {reply.body.decode()}")
    found: Json = reply.json()
    return found


class Chat:
    def __init__(self, echo: Echo) -> None:
        self.history: list[Any] = [{"role": "system", "content": SYSTEM}]
        self.extra: Json = {}
        self._echo = echo
        self._waiting: tuple[str | None, ...] = ()

    async def ask(self, desk: Inside, new: str) -> Said:
        result = {"role": "tool", "content": new}
        results = [without_none(result | {"tool_call_id": id_}) for id_ in self._waiting]
        self.history += results or [{"role": "user", "content": new}]
        tools = [{"type": "function", "function": {"name": "look", "parameters": PARAMETERS}}]
        body = {"messages": self.history, "tools": tools, "temperature": 0, **self.extra}
        message = (await post(desk, "/v1/chat/completions", body))["choices"][0]["message"]
        calls = tuple(
            (call["id"], call["function"]["name"], call["function"]["arguments"])
            for call in message.get("tool_calls") or ()
        )
        said = Said(message.get("reasoning_content") or "", message["content"] or "", calls)
        self._keep(said)
        return said

    def _keep(self, said: Said) -> None:
        echo = self._echo
        self._waiting = tuple(echo.new_id(id_) for id_, _, _ in said.calls)
        calls = [
            without_none({"id": id_, "function": {"name": name, "arguments": echo.arguments(arguments)}})
            for id_, (_, name, arguments) in zip(self._waiting, said.calls, strict=True)
        ]
        message = {"role": "assistant", "content": echo.text(said.text), "tool_calls": calls}
        thoughts = {"reasoning_content": echo.reasoning(said.reasoning)}
        self.history.append(message | without_none(thoughts))


class Messages:
    def __init__(self, echo: Echo) -> None:
        self.history: list[Any] = []
        self.extra: Json = {}
        self._echo = echo
        self._waiting: tuple[str | None, ...] = ()

    async def ask(self, desk: Inside, new: str) -> Said:
        results = [{"type": "tool_result", "tool_use_id": id_, "content": new} for id_ in self._waiting]
        self.history.append({"role": "user", "content": results or new})
        body = {
            "model": "m",
            "max_tokens": 1000,
            "system": SYSTEM,
            "messages": self.history,
            "tools": [{"name": "look", "input_schema": PARAMETERS}],
            "temperature": 0,
            **self.extra,
        }
        blocks = (await post(desk, "/v1/messages", body))["content"]
        thinking = [block for block in blocks if block["type"] == "thinking"]
        said = Said(
            "".join(block["thinking"] for block in thinking),
            "".join(block["text"] for block in blocks if block["type"] == "text"),
            tuple((b["id"], b["name"], json.dumps(b["input"])) for b in blocks if b["type"] == "tool_use"),
            thinking[0]["signature"] if thinking else "",
        )
        self._keep(said)
        return said

    def _keep(self, said: Said) -> None:
        echo, blocks = self._echo, list[Json]()
        self._waiting = tuple(echo.new_id(id_) or id_ for id_, _, _ in said.calls)
        if echo.reasoning(said.reasoning) is not None:
            shown = echo.reasoning(said.reasoning)
            blocks.append({"type": "thinking", "thinking": shown, "signature": said.sealed})
        text = echo.text(said.text)
        blocks += text if isinstance(text, list) else [{"type": "text", "text": text}] if text else []
        for id_, (_, name, arguments) in zip(self._waiting, said.calls, strict=True):
            given = echo.arguments(arguments)
            if isinstance(given, str) and echo.name != "stringified":
                given = json.loads(given)
            blocks.append({"type": "tool_use", "id": id_, "name": name, "input": given})
        self.history.append({"role": "assistant", "content": blocks})


class Responses:
    def __init__(self, echo: Echo) -> None:
        self.history: list[Any] = []
        self.extra: Json = {}
        self._echo = echo
        self._waiting: tuple[str | None, ...] = ()

    async def ask(self, desk: Inside, new: str) -> Said:
        results = [{"type": "function_call_output", "call_id": id_, "output": new} for id_ in self._waiting]
        self.history += results or [{"role": "user", "content": new}]
        body = {
            "model": "m",
            "instructions": SYSTEM,
            "input": self.history,
            "store": False,
            "reasoning": {"summary": "detailed"},
            "tools": [{"type": "function", "name": "look", "parameters": PARAMETERS}],
            "temperature": 0,
            **self.extra,
        }
        response = await post(desk, "/v1/responses", body)
        items = response["output"]
        thoughts = [item for item in items if item["type"] == "reasoning"]
        said = Said(
            "".join(part["text"] for item in thoughts for part in item["summary"]),
            "".join(part["text"] for i in items if i["type"] == "message" for part in i["content"]),
            tuple((i["call_id"], i["name"], i["arguments"]) for i in items if i["type"] == "function_call"),
            thoughts[0].get("encrypted_content") if thoughts else None,
            response["id"],
        )
        self._keep(said)
        return said

    def _keep(self, said: Said) -> None:
        echo = self._echo
        self._waiting = tuple(echo.new_id(id_) or id_ for id_, _, _ in said.calls)
        shown = echo.reasoning(said.reasoning)
        if shown is not None:
            summary = [{"type": "summary_text", "text": shown}]
            self.history.append({"type": "reasoning", "summary": summary})
        text = echo.text(said.text)
        if text:
            parts = text if isinstance(text, list) else [{"text": text}]
            content = [{"type": "output_text", "text": part["text"]} for part in parts]
            self.history.append({"type": "message", "role": "assistant", "content": content})
        for id_, (_, name, arguments) in zip(self._waiting, said.calls, strict=True):
            call = {"type": "function_call", "call_id": id_, "name": name}
            self.history.append(call | {"arguments": echo.arguments(arguments)})


APIS = (Chat, Messages, Responses)
