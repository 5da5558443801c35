"""Forced tool calls of a model that knows nothing of tools, and what is wrong with them: nothing may be.

Every tool is bounded, so that a call ends by itself: that none is cut by `max_tokens` is part of the claim.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from bench.talk import Call
from ds4.testing.asgi import Client

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Style:
    """A family and, where it is not the family's own, a tool format."""

    family: str
    tools: str = ""

    @property
    def name(self) -> str:
        return f"{self.family}, {self.tools}" if self.tools else self.family

    @property
    def options(self) -> tuple[str, ...]:
        return ("--model-family", self.family, *(("--tool-format", self.tools) if self.tools else ()))


STYLES = (
    *(Style(name) for name in ("deepseek-v4", "deepseek-v4.1", "glm-5.2", "glm-5.3", "qwen3.8")),
    *(Style(name) for name in ("chatml", "generic")),
    *(Style("chatml", name) for name in ("harmony", "mistral", "llama_json")),
)


def _object(properties: Json, *optional: str) -> Json:
    required = [name for name in properties if name not in optional]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


SIZE = _object({"cm": {"type": "integer", "minimum": -1, "maximum": 99}, "soft": {"type": "boolean"}}, "soft")
STOPS = {"type": "array", "items": {"enum": ["Rome", "Oslo"]}, "minItems": 1, "maxItems": 3}
TIME = {"type": "string", "pattern": "^([01][0-9]|2[0-3]):[0-5][0-9]$"}
SCHEMAS: Mapping[str, Json] = {
    "paint": _object({"colour": {"enum": ["red", 'a "new" one', "1", 7, None]}}),
    "ship": _object({"parcel": _object({"size": SIZE}), "stops": STOPS}),
    "note": _object({"text": {"type": "string", "maxLength": 24}, "at": TIME}, "at"),
    "ping": _object({}),
}
QUESTION = "What is to be done today?"
TEMPERATURE = 1.5
TOKENS = 400
ROUND = 10


TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": schema, "strict": number % 2 == 0}}
    for number, (name, schema) in enumerate(SCHEMAS.items())
]


def choice(seed: int) -> tuple[object, Sequence[str]]:
    """What is demanded, and the tools that may be called then. Structure is sampled greedily, names too: so
    each is called only if it is demanded now and then."""
    names = list(SCHEMAS)
    one, other = names[seed % len(names)], names[(seed + 1) % len(names)]
    match seed // 2 % 3:
        case 0:
            return "required", names
        case 1:
            return {"type": "function", "function": {"name": one}}, [one]
    allowed = [{"type": "function", "function": {"name": name}} for name in (one, other)]
    mode = {"mode": "required", "tools": allowed}
    return {"type": "allowed_tools", "allowed_tools": mode}, [one, other]


@dataclass(frozen=True, slots=True)
class Way:
    """To ask for one call, or for several. `cut`: there may be no end to them within `max_tokens`."""

    name: str
    fields: Json
    single: bool = True
    cut: bool = False

    @property
    def streams(self) -> bool:
        return bool(self.fields.get("stream"))


def ways(ends: Sequence[int], closing: Sequence[int]) -> tuple[Way, ...]:
    """All together get ROUND answers with a call, and one that may be cut: `n` asks for two.

    A model without sense would call for ever, so the tokens that end an answer, `ends`, are made certain. Nor
    would it ever stop reasoning: it gets nothing but the tokens that spell the end, `closing`.
    """
    whole: Json = {"parallel_tool_calls": False}
    stream = whole | {"stream": True}
    closes = {str(token): 100 for token in closing}
    # Without the penalty the model hardly ever goes on with what it begins.
    thinks: Json = {"thinking": {"type": "enabled"}, "logit_bias": closes, "frequency_penalty": 2}
    several: Json = {"parallel_tool_calls": True}
    ending = several | {"logit_bias": {str(token): 100 for token in ends}}
    return (
        Way("whole", whole),
        Way("streamed", stream),
        Way("choices", stream | {"n": 2}),
        Way("logprobs", whole | {"logprobs": True, "top_logprobs": 2}),
        Way("stop strings", stream | {"stop": ["e", "\n", '"', "<"]}),
        Way("several", ending, single=False),
        Way("several streamed", ending | {"stream": True}, single=False),
        Way("several cut", several | {"stream": True, "max_tokens": 100}, single=False, cut=True),
        Way("thinking", whole | thinks),
        Way("thinking streamed", stream | thinks),
    )


