"""Every path there is, and the app that serves them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route, Router
from starlette.types import ASGIApp, Receive, Scope, Send

from ds4.api import models, status, tokens
from ds4.api.boundary import Boundary
from ds4.api.errors import Dialect, WrongMethod, openai
from ds4.api.openai import endpoints
from ds4.api.reply import json_reply
from ds4.api.services import Services
from ds4.core.errors import NotFound

Endpoint = Callable[[Services, Request], Awaitable[ASGIApp]]
CHAT = openai("messages")
COMPLETIONS = openai("prompt")


@dataclass(frozen=True, slots=True)
class Entry:
    """`paths` that mean the same; clients differ in whether their base URL ends in /v1."""

    paths: tuple[str, ...]
    get: Endpoint | None = None
    post: Endpoint | None = None
    dialect: Dialect = field(default_factory=openai)


def _v1(path: str) -> tuple[str, str]:
    return f"/v1{path}", path


async def index(services: Services, request: Request) -> Response:  # noqa: ARG001
    paths = [entry.paths[0].replace("{name:path}", "ID") for entry in TABLE]
    return json_reply({"name": "ds4-server", "version": services.version, "endpoints": paths})


TABLE: tuple[Entry, ...] = (
    Entry(("/",), get=index),
    Entry(("/health",), get=status.health),
    Entry(("/ready",), get=status.ready),
    Entry(("/slots",), get=status.slots),
    Entry(_v1("/models"), get=models.list_models),
    Entry(_v1("/models/{name:path}"), get=models.get_model),
    Entry(_v1("/chat/completions"), post=endpoints.chat, dialect=CHAT),
    Entry(_v1("/completions"), post=endpoints.completions, dialect=COMPLETIONS),
    Entry(("/apply-template",), post=endpoints.apply_template),
    Entry(("/tokenize",), post=tokens.tokenize),
    Entry(("/detokenize",), post=tokens.detokenize),
)


def build_app(services: Services) -> ASGIApp:
    routes = [Route(path, _Methods(services, entry)) for entry in TABLE for path in entry.paths]
    return Boundary(
        Router(routes, redirect_slashes=False, default=_unknown),
        ids=services.ids,
        observe=services.observe,
        cors=services.cors,
        dialects={path: entry.dialect for entry in TABLE for path in entry.paths},
    )


class _Methods:
    """One path: hands the request to the endpoint of its method."""

    def __init__(self, services: Services, entry: Entry) -> None:
        self._services = services
        methods = {"GET": entry.get, "HEAD": entry.get, "POST": entry.post}
        self._endpoints: Mapping[str, Endpoint] = {name: found for name, found in methods.items() if found}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        endpoint = self._endpoints.get(scope["method"])
        if endpoint is None:
            raise WrongMethod(scope["method"], scope["path"], (*self._endpoints, "OPTIONS"))
        response = await endpoint(self._services, Request(scope, receive))
        await response(scope, receive, send)


async def _unknown(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
    raise NotFound(f"unknown endpoint {scope['path']}")
