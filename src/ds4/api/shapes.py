"""Request bodies as one model each, for the OpenAPI page. Where a body is read in several steps they are
joined here; nothing is parsed with these."""

from typing import Annotated, TypeVar

from pydantic import Field

from ds4.api.openai.chat import ChatGeneration, ConversationBody
from ds4.api.openai.completions import CompletionGeneration
from ds4.api.validate import Body

T = TypeVar("T")
Several = Annotated[list[T], Field(min_length=1)]
Token = Annotated[int, Field(ge=0)]
Tokens = Several[Token]


class ChatBody(ChatGeneration, ConversationBody):
    pass


class CompletionBody(CompletionGeneration):
    prompt: str | Tokens | Several[str] | Several[Tokens]


class DetokenizeBody(Body):
    tokens: list[Token]
