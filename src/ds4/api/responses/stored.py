"""The endpoints for responses that are kept."""

import orjson
from starlette.requests import Request
from starlette.responses import Response

from ds4.api.reply import json_reply
from ds4.api.responses.endpoints import shelf_of
from ds4.api.responses.store import Item, Stored
from ds4.api.services import Services
from ds4.core.errors import BadRequest, NotFound, Unsupported

MAX_ITEMS = 100
DEFAULT_ITEMS = 20


async def get_response(services: Services, request: Request) -> Response:
    if request.query_params.get("stream", "false") == "true":
        raise Unsupported("stream", "of a response that is over is not supported by this server")
    return _json((await _stored(services, request)).body)


async def delete_response(services: Services, request: Request) -> Response:
    stored, shelf = await _stored(services, request), shelf_of(services, request)
    await services.run(lambda: shelf.store.delete(shelf.namespace, stored.id))
    return json_reply({"id": stored.id, "object": "response", "deleted": True})


async def list_input_items(services: Services, request: Request) -> Response:
    """What the request itself brought, newest first unless asked otherwise."""
    stored, query = await _stored(services, request), request.query_params
    items = list(stored.input)
    if query.get("order", "desc") != "asc":
        items.reverse()
    after = _place(items, query.get("after"))
    page = items[after : after + _limit(query.get("limit"))]
    edges = {
        "first_id": page[0].id if page else None,
        "last_id": page[-1].id if page else None,
        "has_more": after + len(page) < len(items),
    }
    data = b'{"object":"list","data":[' + b",".join(item.json for item in page) + b"],"
    return _json(data + orjson.dumps(edges)[1:])


async def cancel_response(services: Services, request: Request) -> Response:
    """What is kept is over. A response under way ends when its connection does."""
    stored = await _stored(services, request)
    raise BadRequest(f"Response '{stored.id}' does not run in the background and cannot be cancelled.")


async def _stored(services: Services, request: Request) -> Stored:
    response_id, shelf = request.path_params["response_id"], shelf_of(services, request)
    stored = await services.run(lambda: shelf.store.get(shelf.namespace, response_id))
    if stored is None:
        raise NotFound(f"Response with id '{response_id}' not found.", param="response_id")
    return stored


def _place(items: list[Item], after: str | None) -> int:
    """Where the page behind the item `after` begins."""
    return next((number for number, item in enumerate(items, start=1) if item.id == after), 0)


def _limit(value: str | None) -> int:
    if value is None:
        return DEFAULT_ITEMS
    if not (value.isascii() and value.isdecimal() and len(value) < 4 and 1 <= int(value) <= MAX_ITEMS):
        raise BadRequest(f"limit must be from 1 to {MAX_ITEMS}", param="limit")
    return int(value)


def _json(data: bytes) -> Response:
    return Response(data, media_type="application/json")
