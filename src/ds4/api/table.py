"""Every path there is."""

from collections.abc import Callable, Iterable

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from ds4.api import models, requests, status, tokens
from ds4.api.anthropic import endpoints as anthropic
from ds4.api.anthropic.bodies import CountBody, MessagesBody
from ds4.api.anthropic.dialect import dialect as anthropic_dialect
from ds4.api.errors import Dialect, openai
from ds4.api.openai import endpoints
from ds4.api.openai.chat import ConversationBody
from ds4.api.openapi import document, shown
from ds4.api.reply import json_reply
from ds4.api.responses import endpoints as responses
from ds4.api.responses import stored
from ds4.api.responses.compact import CompactBody
from ds4.api.responses.dialect import dialect as responses_dialect
from ds4.api.responses.request import InputBody, ResponseBody
from ds4.api.route import Entry, Fields, Operation
from ds4.api.services import Services
from ds4.api.shapes import ChatBody, CompletionBody, DetokenizeBody

GENERATED: Fields = {
    "id": "string",
    "object": "string",
    "created": "integer",
    "model": "string",
    "choices": "array",
    "usage": "object",
}
MESSAGE: Fields = {
    "id": "string",
    "type": "string",
    "role": "string",
    "model": "string",
    "content": "array",
    "stop_reason": "string",
    "usage": "object",
}
MODEL: Fields = {"id": "string", "object": "string", "created": "integer", "context_length": "integer"}
RESPONSE: Fields = {
    "id": "string",
    "object": "string",
    "created_at": "integer",
    "status": "string",
    "model": "string",
    "output": "array",
    "usage": "object",
}
COMPACTION: Fields = {"id": "string", "object": "string", "created_at": "integer", "output": "array"}
REQUEST: Fields = {
    "id": "string",
    "kind": "string",
    "state": "string",
    "prompt_tokens": "integer",
    "reused_tokens": "integer",
    "computed_tokens": "integer",
    "generated_tokens": "integer",
    "forced_tokens": "integer",
    "timings": "object",
    "cache": "object",
}
HEALTH: Fields = {"status": "string"}
NOT_READY: Fields = {"status": "string", "reason": "string"}
READS_BODY = (408, 413, 429)
OPENAI, RESPONSES, ANTHROPIC = openai(), responses_dialect(), anthropic_dialect()


def _v1(path: str) -> tuple[str, str]:
    return f"/v1{path}", path


async def index(services: Services, request: Request) -> Response:  # noqa: ARG001
    paths = [shown(entry) for entry in TABLE]
    return json_reply({"name": "ds4-server", "version": services.version, "endpoints": paths})


async def openapi_page(services: Services, request: Request) -> Response:  # noqa: ARG001
    locked = services.access.keys.locked
    made = await services.run(lambda: document(TABLE, version=services.version, locked=locked))
    return json_reply(made)


