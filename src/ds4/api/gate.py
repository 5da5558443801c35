"""What answers while the model is being loaded."""

from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from ds4.api.access import Access
from ds4.api.boundary import Boundary
from ds4.api.reply import json_reply
from ds4.api.table import TABLE, dialect_of
from ds4.core.errors import Unavailable
from ds4.core.ports import Ids
from ds4.core.status import Readiness
from ds4.observe.records import Observer

RETRY_AFTER = 5


class Gate:
    """An ASGI app. Closed it only says that it is alive; `open` hands everything to the real app."""

    def __init__(self, *, ids: Ids, observe: Observer, access: Access) -> None:
        self._app: ASGIApp = Boundary(
            _loading, ids=ids, observe=observe, access=access, dialect=dialect_of(TABLE)
        )

    def open(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)


async def _loading(scope: Scope, receive: Receive, send: Send) -> None:
    response = _answer(scope)
    if response is None:
        raise Unavailable("the model is still loading", retry_after=RETRY_AFTER)
    await response(scope, receive, send)


def _answer(scope: Scope) -> Response | None:
    if scope["method"] not in ("GET", "HEAD"):
        return None
    if scope["path"] == "/health":
        return json_reply({"status": Readiness.LOADING})
    if scope["path"] == "/ready":
        body = {"status": Readiness.LOADING, "reason": "the model is still loading"}
        return json_reply(body, 503, {"retry-after": str(RETRY_AFTER)})
    return None