def body(seed: int, fields: Json) -> Json:
    """A chat request for calls at TEMPERATURE, with what is unlikely, too."""
    return {
        "messages": [{"role": "user", "content": QUESTION}],
        "tools": TOOLS,
        "tool_choice": choice(seed)[0],
        "temperature": TEMPERATURE,
        "min_p": 0,
        "seed": seed,
        "max_tokens": TOKENS,
        "thinking": {"type": "disabled"},
        **fields,
    }


async def checked(client: Client, seed: int, way: Way) -> "list[Checked]":
    """All choices."""
    reply = await client.post("/v1/chat/completions", body(seed, way.fields))
    if reply.status != 200:
        return [Checked(Answer(None, ()), (f"{reply.status}: {reply.body.decode()}",))]
    found = streamed(reply.body) if way.streams else whole(reply.json())
    names = choice(seed)[1]
    return [
        Checked(answer, tuple(faults(answer, names, way)), cut=way.cut and answer.finish == "length")
        for answer in found
    ]


@dataclass(frozen=True, slots=True)
class Answer:
    """One choice, however it came."""

    finish: str | None
    calls: tuple[Call, ...]
    content: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """An answer and what is wrong with it. `cut`: it is no success, and no fault."""

    answer: Answer
    faults: tuple[str, ...]
    cut: bool = False


def whole(reply: Json) -> list[Answer]:
    return [
        Answer(
            choice["finish_reason"],
            tuple(Call(call["id"], **call["function"]) for call in choice["message"].get("tool_calls") or ()),
            choice["message"].get("content") or "",
            choice["message"].get("reasoning_content") or "",
        )
        for choice in reply["choices"]
    ]


def streamed(data: bytes) -> list[Answer]:
    """By choice. Raises ValueError where the stream is not one that a client could follow."""
    lines = [line for line in data.decode().splitlines() if line.startswith("data: ")]
    if lines[-1] != "data: [DONE]":
        raise ValueError(f"the stream ends with {lines[-1]}")
    choices = [choice for line in lines[:-1] for choice in json.loads(line[6:])["choices"]]
    numbers = sorted({choice["index"] for choice in choices})
    return [_joined([choice for choice in choices if choice["index"] == number]) for number in numbers]


def _joined(choices: Sequence[Json]) -> Answer:
    if any(choice["finish_reason"] for choice in choices[:-1]):
        raise ValueError("something comes behind the finish reason")
    deltas = [choice["delta"] for choice in choices]
    pieces = [piece for delta in deltas for piece in delta.get("tool_calls") or ()]
    return Answer(
        choices[-1]["finish_reason"],
        tuple(_calls(pieces)),
        "".join(delta.get("content") or "" for delta in deltas),
        "".join(delta.get("reasoning_content") or "" for delta in deltas),
    )


def _calls(pieces: Sequence[Json]) -> Iterator[Call]:
    """A call begins with its id and its name, ends before the next one begins, and tells neither again."""
    order = [piece["index"] for piece in pieces]
    if order != sorted(order) or set(order) != set(range(len(set(order)))):
        raise ValueError(f"the calls come in the order {order}")
    for number in sorted(set(order)):
        first, *more = [piece for piece in pieces if piece["index"] == number]
        if any("id" in piece or "name" in piece["function"] for piece in more):
            raise ValueError("a call is named twice")
        text = "".join(piece["function"].get("arguments", "") for piece in (first, *more))
        yield Call(first["id"], first["function"]["name"], text)


def faults(answer: Answer, names: Sequence[str], way: Way) -> list[str]:
    """What a client would have to complain about that demanded calls of tools with these `names`."""
    found = [f"text: {answer.content!r}"] if answer.content else []
    if bool(answer.reasoning) > ("thinking" in way.name):
        found.append(f"reasoning: {answer.reasoning!r}")
    cut = way.cut and answer.finish == "length"
    if not cut and answer.finish != "tool_calls":
        found.append(f"finish {answer.finish}")
    if not (answer.calls or cut) or (way.single and len(answer.calls) > 1):
        found.append(f"{len(answer.calls)} calls")
    if len({call.id for call in answer.calls}) < len(answer.calls):
        found.append("two calls have one id")
    complete = answer.calls[:-1] if cut else answer.calls
    return [*found, *(words for call in complete for words in _wrong(call, names))]


def _wrong(call: Call, names: Sequence[str]) -> Iterator[str]:
    if call.name not in names:
        yield f"{call.name!r} was not to be called"
        return
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        yield f"{call.name}: no JSON: {call.arguments!r}"
        return
    for error in Draft202012Validator(SCHEMAS[call.name]).iter_errors(arguments):
        yield f"{call.name}: {error.json_path}: {error.message}"