TABLE: tuple[Entry, ...] = (
    Entry(
        ("/",),
        get=Operation(
            index,
            "Name, version and paths",
            {200: {"name": "string", "version": "string", "endpoints": "array"}},
        ),
    ),
    Entry(
        ("/openapi.json",),
        get=Operation(
            openapi_page, "This page", {200: {"openapi": "string", "info": "object", "paths": "object"}}
        ),
    ),
    Entry(("/health",), get=Operation(status.health, "200 as long as the process answers", {200: HEALTH})),
    Entry(
        ("/ready",),
        get=Operation(status.ready, "Whether requests will be served", {200: HEALTH, 503: NOT_READY}),
    ),
    Entry(
        ("/slots",),
        get=Operation(
            status.slots,
            "What each slot is doing",
            {200: {"n_ctx": "integer", "queued": "integer", "slots": "array"}},
        ),
    ),
    Entry(
        ("/requests",),
        get=Operation(
            requests.list_requests,
            "The last requests, newest first, and what the cache did for each",
            {200: {"requests": "array", "has_more": "boolean"}},
            query=requests.QUERY,
        ),
    ),
    Entry(
        ("/requests/{request_id}",),
        get=Operation(requests.get_request, "One request by its id", {200: REQUEST}, errors=(404,)),
    ),
    Entry(
        _v1("/models"),
        get=Operation(models.list_models, "The loaded model", {200: {"object": "string", "data": "array"}}),
    ),
    Entry(
        _v1("/models/{name:path}"),
        get=Operation(models.get_model, "The loaded model by one of its names", {200: MODEL}, errors=(404,)),
    ),
    Entry(
        _v1("/chat/completions"),
        post=Operation(
            endpoints.chat,
            "OpenAI chat completion, whole or streamed",
            {200: GENERATED},
            body=ChatBody,
            stream=True,
            errors=READS_BODY,
        ),
        dialect=openai("messages"),
    ),
    Entry(
        _v1("/completions"),
        post=Operation(
            endpoints.completions,
            "Raw completion: no template, control spellings are the caller's",
            {200: GENERATED},
            body=CompletionBody,
            stream=True,
            errors=READS_BODY,
        ),
        dialect=openai("prompt"),
    ),
    Entry(
        _v1("/responses"),
        post=Operation(
            responses.responses,
            "OpenAI response, whole or streamed",
            {200: RESPONSE},
            body=ResponseBody,
            stream=True,
            errors=READS_BODY,
        ),
        dialect=RESPONSES,
    ),
    Entry(
        _v1("/responses/input_tokens"),
        post=Operation(
            responses.count_input_tokens,
            "The prompt tokens of a response",
            {200: {"object": "string", "input_tokens": "integer"}},
            body=InputBody,
            errors=READS_BODY,
        ),
        dialect=RESPONSES,
    ),
    Entry(
        _v1("/responses/compact"),
        post=Operation(
            responses.compact,
            "A summary that stands for the input",
            {200: COMPACTION},
            body=CompactBody,
            errors=READS_BODY,
        ),
        dialect=RESPONSES,
    ),
    Entry(
        _v1("/responses/{response_id}"),
        get=Operation(stored.get_response, "A response that is kept", {200: RESPONSE}, errors=(404,)),
        delete=Operation(
            stored.delete_response,
            "Forgets a response",
            {200: {"id": "string", "object": "string", "deleted": "boolean"}},
            errors=(404,),
        ),
        dialect=RESPONSES,
    ),
    Entry(
        _v1("/responses/{response_id}/input_items"),
        get=Operation(
            stored.list_input_items,
            "What a response was asked",
            {200: {"object": "string", "data": "array", "has_more": "boolean"}},
            errors=(404,),
        ),
        dialect=RESPONSES,
    ),
    Entry(
        _v1("/responses/{response_id}/cancel"),
        post=Operation(stored.cancel_response, "Nothing runs in the background", {}, errors=(404,)),
        dialect=RESPONSES,
    ),
    Entry(
        _v1("/messages"),
        post=Operation(
            anthropic.messages,
            "Anthropic message, whole or streamed",
            {200: MESSAGE},
            body=MessagesBody,
            stream=True,
            errors=READS_BODY,
        ),
        dialect=ANTHROPIC,
    ),
    Entry(
        _v1("/messages/count_tokens"),
        post=Operation(
            anthropic.count_tokens,
            "The prompt tokens of an Anthropic message",
            {200: {"input_tokens": "integer"}},
            body=CountBody,
            errors=READS_BODY,
        ),
        dialect=ANTHROPIC,
    ),
    Entry(
        ("/api/hello",),
        get=Operation(anthropic.hello, "Claude Code asks this first", {200: {"name": "string"}}),
        dialect=ANTHROPIC,
    ),
    Entry(
        ("/apply-template",),
        post=Operation(
            endpoints.apply_template,
            "A chat body in, the rendered prompt and its tokens out",
            {200: {"prompt": "string", "tokens": "array"}},
            body=ConversationBody,
            errors=READS_BODY,
        ),
    ),
    Entry(
        ("/tokenize",),
        post=Operation(
            tokens.tokenize,
            "Text to token ids",
            {200: {"tokens": "array"}},
            body=tokens.TokenizeBody,
            errors=READS_BODY,
        ),
    ),
    Entry(
        ("/detokenize",),
        post=Operation(
            tokens.detokenize,
            "Token ids to text",
            {200: {"content": "string"}},
            body=DetokenizeBody,
            errors=READS_BODY,
        ),
    ),
)


def dialect_of(table: Iterable[Entry]) -> Callable[[Scope], Dialect]:
    """In whose words a request's errors are told: those of its path, except that Anthropic's clients say
    who they are and get theirs on every path."""
    own = {path: entry.dialect for entry in table for path in entry.paths}

    def dialect(scope: Scope) -> Dialect:
        path = scope["path"]
        if any(name == b"anthropic-version" for name, _ in scope["headers"]):
            return ANTHROPIC
        return own.get(path, ANTHROPIC if path.startswith(("/v1/messages/", "/messages/")) else OPENAI)

    return dialect
