"""The response object."""

from dataclasses import dataclass

import orjson

from ds4.api.body import JsonObject
from ds4.api.openai.generation import Wanted
from ds4.api.responses.output import COMPLETED, INCOMPLETE
from ds4.api.responses.request import ResponseBody
from ds4.core.errors import Ds4Error, RequestError
from ds4.core.events import Finish, FinishReason
from ds4.core.usage import Usage

FAILED = "failed"
SERVER_ERROR = "server_error"
_STATUS = {
    FinishReason.STOP: COMPLETED,
    FinishReason.TOOL_CALLS: COMPLETED,
    FinishReason.LENGTH: INCOMPLETE,
    FinishReason.SHUTDOWN: FAILED,
}
_CUT: JsonObject = {"reason": "max_output_tokens"}
_SHUTDOWN: JsonObject = {"code": SERVER_ERROR, "message": "the server is shutting down; the answer is cut"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it stands with a response. `output` are items as JSON."""

    status: str
    output: tuple[bytes, ...] = ()
    completed_at: int | None = None
    error: JsonObject | None = None
    usage: Usage | None = None

    @classmethod
    def finished(cls, finish: Finish, output: tuple[bytes, ...], now: int) -> "Outcome":
        error = _SHUTDOWN if finish.reason is FinishReason.SHUTDOWN else None
        return cls(_STATUS[finish.reason], output, now, error, finish.usage)

    @classmethod
    def failed(cls, error: Ds4Error, output: tuple[bytes, ...]) -> "Outcome":
        """Agents try again after a `server_error`, and end their turn on anything else."""
        code = "invalid_prompt" if isinstance(error, RequestError) else SERVER_ERROR
        return cls(FAILED, output, error={"code": code, "message": error.message})


@dataclass(frozen=True, slots=True)
class Document:
    """`head` and `rest` are the members that stay the same, as JSON without braces."""

    head: bytes
    rest: bytes

    def json(self, outcome: Outcome) -> bytes:
        news: JsonObject = {
            "status": outcome.status,
            "completed_at": outcome.completed_at,
            "error": outcome.error,
            "incomplete_details": _CUT if outcome.status == INCOMPLETE else None,
            "usage": None if outcome.usage is None else usage_json(outcome.usage),
        }
        output = b'"output":[' + b",".join(outcome.output) + b"]"
        return b"{" + b",".join((self.head, _members(news), output, self.rest)) + b"}"


def document(response_id: str, created: int, body: ResponseBody, want: Wanted, tools: object) -> Document:
    """`tools` as the client sent them."""
    head: JsonObject = {"id": response_id, "object": "response", "created_at": created, "model": want.model}
    sampling = want.sampling
    rest: JsonObject = {
        "background": False,
        "frequency_penalty": sampling.frequency_penalty,
        "instructions": body.instructions,
        "max_output_tokens": body.max_output_tokens,
        "max_tool_calls": body.max_tool_calls,
        "metadata": body.metadata,
        "parallel_tool_calls": body.parallel_tool_calls,
        "presence_penalty": sampling.presence_penalty,
        "previous_response_id": body.previous_response_id,
        "prompt_cache_key": body.prompt_cache_key,
        "reasoning": {"effort": body.reasoning.effort, "summary": body.reasoning.summary},
        "safety_identifier": body.safety_identifier,
        "service_tier": "default",
        "store": body.store,
        "temperature": sampling.temperature,
        "text": {**body.text, "format": _format(body.text.get("format"))},
        "tool_choice": "auto" if body.tool_choice is None else body.tool_choice,
        "tools": [_repeated(tool) for tool in tools] if isinstance(tools, list) else [],
        "top_logprobs": body.top_logprobs,
        "top_p": sampling.top_p,
        "truncation": "disabled",
        "user": body.user,
    }
    return Document(_members(head), _members(rest))


def _format(form: object) -> object:
    if not isinstance(form, dict):
        return {"type": "text"}
    # It always is.
    strict = {"description": None, "strict": True} if form.get("type") == "json_schema" else {}
    return {"type": "text", **strict, **form}


def _repeated(tool: object) -> object:
    """A function has all its fields here, whatever the client left out."""
    if not isinstance(tool, dict) or tool.get("type", "function") != "function":
        return tool
    function = tool.get("function")
    flat = function if isinstance(function, dict) else tool
    return {"description": None, "parameters": None, "strict": None, **flat, "type": "function"}


def usage_json(usage: Usage) -> JsonObject:
    """`cache_write_tokens` are the input tokens that were computed and are in the cache now."""
    return {
        "input_tokens": usage.prompt,
        "input_tokens_details": {
            "cached_tokens": usage.cached,
            "cache_write_tokens": usage.prompt - usage.cached,
        },
        "output_tokens": usage.completion,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.total,
    }


def _members(value: JsonObject) -> bytes:
    return orjson.dumps(value)[1:-1]
