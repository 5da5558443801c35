"""What the tests of this folder share: a vocabulary of bytes, templates, and rendering without a guard."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Template, nodes
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

from ds4.core.messages import Conversation, Message, Role, TextPart, Tool, ToolCall
from ds4.core.plan import Origin, PromptPlan, Tokens
from ds4.formats.registry import FAMILIES
from ds4.prompt.renderer import PromptRenderer
from ds4.testing.clock import FakeClock

FOLDER = Path(__file__).parent / "templates"
THINK = ("<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>")
CHATML = ("<|im_start|>", "<|im_end|>", "<|endoftext|>")


class ByteTokenizer:
    """One id per byte, then the pairs, then the controls. `merges` are byte pairs with an id of their own."""

    def __init__(
        self, controls: Iterable[str], *, bos: str | None = None, merges: Iterable[str] = ()
    ) -> None:
        self._merges = {pair.encode(): 256 + i for i, pair in enumerate(merges)}
        first = 256 + len(self._merges)
        self._controls = {spelling: first + i for i, spelling in enumerate(controls)}
        self._pieces = {i: s for s, i in self._merges.items()} | {
            i: s.encode() for s, i in self._controls.items()
        }
        self.bos = self._controls[bos] if bos else None
        self.eos: int | None = None
        self.n_vocab = first + len(self._controls)
        self.encoded: list[str] = []

    @property
    def controls(self) -> dict[str, int]:
        return self._controls

    def encode_plain(self, text: str) -> list[int]:
        self.encoded.append(text)
        data, ids = text.encode(), []
        while data:
            size = 2 if data[:2] in self._merges else 1
            ids.append(self._merges[data[:2]] if size == 2 else data[0])
            data = data[size:]
        return ids

    def encode_raw(self, text: str) -> list[int]:
        for spelling, token in self._controls.items():
            head, found, tail = text.partition(spelling)
            if found:
                return [*self.encode_raw(head), token, *self.encode_raw(tail)]
        return self.encode_plain(text)

    def piece(self, token: int) -> bytes:
        return self._pieces.get(token) or bytes([token])

    def is_control(self, token: int) -> bool:
        return token >= 256 + len(self._merges)

    def is_eog(self, token: int) -> bool:
        return token == self.eos


@dataclass(frozen=True)
class Case:
    """A template with the vocabulary it was made for. `simple`: it knows no tools.

    `layout` names a built-in layout instead.
    """

    name: str
    controls: tuple[str, ...]
    bos: str = ""
    eos: str = ""
    simple: bool = False
    reasoning_key: str = "reasoning_content"
    layout: str = ""

    @property
    def source(self) -> str:
        if self.layout:
            return self.layout
        return (FOLDER / f"{self.name}.jinja").read_text(encoding="utf-8")

    @cache  # noqa: B019 (a handful of frozen cases)
    def renderer(self, min_boundary_chars: int = 1 << 30) -> PromptRenderer:
        tokenizer = ByteTokenizer(self.controls, bos=self.bos or None)
        return PromptRenderer(
            tokenizer,
            self.source,
            FakeClock(),
            bos_token=self.bos,
            eos_token=self.eos,
            min_boundary_chars=min_boundary_chars,
        )


LLAMA = ("<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>", "<|python_tag|>")
MISTRAL = (
    *("<s>", "</s>", "[INST]", "[/INST]", "[TOOL_CALLS]", "[TOOL_RESULTS]", "[/TOOL_RESULTS]"),
    *("[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"),
)
GEMMA = ("<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>", "<table>", "<unused1>", "<unused10>")
DEEPSEEK = (
    *(
        "<｜begin▁of▁sentence｜>",
        "<｜end▁of▁sentence｜>",
        "<｜User｜>",
        "<｜Assistant｜>",
        "<think>",
        "</think>",
    ),
    *("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", "<｜tool▁call▁begin｜>", "<｜tool▁call▁end｜>"),
    *("<｜tool▁sep｜>", "<｜tool▁output▁begin｜>", "<｜tool▁output▁end｜>", "｜DSML｜"),
)
GLM = (
    *("[gMASK]", "<sop>", "<|system|>", "<|user|>", "<|assistant|>", "<|observation|>", *THINK),
    *("<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "/nothink"),
)
HARMONY = tuple(f"<|{word}|>" for word in ("start", "end", "message", "channel", "call", "return"))
COMMAND = (
    *(
        "<BOS_TOKEN>",
        "<|START_OF_TURN_TOKEN|>",
        "<|END_OF_TURN_TOKEN|>",
        "<|USER_TOKEN|>",
        "<|SYSTEM_TOKEN|>",
    ),
    *("<|CHATBOT_TOKEN|>", "<|START_ACTION|>", "<|END_ACTION|>"),
)
PHI = tuple(f"<|{word}|>" for word in ("system", "user", "assistant", "end", "tool", "/tool", "endoftext"))

CASES = (
    Case("smollm2", CHATML, simple=True),
    Case("chatml", (*CHATML, "<tools>", *THINK)),
    Case("llama3", LLAMA, "<|begin_of_text|>", "<|eot_id|>"),
    Case("mistral", MISTRAL, "<s>", "</s>"),
    Case("gemma", GEMMA, "<bos>", "<eos>", simple=True),
    Case("deepseek", DEEPSEEK, DEEPSEEK[0], DEEPSEEK[1], simple=True),
    Case("qwen3", (*CHATML, *THINK)),
    Case("glm", GLM),
    Case("harmony", HARMONY, reasoning_key="thinking"),
    Case("command_r", COMMAND, "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>"),
    Case("phi", PHI, eos="<|endoftext|>"),
)

LAYOUT_CASES = tuple(
    Case(family.name, family.spellings, layout=family.template)
    for family in FAMILIES
    if family.name not in ("glm-5.3", "generic")
)
"""The built-in layouts that have control tokens."""
ALL_CASES = CASES + LAYOUT_CASES


def say(role: Role | str, text: str | None = None, **fields: Any) -> Message:
    return Message(Role(role), () if text is None else (TextPart(text),), **fields)


def chat(*turns: tuple[str, str], **fields: Any) -> Conversation:
    return Conversation(tuple(say(role, text) for role, text in turns), **fields)


def call(name: str, arguments: str, call_id: str = "abcdefgh1") -> ToolCall:
    return ToolCall(call_id, name, arguments)


def tool(name: str, description: str = "", *properties: str) -> Tool:
    parameters = {"type": "object", "properties": {key: {"type": "string"} for key in properties}}
    raw = {"name": name, "description": description, "parameters": parameters}
    return Tool(name, json.dumps(raw, ensure_ascii=False))


def runs(plan: PromptPlan) -> list[Tokens]:
    return [item for item in plan.items if isinstance(item, Tokens)]


def origins(plan: PromptPlan) -> list[Origin]:
    return [run.origin for run in runs(plan)]


def control_ids(plan: PromptPlan) -> list[int]:
    return [token for run in runs(plan) if run.origin is Origin.CONTROL for token in run.ids]


class _Generation(Extension):
    tags = {"generation"}  # noqa: RUF012

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


@cache
def _by_jinja_alone(case: Case) -> Template:
    env = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", _Generation]
    )
    env.filters["tojson"] = _dump
    wall = datetime.fromtimestamp(FakeClock().wall())
    env.globals |= {"strftime_now": wall.strftime, "bos_token": case.bos, "eos_token": case.eos}
    return env.from_string(case.source)


def plainly(case: Case, conversation: Conversation) -> str:
    """The template's text by Jinja alone: what the model's authors see."""
    messages = [_plain_message(case, message) for message in conversation.messages]
    tools = [{"type": "function", "function": json.loads(t.raw)} for t in conversation.tools] or None
    template = _by_jinja_alone(case)
    return template.render(messages=messages, tools=tools, add_generation_prompt=True)


def _dump(value: object, ensure_ascii: bool = False, **options: Any) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, **options)


def _plain_message(case: Case, message: Message) -> dict[str, object]:
    out: dict[str, object] = {"role": message.role.value, "content": message.text}
    if message.reasoning:
        out[case.reasoning_key] = message.reasoning
    if message.tool_calls:
        out["tool_calls"] = [
            {
                "id": c.id,
                "type": "function",
                "function": {"name": c.name, "arguments": json.loads(c.arguments)},
            }
            for c in message.tool_calls
        ]
    if message.tool_call_id:
        out["tool_call_id"] = message.tool_call_id
    return out
