"""How errors look on the wire. An API's error shape is one `Dialect`; add one per API."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import orjson

from ds4.core.errors import ContextOverflow, Ds4Error, MethodNotAllowed, RequestError, ServerError

Header = tuple[bytes, bytes]
OPENAI_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
        }
    },
}


@dataclass(frozen=True, slots=True)
class Dialect:
    """`body` answers before the headers are out, `event` ends a stream after them.

    `name` and `schema` (JSON Schema) describe the body on the OpenAPI page. `named` gives the same shape
    with a request's id in it, for APIs that have a place for one.
    """

    name: str
    schema: Mapping[str, object]
    body: Callable[[Ds4Error], bytes]
    event: Callable[[Ds4Error], bytes]
    named: Callable[[str], "Dialect"] | None = None


class WrongMethod(MethodNotAllowed):
    """Knows what would have been allowed."""

    def __init__(self, method: str, path: str, allowed: tuple[str, ...]) -> None:
        super().__init__(f"{method} is not allowed for {path}; allowed: {', '.join(allowed)}")
        self.allowed = allowed


class Unauthorized(RequestError):
    """`presented`: there was a key, and it is unknown."""

    status = 401
    type = "authentication_error"

    def __init__(self, message: str, *, presented: bool = False) -> None:
        super().__init__(message, code="invalid_api_key")
        self.presented = presented


class Forbidden(RequestError):
    status = 403
    type = "permission_error"


class SlowBody(RequestError):
    """The body stopped coming."""

    status = 408


def status_of(error: Ds4Error) -> int:
    return error.status if isinstance(error, RequestError | ServerError) else 500


def headers_of(error: Ds4Error) -> list[Header]:
    """The headers an error brings along, whatever the API."""
    headers: list[Header] = []
    retry_after = getattr(error, "retry_after", None)
    if retry_after is not None:
        headers.append((b"retry-after", b"%d" % retry_after))
    if isinstance(error, WrongMethod):
        headers.append((b"allow", ", ".join(error.allowed).encode()))
    if isinstance(error, Unauthorized):
        why = b', error="invalid_token"' if error.presented else b""
        headers.append((b"www-authenticate", b'Bearer realm="ds4"' + why))
    # The rest of the body was not read: the connection cannot carry another request.
    if status_of(error) in (408, 413):
        headers.append((b"connection", b"close"))
    return headers


def openai(prompt_field: str = "messages") -> Dialect:
    """`prompt_field` is what a prompt that does not fit is blamed on."""

    def body(error: Ds4Error) -> bytes:
        return orjson.dumps({"error": _openai_fields(error, prompt_field)})

    def event(error: Ds4Error) -> bytes:
        return b"event: error\ndata: " + body(error) + b"\n\n"

    return Dialect("OpenAI", OPENAI_SCHEMA, body, event)


def _openai_fields(error: Ds4Error, prompt_field: str) -> dict[str, object]:
    if isinstance(error, ContextOverflow):
        return {
            # Agents recognise this wording and compact their history.
            "message": f"This model's maximum context length is {error.context} tokens. However, your request"
            f" has {error.prompt_tokens} input tokens. Please reduce the length of the {prompt_field}.",
            "type": error.type,
            "param": prompt_field,
            "code": error.code,
            "n_prompt_tokens": error.prompt_tokens,
            "n_ctx": error.context,
        }
    return {
        "message": error.message,
        "type": getattr(error, "type", ServerError.type),
        "param": getattr(error, "param", None),
        "code": getattr(error, "code", None),
    }
