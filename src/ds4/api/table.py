"""Every path there is."""

from collections.abc import Iterable, Mapping

from starlette.requests import Request
from starlette.responses import Response

from ds4.api import models, status, tokens
from ds4.api.errors import Dialect, openai
from ds4.api.openai import endpoints
from ds4.api.openai.chat import ConversationBody
from ds4.api.openapi import document, shown
from ds4.api.reply import json_reply
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
MODEL: Fields = {"id": "string", "object": "string", "created": "integer", "context_length": "integer"}
HEALTH: Fields = {"status": "string"}
NOT_READY: Fields = {"status": "string", "reason": "string"}
READS_BODY = (408, 413)


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
            errors=(*READS_BODY, 429),
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
            errors=(*READS_BODY, 429),
        ),
        dialect=openai("prompt"),
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


def dialects(table: Iterable[Entry]) -> Mapping[str, Dialect]:
    return {path: entry.dialect for entry in table for path in entry.paths}
