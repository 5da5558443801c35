"""Reads the streamed answers of the three APIs: the words, the calls, the counts. Pure."""

import json
from dataclasses import dataclass, field

from bench.shapes import Api
from bench.talk import Answer, Call, Json


@dataclass(frozen=True, slots=True)
class Counts:
    """Tokens as the answer's own usage says."""

    prompt: int
    cached: int
    completion: int


@dataclass(slots=True)
class _Draft:
    """A tool call whose arguments are still coming."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Listener:
    """Takes each event's JSON; `begun` once something of the answer has come."""

    api: Api
    begun: bool = False
    _text: str = ""
    _reasoning: str = ""
    _signature: str = ""
    _calls: dict[int, _Draft] = field(default_factory=dict)
    _items: list[Json] = field(default_factory=list)
    _usage: dict[str, int] = field(default_factory=dict)

    def heard(self, event: Json) -> None:
        """Raises AssertionError on an error in the stream."""
        if event.get("error"):
            raise AssertionError(event["error"])
        {Api.CHAT: self._chat, Api.MESSAGES: self._message, Api.RESPONSES: self._response}[self.api](event)

    def answer(self) -> Answer:
        drafts = [self._calls[index] for index in sorted(self._calls)]
        calls = tuple(Call(draft.id, draft.name, whole(draft.arguments)) for draft in drafts)
        return Answer(self._text, self._reasoning, self._signature, calls, tuple(self._items))

    def counts(self) -> Counts:
        usage = self._usage
        if self.api is Api.MESSAGES:
            cached = usage.get("cache_read_input_tokens", 0)
            return Counts(cached + usage.get("input_tokens", 0), cached, usage.get("output_tokens", 0))
        return Counts(usage["prompt"], usage["cached"], usage["completion"])

    def _chat(self, event: Json) -> None:
        if isinstance(usage := event.get("usage"), dict):
            self._count(usage, "prompt_tokens", "completion_tokens", "prompt_tokens_details")
        for choice in _dicts(event.get("choices")):
            delta = choice.get("delta")
            if isinstance(delta, dict):
                self._delta(delta)

    def _delta(self, delta: Json) -> None:
        text, reasoning = str(delta.get("content") or ""), str(delta.get("reasoning_content") or "")
        calls = _dicts(delta.get("tool_calls"))
        self._text += text
        self._reasoning += reasoning
        self.begun = self.begun or bool(text or reasoning or calls)
        for part in calls:
            draft = self._calls.setdefault(_int(part.get("index")), _Draft())
            function = part.get("function")
            draft.id = str(part.get("id") or draft.id)
            if isinstance(function, dict):
                draft.name = str(function.get("name") or draft.name)
                draft.arguments += str(function.get("arguments") or "")

    def _message(self, event: Json) -> None:
        kind = event.get("type")
        self.begun = self.begun or kind == "content_block_delta"
        if kind == "message_start" and isinstance(message := event.get("message"), dict):
            self._usage.update(_ints(message.get("usage")))
        elif kind == "message_delta":
            self._usage.update(_ints(event.get("usage")))
        elif kind == "content_block_start" and isinstance(block := event.get("content_block"), dict):
            if block.get("type") == "tool_use":
                self._calls[_int(event.get("index"))] = _Draft(str(block.get("id")), str(block.get("name")))
        elif kind == "content_block_delta" and isinstance(delta := event.get("delta"), dict):
            self._text += str(delta.get("text") or "")
            self._reasoning += str(delta.get("thinking") or "")
            self._signature += str(delta.get("signature") or "")
            if "partial_json" in delta:
                self._calls[_int(event.get("index"))].arguments += str(delta["partial_json"])

    def _response(self, event: Json) -> None:
        kind = str(event.get("type"))
        self.begun = self.begun or kind.endswith(".delta")
        if kind == "response.output_item.done" and isinstance(item := event.get("item"), dict):
            self._items.append(item)
            if item.get("type") == "function_call":
                said = (str(item.get(key)) for key in ("call_id", "name", "arguments"))
                self._calls[len(self._calls)] = _Draft(*said)
        elif kind in ("response.completed", "response.incomplete"):
            response = event["response"]
            assert isinstance(response, dict)
            self._count(response["usage"], "input_tokens", "output_tokens", "input_tokens_details")

    def _count(self, usage: Json, prompt: str, completion: str, details: str) -> None:
        cached = _ints(usage.get(details)).get("cached_tokens", 0)
        self._usage.update(prompt=_int(usage[prompt]), completion=_int(usage[completion]), cached=cached)


def whole(arguments: str) -> str:
    """Arguments that were cut off are none."""
    try:
        json.loads(arguments or "{}")
    except ValueError:
        return "{}"
    return arguments


def _dicts(value: object) -> list[Json]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _ints(value: object) -> dict[str, int]:
    return (
        {key: said for key, said in value.items() if isinstance(said, int)} if isinstance(value, dict) else {}
    )


def _int(value: object) -> int:
    assert isinstance(value, int)
    return value
