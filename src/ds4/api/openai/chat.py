"""POST /v1/chat/completions: the request."""

from dataclasses import dataclass
from typing import Annotated, Any

import orjson
from pydantic import Field

from ds4.api.body import JsonObject
from ds4.api.early import refuse_many
from ds4.api.openai.generation import Generation, LogprobCount, Wanted, wanted
from ds4.api.openai.messages import MessageBody, messages_of
from ds4.api.openai.refused import CHAT, refuse
from ds4.api.openai.thinking import alias_thinking, thinking_of
from ds4.api.openai.tools import tools_of
from ds4.api.services import ModelCard
from ds4.api.validate import Body, validated
from ds4.core.errors import BadRequest
from ds4.core.messages import Conversation, Tool


class ConversationBody(Body):
    model: str = ""
    messages: Annotated[list[MessageBody], Field(json_schema_extra={"minItems": 1})]
    tools: Any = None
    tool_choice: Any = None
    functions: Any = None
    function_call: Any = None
    thinking: Any = None
    think: Any = None
    reasoning_effort: str | int | None = None
    chat_template_kwargs: dict[str, Any] = Field(default_factory=dict)


class ChatGeneration(Generation):
    logprobs: bool = False
    top_logprobs: LogprobCount = 0
    parallel_tool_calls: bool = True


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """`old_words`: the caller offers functions, and understands one `function_call` in the answer."""

    conversation: Conversation
    wanted: Wanted
    one_call: bool = False
    old_words: bool = False


def chat_request(raw: JsonObject, card: ModelCard, n_vocab: int) -> ChatRequest:
    """Raises BadRequest."""
    refuse(raw, CHAT)
    body = validated(ChatGeneration, raw)
    old_words = bool(raw.get("functions"))
    return ChatRequest(
        conversation_of(raw, card),
        wanted(body, card, n_vocab, _logprobs(body)),
        one_call=old_words or not body.parallel_tool_calls,
        old_words=old_words,
    )


def _logprobs(body: ChatGeneration) -> int | None:
    if body.top_logprobs and not body.logprobs:
        raise BadRequest("top_logprobs needs logprobs: true", param="top_logprobs")
    return body.top_logprobs if body.logprobs else None


def conversation_of(raw: JsonObject, card: ModelCard) -> Conversation:
    """Raises BadRequest."""
    refuse_many(raw.get("messages"), card.n_ctx)
    body = validated(ConversationBody, raw)
    if not body.messages:
        raise BadRequest("messages must not be empty", param="messages")
    return Conversation(
        messages=messages_of(body.messages),
        tools=_tools(body),
        thinking=thinking_of(
            thinking=body.thinking,
            think=body.think,
            effort=body.reasoning_effort,
            alias=alias_thinking(card, body.model),
        ),
        template_args=tuple(
            (name, orjson.dumps(value).decode()) for name, value in body.chat_template_kwargs.items()
        ),
    )


def _tools(body: ConversationBody) -> tuple[Tool, ...]:
    tools = tools_of(body.tools, body.tool_choice)
    if not body.functions:
        return tools
    if tools:
        raise BadRequest("functions and tools cannot stand together", param="functions")
    return tools_of(body.functions, body.function_call, "functions")
