"""Errors in Anthropic's words."""

from collections.abc import Mapping
from functools import partial

import orjson

from ds4.api.errors import Dialect, status_of
from ds4.core.errors import ContextOverflow, Ds4Error

SCHEMA: Mapping[str, object] = {
    "type": "object",
    "required": ["type", "error", "request_id"],
    "properties": {
        "type": {"const": "error"},
        "error": {
            "type": "object",
            "required": ["type", "message"],
            "properties": {"type": {"type": "string"}, "message": {"type": "string"}},
        },
        "request_id": {"type": ["string", "null"]},
    },
}
_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    500: "api_error",
    # Their clients come back later for this one.
    503: "overloaded_error",
}


def dialect(request_id: str | None = None) -> Dialect:
    return Dialect(
        "Anthropic", SCHEMA, partial(_body, request_id), partial(_event, request_id), named=dialect
    )


def _body(request_id: str | None, error: Ds4Error) -> bytes:
    return orjson.dumps({"type": "error", "error": _fields(error), "request_id": request_id})


def _event(request_id: str | None, error: Ds4Error) -> bytes:
    return b"event: error\ndata: " + _body(request_id, error) + b"\n\n"


def _fields(error: Ds4Error) -> dict[str, object]:
    if isinstance(error, ContextOverflow):
        return {
            "type": error.type,
            # Agents recognise this wording and compact their history. One row must be left for an answer.
            "message": f"prompt is too long: {error.prompt_tokens} tokens > {error.context - 1} maximum",
            "n_prompt_tokens": error.prompt_tokens,
            "n_ctx": error.context,
        }
    return {"type": _TYPES.get(status_of(error), "invalid_request_error"), "message": error.message}
