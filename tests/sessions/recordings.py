"""What real agents sent, request by request (see README.md)."""

import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

Json = dict[str, Any]
DATA = Path(__file__).parent / "data"
HISTORIES = {"/v1/chat/completions": "messages", "/v1/messages": "messages", "/v1/responses": "input"}


@dataclass(frozen=True)
class Asked:
    """A request as it was sent."""

    path: str
    query: str
    headers: dict[str, str]
    body: Json

    @property
    def target(self) -> str:
        return f"{self.path}?{self.query}" if self.query else self.path


@cache
def recording(name: str) -> tuple[Asked, ...]:
    found = json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))
    return tuple(
        Asked(one["path"], one["query"], dict(one["headers"]), one["body"] or {}) for one in found["requests"]
    )


def history(path: str, body: Json) -> list[Any]:
    """Messages, or input items."""
    given = body.get(HISTORIES[path]) or []
    return given if isinstance(given, list) else [given]


def carried(before: Asked, after: Asked) -> tuple[list[Any], list[Any]]:
    """The answer to `before` as `after` carries it, and what is new behind it."""
    behind = history(after.path, after.body)[len(history(before.path, before.body)) :]
    size = next((n for n, item in enumerate(behind) if not is_answer(item)), len(behind))
    return behind[:size], behind[size:]


def is_answer(item: Json) -> bool:
    """Whether the model said it."""
    if "role" in item:
        return bool(item["role"] == "assistant")
    return item["type"] == "item_reference" or not str(item["type"]).endswith("_output")
