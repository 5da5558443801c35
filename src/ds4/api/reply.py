"""Small JSON answers."""

from collections.abc import Mapping

import orjson
from starlette.responses import Response


def json_reply(value: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    return Response(orjson.dumps(value), status, headers, media_type="application/json")
