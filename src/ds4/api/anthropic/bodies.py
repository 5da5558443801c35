"""Request bodies of POST /v1/messages and /v1/messages/count_tokens, field by field.

What is not here is skipped: agents send much that only their vendor's service knows.
"""

from typing import Annotated, Any

from pydantic import Field

from ds4.api.validate import Body, Integer

Number = Annotated[float, Field(allow_inf_nan=False)]


class TurnBody(Body):
    role: Annotated[str, Field(json_schema_extra={"enum": ["user", "assistant", "system"]})]
    content: Any = None


class OutputConfigBody(Body):
    effort: str | None = None
    format: Any = None


class CountBody(Body):
    # The name comes back in the answer.
    model: Annotated[str, Field(max_length=256)] = ""
    messages: Annotated[list[TurnBody], Field(json_schema_extra={"minItems": 1})]
    system: Any = None
    tools: Any = None
    tool_choice: Any = None
    thinking: Any = None
    output_config: OutputConfigBody = OutputConfigBody()
    reasoning_effort: str | None = None


class MessagesBody(CountBody):
    stream: bool = False
    max_tokens: Integer | None = None
    stop_sequences: list[str] = Field(default_factory=list)
    temperature: Number = 1.0
    top_p: Number = 1.0
    top_k: Integer = 0
    output_format: Any = None
