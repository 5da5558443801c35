"""POST /v1/chat/completions: the request."""

from dataclasses import dataclass
from typing import Annotated, Any

import orjson
from pydantic import Field

from ds4.api.body import JsonObject
from ds4.api.constraints import ToolChoice, constraint_of
from ds4.api.early import refuse_many
from ds4.api.openai.forms import FormBody, form_of
from ds4.api.openai.generation import Generation, LogprobCount, Wanted, wanted
from ds4.api.openai.messages import MessageBody, messages_of
from ds4.api.openai.refused import CHAT, refuse
from ds4.api.openai.thinking import alias_thinking, thinking_of
from ds4.api.openai.tool_choice import choice_of, function_choice
from ds4.api.openai.tools import Offer, offers_of
from ds4.api.services import ModelCard
from ds4.api.validate import Body, validated
from ds4.core.constraint import Constraint
from ds4.core.errors import BadRequest
from ds4.core.messages import Conversation


class ConversationBody(Body):
    model: str = ""
    messages: Annotated[list[MessageBody], Field(json_schema_extra={"minItems": 1})]
    tools: Any = None
    tool_choice: Any = None
    functions: Any = None
    function_call: Any = None
    thinking: Any = None
    think: Any = None
    enable_thinking: bool | None = None
    reasoning: dict[str, Any] | None = None
    reasoning_effort: str | int | None = None
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)


class ChatGeneration(Generation, FormBody):
    logprobs: bool = False
    top_logprobs: LogprobCount = 0
    parallel_tool_calls: bool = True


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """`old_words`: the caller offers functions, and understands one `function_call` in the answer. `custom`
    are the tools that it knows as taking raw text."""

    conversation: Conversation
    wanted: Wanted
    one_call: bool = False
    old_words: bool = False
    constraint: Constraint | None = None
    custom: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class _Toolbox:
    """`shown` is what the model sees."""

    choice: ToolChoice
    offers: tuple[Offer, ...]
    old_words: bool = False

    @property
    def shown(self) -> tuple[Offer, ...]:
        return () if self.choice.hides else self.offers


def chat_request(raw: JsonObject, card: ModelCard, n_vocab: int) -> ChatRequest:
    """Raises BadRequest."""
    refuse(raw, CHAT)
    body = validated(ChatGeneration, raw)
    talk = _talk(raw, card)
    tools = _toolbox(talk)
    one_call = tools.old_words or not body.parallel_tool_calls
    signatures = [offer.signature for offer in tools.shown]
    return ChatRequest(
        _conversation(talk, card, tools),
        wanted(body, card, n_vocab, _logprobs(body)),
        one_call=one_call,
        old_words=tools.old_words,
        constraint=constraint_of(form_of(body), tools.choice, signatures, single=one_call),
        custom=frozenset(offer.tool.name for offer in tools.shown if offer.is_custom),
    )


def _logprobs(body: ChatGeneration) -> int | None:
    if body.top_logprobs and not body.logprobs:
        raise BadRequest("top_logprobs needs logprobs: true", param="top_logprobs")
    return body.top_logprobs if body.logprobs else None


def conversation_of(raw: JsonObject, card: ModelCard) -> Conversation:
    """Raises BadRequest."""
    body = _talk(raw, card)
    return _conversation(body, card, _toolbox(body))


def _talk(raw: JsonObject, card: ModelCard) -> ConversationBody:
    refuse_many(raw.get("messages"), card.n_ctx)
    body = validated(ConversationBody, raw)
    if not body.messages:
        raise BadRequest("messages must not be empty", param="messages")
    return body


def _conversation(body: ConversationBody, card: ModelCard, tools: _Toolbox) -> Conversation:
    return Conversation(
        messages=messages_of(body.messages),
        tools=tuple(offer.tool for offer in tools.shown),
        thinking=thinking_of(
            thinking=body.thinking,
            think=body.think,
            enable=body.enable_thinking,
            reasoning=body.reasoning or {},
            effort=body.reasoning_effort,
            alias=alias_thinking(card, body.model),
        ),
        template_args=tuple(
            (name, orjson.dumps(value).decode()) for name, value in body.chat_template_kwargs.items()
        ),
    )


def _toolbox(body: ConversationBody) -> _Toolbox:
    tools = _Toolbox(choice_of(body.tool_choice), offers_of(body.tools))
    if not body.functions:
        return tools
    if tools.offers:
        raise BadRequest("functions and tools cannot stand together", param="functions")
    return _Toolbox(function_choice(body.function_call), offers_of(body.functions, "functions"), True)
