"""Answers under a constraint: sampled at random, and read as the server reads them.

A model here is a family's control ids and markup with a format: every format has one whose markup is entries
of the vocabulary, and one that writes it all in ordinary tokens.
"""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np

from ds4.constrain.answer import grammar
from ds4.constrain.compiler import Compiler
from ds4.constrain.grammar import Grammar
from ds4.constrain.style import Start, Style
from ds4.core.constraint import Calls, Constraint, Form, Signature, Syntax
from ds4.core.events import Fed, Reasoning, Text, ToolArgs, ToolStart
from ds4.core.messages import Tool
from ds4.core.ports import Guide, Piece
from ds4.engine.scripted.bpe import packaged_bpe
from ds4.engine.scripted.tokenizer import ScriptedTokenizer
from ds4.formats.chatml import CHATML
from ds4.formats.family import Family
from ds4.formats.generic import GENERIC
from ds4.formats.markup import Reasoning as Marks
from ds4.formats.registry import FAMILIES
from ds4.formats.tools.harmony import HARMONY
from ds4.formats.tools.llama_json import LLAMA_JSON
from ds4.formats.tools.mistral import MISTRAL
from ds4.formats.tools.registry import TOOL_FORMATS
from ds4.parsing.answer import AnswerSpec, answer_reader
from ds4.parsing.assured import Assured
from ds4.testing.ids import SequentialIds

_HARMONY_IDS = (
    "<|start|>",
    "<|end|>",
    "<|message|>",
    "<|channel|>",
    "<|constrain|>",
    "<|return|>",
    "<|call|>",
)
_OTHER_FAMILIES = (
    replace(
        CHATML,
        name="gpt-oss",
        control=_HARMONY_IDS,
        markup=(),
        eos="<|return|>",
        ends=("<|call|>",),
        tool_format=HARMONY,
    ),
    replace(
        CHATML, name="mistral", control=("</s>", "[TOOL_CALLS]"), eos="</s>", ends=(), tool_format=MISTRAL
    ),
    replace(
        CHATML,
        name="mistral named",
        control=("</s>", "[TOOL_CALLS]", "[ARGS]", "[CALL_ID]"),
        eos="</s>",
        ends=(),
        tool_format=MISTRAL,
    ),
    replace(
        CHATML,
        name="llama",
        control=("<|eot_id|>", "<|python_tag|>"),
        eos="<|eot_id|>",
        ends=(),
        tool_format=LLAMA_JSON,
    ),
)
_LIKE_ANOTHER = ("deepseek-v4", "glm-5.3")
"""Their format is tried with another family's entries, or with none."""
_WITH_IDS = [
    family for family in (*FAMILIES, *_OTHER_FAMILIES) if family.control and family.name not in _LIKE_ANOTHER
]
_PLAIN = [replace(GENERIC, name=f"plain {known.name}", tool_format=known) for known in TOOL_FORMATS]
AT_ONCE = Start()
MODELS: Mapping[str, Family] = {family.name: family for family in (*_WITH_IDS, *_PLAIN)}


class NoEnd(AssertionError):
    """The sampler did not come to an end, which is its own fault or that of the grammar."""


@dataclass(frozen=True)
class Answer:
    """What the reader made of it. `calls` are names and arguments."""

    reasoning: str = ""
    text: str = ""
    calls: Sequence[tuple[str, Any]] = ()
    malformed: Sequence[str] = field(default=())


@cache
def tokenizer(model: str) -> ScriptedTokenizer:
    return ScriptedTokenizer(MODELS[model], packaged_bpe())


@cache
def compiler(model: str) -> Compiler:
    family = MODELS[model]
    marks = marks_of(family)
    return Compiler(tokenizer(model), (*family.tool_format.spellings, marks.open, marks.close))


def marks_of(family: Family) -> Marks:
    return family.tool_format.channels.reasoning if family.tool_format.channels else family.reasoning


def style(model: str) -> Style:
    return Style(marks_of(MODELS[model]), MODELS[model].tool_format)


def compiled(model: str, constraint: Constraint, start: Start = AT_ONCE) -> Grammar:
    return grammar(constraint, style(model), start, compiler(model).words, compiler(model).can_end)


def guide(model: str, constraint: Constraint, start: Start = AT_ONCE) -> Guide:
    return compiler(model).guide(compiled(model, constraint, start), "tools", start.begun)


def signature(name: str, schema: object, *, strict: bool = False) -> Signature:
    return Signature(name, json.dumps(schema), strict, f"tools.{name}")


