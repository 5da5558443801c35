"""Errors as Responses words them: OpenAI's body, and an event that is no wrapper around it."""

from dataclasses import replace

import orjson

from ds4.api.errors import Dialect, openai
from ds4.core.errors import Ds4Error, ServerError


def dialect() -> Dialect:
    return replace(openai("input"), event=_event)


def _event(error: Ds4Error) -> bytes:
    # Answers that fail end their stream themselves, with a number; this is for what nobody foresaw.
    body = {
        "type": "error",
        "code": getattr(error, "code", None) or getattr(error, "type", ServerError.type),
        "message": error.message,
        "param": getattr(error, "param", None),
    }
    return b"event: error\ndata: " + orjson.dumps(body) + b"\n\n"
