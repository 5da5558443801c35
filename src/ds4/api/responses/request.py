"""POST /v1/responses: the request."""

from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import Field

from ds4.api.body import JsonObject
from ds4.api.constraints import ToolChoice
from ds4.api.early import refuse_many
from ds4.api.openai.generation import Generation, LogprobCount, Wanted, wanted
from ds4.api.openai.refused import refuse
from ds4.api.openai.thinking import alias_thinking, thinking_of
from ds4.api.openai.tool_choice import choice_of
from ds4.api.responses.constraints import demanded
from ds4.api.responses.history import kind_of, messages_of
from ds4.api.responses.refused import RESPONSES
from ds4.api.responses.resolve import Resolved, Shelf, resolve
from ds4.api.responses.toolbox import Toolbox, toolbox
from ds4.api.responses.tools import Offer, offers
from ds4.api.sealed import Seals
from ds4.api.services import ModelCard
from ds4.api.validate import Body, Integer, validated
from ds4.core.constraint import Constraint
from ds4.core.errors import BadRequest
from ds4.core.messages import Conversation, Message, Role, TextPart

LOGPROBS = "message.output_text.logprobs"
_BRINGS_TOOLS = ("additional_tools", "tool_search_output")


class ReasoningBody(Body):
    effort: str | int | None = None
    summary: str | None = None
    generate_summary: str | None = None

    @property
    def shown(self) -> bool:
        """Whether the caller wants to read the reasoning."""
        return (self.summary or self.generate_summary or "none") != "none"


class InputBody(Body):
    """What a prompt is made of."""

    model: Annotated[str, Field(max_length=256)] = ""
    input: Any = None
    instructions: str | None = None
    previous_response_id: str | None = None
    tools: Any = None
    tool_choice: Any = None
    reasoning: ReasoningBody = ReasoningBody()


class ResponseBody(InputBody, Generation):
    """A few fields that only chat has elsewhere (seed, top_k, stop) count here too."""

    model: Annotated[str, Field(min_length=1, max_length=256)]
    max_output_tokens: Integer | None = None
    top_logprobs: LogprobCount = 0
    include: list[Any] = Field(default_factory=list)
    parallel_tool_calls: bool = True
    store: bool = True
    text: dict[str, Any] = Field(default_factory=dict)
    metadata: dict[str, Any] = Field(default_factory=dict)
    max_tool_calls: Integer | None = None
    prompt_cache_key: str | None = None
    safety_identifier: str | None = None
    user: str | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt to be: `conversation` shows the model the tools of `tools.head`."""

    conversation: Conversation
    tools: Toolbox
    choice: ToolChoice
    resolved: Resolved


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """`body` is what the answer repeats of the request."""

    asked: Asked
    wanted: Wanted
    body: ResponseBody
    constraint: Constraint | None


def response_request(raw: JsonObject, card: ModelCard, n_vocab: int, shelf: Shelf) -> ResponseRequest:
    """Raises BadRequest."""
    refuse(raw, RESPONSES)
    body = validated(ResponseBody, raw)
    if body.max_output_tokens is not None:
        body = body.model_copy(update={"max_completion_tokens": body.max_output_tokens})
    logprobs = body.top_logprobs if body.top_logprobs or LOGPROBS in body.include else None
    asked = asked_of(body, card, shelf)
    body = body.model_copy(update={"previous_response_id": asked.resolved.after})
    constraint = demanded(body.text, asked.choice, asked.tools, single=not body.parallel_tool_calls)
    return ResponseRequest(asked, wanted(body, card, n_vocab, logprobs), body, constraint)


def asked_of(body: InputBody, card: ModelCard, shelf: Shelf) -> Asked:
    """Raises BadRequest."""
    resolved = resolve(body.input, body.previous_response_id, shelf)
    choice = choice_of(body.tool_choice)
    tools = Toolbox() if choice.hides else _toolbox(body.tools, resolved.items)
    instructions = (Message(Role.SYSTEM, (TextPart(body.instructions),)),) if body.instructions else ()
    messages = (*instructions, *messages_of(resolved.items, tools, Seals()))
    if not messages:
        raise BadRequest("input must not be empty", param="input")
    refuse_many(messages, card.n_ctx)
    thinking = thinking_of(
        thinking=None,
        think=None,
        effort=body.reasoning.effort,
        alias=alias_thinking(card, body.model),
    )
    shown = tuple(named.tool for named in tools.head)
    return Asked(Conversation(messages, shown, thinking), tools, choice, resolved)


def _toolbox(declared: object, items: tuple[JsonObject, ...]) -> Toolbox:
    """Tools that items bring before the conversation begins are at the head like those declared."""
    head, late = list(offers(declared, "tools")), dict[int, tuple[Offer, ...]]()
    begun = False
    for number, item in enumerate(items):
        kind = kind_of(item)
        if kind in _BRINGS_TOOLS:
            found = offers(item.get("tools"), f"input.{number}.tools")
            if begun:
                late[number] = found
            else:
                head += found
        begun = begun or not (kind == "additional_tools" or item.get("role") in ("system", "developer"))
    return toolbox(head, late)
