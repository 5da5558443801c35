"""What became of a request: GET /requests and GET /requests/ID.

With API keys a caller sees only its own; another's is as unknown as one that never was.
"""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.responses import Response

from ds4.api.access import namespace_of
from ds4.api.reply import json_reply
from ds4.api.services import Services
from ds4.core.errors import BadRequest, NotFound
from ds4.observe.requests import CAPACITY, Entry, RequestState
from ds4.observe.timings import timings

DEFAULT_LIMIT = 100
QUERY: Mapping[str, Mapping[str, object]] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": CAPACITY, "default": DEFAULT_LIMIT},
    "state": {"type": "string", "enum": list(RequestState)},
}
"""JSON Schema of the query's parameters."""


async def list_requests(services: Services, request: Request) -> Response:
    """Newest first."""
    limit, state = _limit(request), _state(request)
    found = [
        entry
        for entry in services.journal.entries()
        if _shows(services, request, entry) and state in (None, entry.state)
    ]
    now = services.clock.now()
    rows = [_shown(entry, now) for entry in found[:limit]]
    return json_reply({"requests": rows, "has_more": len(rows) < len(found)})


async def get_request(services: Services, request: Request) -> Response:
    request_id = request.path_params["request_id"]
    entry = services.journal.find(request_id)
    if entry is None or not _shows(services, request, entry):
        raise NotFound(f"no request '{request_id}': it never reached the engine, or is forgotten")
    return json_reply(_shown(entry, services.clock.now()))


def _shows(services: Services, request: Request, entry: Entry) -> bool:
    return not services.access.keys.locked or entry.subject.namespace == namespace_of(request.scope)


def _shown(entry: Entry, now: float) -> dict[str, object]:
    """The fields of the report and of the timings are shown as they are."""
    subject = entry.subject
    return {
        "id": subject.job,
        "kind": subject.kind,
        "flags": subject.flags,
        "state": entry.state,
        "slot": entry.slot,
        "created": round(entry.created, 3),
        "prompt_tokens": subject.prompt,
        "reused_tokens": subject.reused,
        "computed_tokens": entry.prefilled - subject.reused,
        "generated_tokens": entry.generated,
        "forced_tokens": entry.forced,
        "timings": timings(entry, now),
        "finish_reason": entry.finish,
        "error": entry.error,
        "cache": entry.report,
    }


def _limit(request: Request) -> int:
    value = request.query_params.get("limit", str(DEFAULT_LIMIT))
    if not (value.isascii() and value.isdecimal() and len(value) < 5 and 1 <= int(value) <= CAPACITY):
        raise BadRequest(f"limit must be from 1 to {CAPACITY}", param="limit")
    return int(value)


def _state(request: Request) -> RequestState | None:
    value = request.query_params.get("state")
    try:
        return None if value is None else RequestState(value)
    except ValueError:
        raise BadRequest(f"state must be one of {', '.join(RequestState)}", param="state") from None
