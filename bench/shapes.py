"""The shapes of real agents' requests: lengths that were recorded, texts that are filler."""

import json
import random
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from pydantic import TypeAdapter

DATA = Path(__file__).parent / "data" / "agents.json"
WORDS = (
    *(
        "lorem",
        "ipsum",
        "dolor",
        "sit",
        "amet",
        "adipiscing",
        "elit",
        "sed",
        "do",
        "tempor",
        "incididunt",
        "ut",
    ),
    *(
        "labore",
        "et",
        "dolore",
        "magna",
        "aliqua",
        "enim",
        "ad",
        "minim",
        "veniam",
        "quis",
        "nostrud",
        "nisi",
    ),
    *("file", "path", "line", "error", "test", "function", "return", "value", "import", "class", "module"),
)


class Api(StrEnum):
    CHAT = "chat"
    MESSAGES = "messages"
    RESPONSES = "responses"


@dataclass(frozen=True, slots=True)
class Tool:
    """`size` is the length of its JSON in the request it was recorded from."""

    name: str
    arguments: tuple[str, ...]
    size: int
    namespace: str = ""

    @property
    def description(self) -> str:
        return filler(f"tool {self.namespace} {self.name}", max(20, self.size - len(json.dumps(self.schema))))

    @property
    def schema(self) -> dict[str, object]:
        properties = {name: {"type": "string"} for name in self.arguments}
        return {"type": "object", "properties": properties, "required": list(self.arguments[:1])}


@dataclass(frozen=True, slots=True)
class Shape:
    """Lengths in characters; data/README.md says what they are. `fields` are further fields of the body."""

    client: str
    api: Api
    system: tuple[int, ...]
    context: tuple[int, ...]
    late_system: int
    tools: tuple[Tool, ...]
    fields: dict[str, object]


def folded(shape: Shape) -> Shape:
    """With as long a system text in place of the tools, for a model whose template has none."""
    extra = sum(tool.size for tool in shape.tools)
    return replace(shape, system=(*shape.system, extra), tools=())


def shapes() -> dict[str, Shape]:
    return TypeAdapter(dict[str, Shape]).validate_json(DATA.read_bytes())


def filler(key: str, length: int) -> str:
    """The same for the same key; for another it differs from the beginning on."""
    chosen = random.Random(key)
    words = [chosen.choice(WORDS)]
    size = len(words[0])
    while size < length:
        words.append(chosen.choice(WORDS))
        size += 1 + len(words[-1])
    return " ".join(words)[:length].rstrip()