def must_call(*tools: Signature, single: bool = False) -> Constraint:
    return Constraint(calls=Calls(tools, required=True, single=single))


def may_call(*tools: Signature, single: bool = False) -> Constraint:
    return Constraint(calls=Calls(tools, single=single))


def form(syntax: Syntax, text: str, path: str = "response_format") -> Form:
    return Form(syntax, text, path)


def sampled(model: str, guide: Guide, seed: int, *, limit: int = 1500, hurry: float = 0.4) -> list[int]:
    """Any allowed tokens, up to an end. `hurry`: how often something is said that may end it."""
    rng, words = random.Random(seed), compiler(model).words
    endings = _endings(model)
    said: list[int] = []
    while len(said) < limit:
        if guide.done:
            return said
        if rng.random() < min(hurry * (1 + len(said) / 100), 0.8):
            said += _say(guide, rng.choice(endings), words.ends)
            continue
        allowed = np.flatnonzero(guide.allowed()).tolist()
        if rng.random() < hurry + len(said) / 400 and any(end in allowed for end in words.ends):
            return said
        inner = [token for token in allowed if token not in words.ends]
        if not inner:
            return said
        said.append(rng.choice(inner))
        guide.accept(said[-1])
    raise NoEnd(text_of(model, said)[-300:])


def _say(guide: Guide, ids: Sequence[int], ends: Sequence[int]) -> Iterator[int]:
    for token in ids:
        if guide.done or token in ends or not guide.allows(token):
            return
        guide.accept(token)
        yield token


@cache
def _endings(model: str) -> list[list[int]]:
    """What may end something, and what only looks so: the tags in ordinary tokens, and bits of JSON."""
    written, marks = MODELS[model].tool_format.written, marks_of(MODELS[model])
    ends = ['"', "}", "]", '"}', ",", marks.close, written.closes, written.after]
    if written.parameters:
        ends += [written.parameters.closes] * 4
    tags = random.Random(0).sample(
        sorted(MODELS[model].tool_format.spellings), k=min(12, len(MODELS[model].tool_format.spellings))
    )
    alike = [
        "<",
        "</",
        "&lt;/",
        '\\"',
        "\\",
        "\n",
        "[",
        "{",
        "1",
        "-2.5",
        ":",
        "@",
        "true",
        "null",
        "\u00e9",
        "\U0001f600",
        *tags,
    ]
    said = [ids for text in ends if (ids := tokenizer(model).encode_raw(text))]
    return [*said * 4, *map(tokenizer(model).encode_plain, alike)]


def text_of(model: str, ids: Iterable[int]) -> str:
    return b"".join(map(tokenizer(model).piece, ids)).decode("utf-8", "replace")


def takes(model: str, guide: Guide, text: str) -> bool:
    """Whether a model may say just this."""
    ends = compiler(model).words.ends
    for token in tokenizer(model).encode_raw(text):
        if not guide.allows(token):
            return False
        if token not in ends:
            guide.accept(token)
    return any(guide.allows(end) for end in ends)


def read(
    model: str,
    ids: Iterable[int],
    tools: Iterable[Signature] = (),
    *,
    reasoning_open: bool = False,
    formed: bool = False,
) -> Answer:
    family, model_tokenizer, malformed = MODELS[model], tokenizer(model), list[str]()
    reader = answer_reader(
        AnswerSpec(
            SequentialIds(),
            family.reasoning,
            family.tool_format,
            reasoning_open,
            tuple(Tool(tool.name, _raw(tool)) for tool in tools),
            remark=malformed.append,
            assured=Assured(sound=True, formed=formed),
        )
    )
    feds: list[Fed] = []
    for token in ids:
        piece = Piece(model_tokenizer.piece(token), token, model_tokenizer.is_control(token))
        feds.append(reader.feed(piece))
    feds.append(reader.flush())
    events = [event for fed in feds for event in fed.events]
    arguments: dict[int, str] = {}
    for event in events:
        if isinstance(event, ToolArgs):
            arguments[event.index] = arguments.get(event.index, "") + event.text
    names = [event.name for event in events if isinstance(event, ToolStart)]
    return Answer(
        "".join(event.text for event in events if isinstance(event, Reasoning)),
        "".join(event.text for event in events if isinstance(event, Text)),
        list(zip(names, map(json.loads, arguments.values()), strict=True)),
        malformed,
    )


def _raw(tool: Signature) -> str:
    return json.dumps({"name": tool.name, "parameters": json.loads(tool.schema or "{}")})
