"""What a route is: paths, endpoints, and what the OpenAPI page says of them."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from starlette.requests import Request
from starlette.types import ASGIApp

from ds4.api.errors import Dialect, openai
from ds4.api.services import Services
from ds4.api.validate import Body

Endpoint = Callable[[Services, Request], Awaitable[ASGIApp]]
Fields = Mapping[str, str]
"""The fields an answer always has, with their JSON types."""


@dataclass(frozen=True, slots=True)
class Operation:
    """`answers` are the answers that are no errors of the API's shape, by status.

    `errors` are the statuses beyond those that every operation can have. `stream`: also as
    server-sent events, when the body asks for it. `query`: the JSON Schema of each optional parameter.
    """

    endpoint: Endpoint
    about: str
    answers: Mapping[int, Fields]
    body: type[Body] | None = None
    stream: bool = False
    errors: tuple[int, ...] = ()
    query: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """`paths` that mean the same; clients differ in whether their base URL ends in /v1."""

    paths: tuple[str, ...]
    get: Operation | None = None
    post: Operation | None = None
    delete: Operation | None = None
    dialect: Dialect = field(default_factory=openai)

    @property
    def operations(self) -> dict[str, Operation]:
        """By HTTP method."""
        known = {"GET": self.get, "HEAD": self.get, "POST": self.post, "DELETE": self.delete}
        return {method: operation for method, operation in known.items() if operation is not None}
