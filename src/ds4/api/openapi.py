"""The OpenAPI page, made of the route table and the request models. Pure.

Only what holds is declared: for an answer the fields it always has, for a body what its model
accepts. Null is absent everywhere, which JSON Schema would have to repeat for every field.
"""

import http
import re
from collections.abc import Iterable, Mapping
from typing import Any

from pydantic.json_schema import GenerateJsonSchema, models_json_schema

from ds4.api.access import OPEN_PATHS
from ds4.api.errors import Dialect
from ds4.api.route import Entry, Fields, Operation
from ds4.api.validate import Body

VERSION = "3.1.0"
ALWAYS = (400, 403, 500, 503)
"""Bad or foreign Host, foreign Origin, a bug, loading or shutting down."""
UNAUTHORIZED = 401
SCHEMES = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "x-api-key": {"type": "apiKey", "in": "header", "name": "x-api-key"},
}
ABOUT = (
    "In request bodies null is the same as absent, and unknown fields are skipped. "
    "The paths under /v1 work without that prefix too, and OPTIONS on every path."
)
REF = "#/components/schemas/"
_PARAMETER = re.compile(r"{(\w+)(?::\w+)?}")
_JSON = "application/json"


class _Untitled(GenerateJsonSchema):
    """The titles pydantic makes of field names say nothing new."""

    def field_title_should_be_set(self, schema: object) -> bool:  # noqa: ARG002
        return False


def document(table: Iterable[Entry], *, version: str, locked: bool) -> dict[str, Any]:
    """`locked`: API keys are asked for."""
    entries = tuple(table)
    bodies = {op.body for entry in entries for op in entry.operations.values() if op.body is not None}
    components: dict[str, Any] = {"schemas": _schemas(bodies) | _error_schemas(entries)}
    if locked:
        components["securitySchemes"] = SCHEMES
    return {
        "openapi": VERSION,
        "info": {"title": "ds4-server", "version": version, "description": ABOUT},
        "paths": {_template(entry): _path(entry, locked=locked) for entry in entries},
        "components": components,
    }


def shown(entry: Entry) -> str:
    """An entry's path for people."""
    return _PARAMETER.sub("ID", entry.paths[0])


def _template(entry: Entry) -> str:
    return _PARAMETER.sub(r"{\1}", entry.paths[0])


def _schemas(bodies: Iterable[type[Body]]) -> dict[str, Any]:
    ordered = sorted(bodies, key=lambda body: body.__name__)
    _, definitions = models_json_schema(
        [(body, "validation") for body in ordered],
        ref_template=REF + "{model}",
        schema_generator=_Untitled,
    )
    found: dict[str, Any] = definitions["$defs"]
    return found


def _error_schemas(entries: Iterable[Entry]) -> dict[str, Any]:
    return {_error_name(entry.dialect): entry.dialect.schema for entry in entries}


def _error_name(dialect: Dialect) -> str:
    return f"{dialect.name}Error"


def _path(entry: Entry, *, locked: bool) -> dict[str, Any]:
    asks_key = locked and not OPEN_PATHS.issuperset(entry.paths)
    methods = {
        method.lower(): _operation(operation, entry.dialect, asks_key=asks_key)
        # HEAD is GET without the body.
        for method, operation in entry.operations.items()
        if method != "HEAD"
    }
    parameters = [_parameter(name) for name in _PARAMETER.findall(entry.paths[0])]
    return {"parameters": parameters, **methods} if parameters else methods


def _parameter(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}


def _operation(operation: Operation, dialect: Dialect, *, asks_key: bool) -> dict[str, Any]:
    errors = {*ALWAYS, *operation.errors, *([UNAUTHORIZED] if asks_key else [])} - operation.answers.keys()
    responses = {
        str(status): _answer(status, fields, stream=operation.stream)
        for status, fields in operation.answers.items()
    }
    responses |= {str(status): _error(status, dialect) for status in sorted(errors)}
    made: dict[str, Any] = {
        "operationId": operation.endpoint.__name__,
        "summary": operation.about,
        "responses": responses,
    }
    if operation.query:
        made["parameters"] = [
            {"name": name, "in": "query", "schema": schema} for name, schema in operation.query.items()
        ]
    if operation.body is not None:
        schema = {"$ref": REF + operation.body.__name__}
        made["requestBody"] = {"required": True, "content": {_JSON: {"schema": schema}}}
    if asks_key:
        made["security"] = [{name: []} for name in SCHEMES]
    return made


def _answer(status: int, fields: Fields, *, stream: bool) -> dict[str, Any]:
    properties = {name: {"type": kind} for name, kind in fields.items()}
    schema = {"type": "object", "properties": properties, "required": list(fields)}
    content: dict[str, Any] = {_JSON: {"schema": schema}}
    if stream:
        # OpenAPI 3.1 has no words for a sequence of events.
        content["text/event-stream"] = {}
    return {"description": http.HTTPStatus(status).phrase, "content": content}


def _error(status: int, dialect: Dialect) -> dict[str, Any]:
    content: Mapping[str, Any] = {_JSON: {"schema": {"$ref": REF + _error_name(dialect)}}}
    return {"description": http.HTTPStatus(status).phrase, "content": content}
