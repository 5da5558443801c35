"""The app that serves the table of paths."""

from collections.abc import Mapping

from starlette.requests import Request
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from ds4.api.boundary import Boundary
from ds4.api.errors import WrongMethod
from ds4.api.route import Endpoint, Entry
from ds4.api.services import Services
from ds4.api.table import TABLE, dialect_of
from ds4.core.errors import NotFound


def build_app(services: Services) -> ASGIApp:
    routes = [Route(path, _Methods(services, entry)) for entry in TABLE for path in entry.paths]
    return Boundary(
        Router(routes, redirect_slashes=False, default=_unknown),
        ids=services.ids,
        observe=services.observe,
        access=services.access,
        dialect=dialect_of(TABLE),
    )


class _Methods:
    """One path: hands the request to the endpoint of its method."""

    def __init__(self, services: Services, entry: Entry) -> None:
        self._services = services
        self._endpoints: Mapping[str, Endpoint] = {
            method: operation.endpoint for method, operation in entry.operations.items()
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._endpoints.get(scope["method"])
        if endpoint is None:
            raise WrongMethod(scope["method"], scope["path"], (*self._endpoints, "OPTIONS"))
        response = await endpoint(self._services, Request(scope, receive))
        await response(scope, receive, send)


async def _unknown(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
    raise NotFound(f"unknown endpoint {scope['path']}")
