"""A client's view of a stream of Responses: what its events add up to, and whether they keep the order."""

import json
from dataclasses import dataclass, field
from typing import Any

Event = dict[str, Any]
ENDS = ("response.completed", "response.incomplete", "response.failed")
_DELTAS = {
    "response.output_text": "text",
    "response.reasoning_summary_text": "text",
    "response.function_call_arguments": "arguments",
    "response.custom_tool_call_input": "input",
}


@dataclass
class Reading:
    """`response` is the last event's; `items` are those that the stream completed one by one."""

    events: list[Event]
    items: list[Event] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        return [event["type"].removeprefix("response.") for event in self.events]

    @property
    def response(self) -> Event:
        found: Event = self.events[-1]["response"]
        return found

    def deltas(self, kind: str) -> list[str]:
        return [event["delta"] for event in self.events if event["type"] == f"response.{kind}.delta"]


def events_of(body: bytes) -> list[Event]:
    """Every event has a name that is its type, and the next number."""
    events = []
    for number, block in enumerate(body.decode().removesuffix("\n\n").split("\n\n")):
        name, data = block.split("\n")
        event = json.loads(data.removeprefix("data: "))
        assert name == f"event: {event['type']}"
        assert event["sequence_number"] == number
        events.append(event)
    return events


def read(body: bytes) -> Reading:
    """Raises AssertionError where the stream breaks its contract."""
    events = [event for event in events_of(body) if event["type"] != "keepalive"]
    assert [event["type"] for event in events[:2]] == ["response.created", "response.in_progress"]
    assert events[-1]["type"] in ENDS
    reading = Reading(events)
    open_: Event | None = None
    said: dict[str, str] = {}
    for event in events[2:-1]:
        kind = event["type"]
        if kind == "response.output_item.added":
            assert open_ is None, "one item at a time"
            open_, said = event["item"], {}
            assert open_["status"] == "in_progress"
        assert open_ is not None
        assert event["output_index"] == len(reading.items)
        assert event.get("item_id", open_["id"]) == open_["id"]
        _follow(event, said)
        if kind == "response.output_item.done":
            assert (event["item"]["id"], event["item"]["type"]) == (open_["id"], open_["type"])
            assert all(text in json.dumps(event["item"]) for text in map(_quoted, said.values()))
            reading.items.append(event["item"])
            open_ = None
    assert open_ is None, "an item was left open"
    assert reading.response["output"] == reading.items
    return reading


def _follow(event: Event, said: dict[str, str]) -> None:
    what, _, step = event["type"].rpartition(".")
    if what not in _DELTAS:
        return
    if step == "delta":
        said[what] = said.get(what, "") + event["delta"]
    else:
        assert event[_DELTAS[what]] == said.get(what, ""), "deltas add up"


def _quoted(text: str) -> str:
    return json.dumps(text)[1:-1]


def without_ids(value: Any) -> Any:
    """The same without what differs from one answer to the next."""
    if isinstance(value, dict):
        return {key: without_ids(item) for key, item in value.items() if key != "id"}
    return [without_ids(item) for item in value] if isinstance(value, list) else value
