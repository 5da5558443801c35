"""Golden outputs: what a model wrote, and the events it means.

Files in tests/wire/output, one per tool format, hold cases like this one. Flags: `open` the prompt
opened the reasoning, `lines` with newlines around the markers, `cut` a limit ended the output,
`no-tools`. The raw text ends before the last newline; text and reasoning are JSON strings.

    === what it shows (open) (cut)
    raw text
    --- events
    reasoning "..."
    text "..."
    call NAME
    args {"a":1}
    end
    stop tool_calls
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ds4.core.events import (
    Fed,
    FinishReason,
    ParsedEvent,
    Reasoning,
    Stop,
    Text,
    ToolArgs,
    ToolEnd,
    ToolStart,
)
from ds4.core.messages import Tool
from ds4.core.ports import Piece, Reader
from ds4.formats.reasoning import THINK, THINK_LINES
from ds4.formats.tools.registry import tool_format_named
from ds4.parsing.answer import AnswerSpec, answer_reader
from ds4.parsing.joined import joined
from ds4.testing.ids import SequentialIds

FOLDER = Path(__file__).parents[1] / "wire" / "output"
LINED = ("qwen_xml", "hermes_json", "llama_json", "mistral")


def tool(name: str, **properties: object) -> Tool:
    schema = {"type": "object", "properties": properties}
    return Tool(name, json.dumps({"name": name, "parameters": schema}))


TOOLS = (
    tool("stock", item={"type": "string"}, depth={"type": "integer"}, tags={"type": "array"}),
    tool("edit", path={"type": "string"}, text={"type": "string"}, count={"type": ["string", "null"]}),
    tool("clock"),
)


@dataclass(frozen=True)
class Outcome:
    """All events, adjacent pieces joined, and the reader's own reason to end."""

    events: tuple[ParsedEvent, ...]
    stop: Stop | None = None


@dataclass(frozen=True)
class Case:
    format: str
    name: str
    flags: frozenset[str]
    raw: str
    events: tuple[str, ...]

    @property
    def id(self) -> str:
        return f"{self.format}: {self.name}"

    @property
    def cut(self) -> bool:
        return "cut" in self.flags

    def reader(self) -> Reader:
        return reader(
            self.format,
            reasoning_open="open" in self.flags,
            tools=() if "no-tools" in self.flags else TOOLS,
            lines="lines" in self.flags or self.format in LINED,
        )


def reader(
    name: str,
    *,
    reasoning_open: bool = False,
    tools: tuple[Tool, ...] = TOOLS,
    lines: bool = False,
    stops: tuple[str, ...] = (),
    want_tokens: bool = False,
) -> Reader:
    return answer_reader(
        AnswerSpec(
            ids=SequentialIds(),
            reasoning=THINK_LINES if lines else THINK,
            tool_format=tool_format_named(name),
            reasoning_open=reasoning_open,
            tools=tools,
            stops=stops,
            want_tokens=want_tokens,
        )
    )


def run(reader: Reader, pieces: Iterable[bytes], *, cut: bool = False) -> Outcome:
    """Feeds as the scheduler does: a stop ends it."""
    feds: list[Fed] = []
    for data in pieces:
        feds.append(reader.feed(Piece(data, 0, control=False)))
        if feds[-1].hint.stop:
            break
    stop = feds[-1].hint.stop if feds else None
    feds.append(reader.flush(cut=cut and stop is None))
    return Outcome(tuple(joined(event for fed in feds for event in fed.events)), feds[-1].hint.stop)


def lines_of(outcome: Outcome) -> tuple[str, ...]:
    """As the files have it, with the ids checked on the way."""
    for event in outcome.events:
        if isinstance(event, ToolStart):
            assert event.id == f"call_{event.index:032x}"
    lines = [_line(event) for event in outcome.events]
    if outcome.stop is not None:
        assert outcome.stop == Stop(FinishReason.TOOL_CALLS)
        lines.append("stop tool_calls")
    return tuple(lines)


def _line(event: ParsedEvent) -> str:
    match event:
        case Text(text):
            return f"text {json.dumps(text, ensure_ascii=False)}"
        case Reasoning(text):
            return f"reasoning {json.dumps(text, ensure_ascii=False)}"
        case ToolStart():
            return f"call {event.name}"
        case ToolArgs():
            return f"args {event.text}"
        case ToolEnd():
            return "end"


@cache
def cases() -> tuple[Case, ...]:
    return tuple(case for path in sorted(FOLDER.glob("*.txt")) for case in _read(path))


def _read(path: Path) -> Iterable[Case]:
    for part in re.split(r"^=== ", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        head, _, body = part.partition("\n")
        raw, _, events = body.partition("--- events\n")
        flags = frozenset(re.findall(r"\(([\w-]+)\)", head)) & {"open", "lines", "cut", "no-tools"}
        tool_format = "dsml" if path.stem == "reasoning" else path.stem
        yield Case(tool_format, head, flags, raw.removesuffix("\n"), tuple(events.splitlines()))
