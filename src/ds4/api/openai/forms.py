"""The form of an answer, in the many fields that servers of this API have for it. One at a time."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson

from ds4.api.constraints import schema_form
from ds4.api.validate import Body
from ds4.core.constraint import Form, Syntax
from ds4.core.errors import BadRequest, Unsupported

Read = Callable[[object, str], Form | None]
"""A field's value and its path. None where nothing is demanded. Raises BadRequest."""
ANY_OBJECT = '{"type":"object"}'


class FormBody(Body):
    response_format: Any = None
    grammar: Any = None
    json_schema: Any = None
    guided_choice: Any = None
    guided_grammar: Any = None
    guided_json: Any = None
    guided_regex: Any = None
    structured_outputs: Any = None


def form_of(body: FormBody) -> Form | None:
    """Raises BadRequest."""
    return _only(_forms({name: getattr(body, name) for name in _FIELDS}, _FIELDS, ""))


def json_form(value: Mapping[str, object], path: str) -> Form | None:
    """Of `value`, whose type is text, json_object or json_schema; its schema stands beside the type.

    Raises BadRequest.
    """
    match value.get("type"):
        case "text":
            return None
        case None if not value:
            return None
        case None:
            raise BadRequest(f"missing {path}.type", param=f"{path}.type")
        case "json_object" if value.get("schema") is None:
            return Form(Syntax.JSON_SCHEMA, ANY_OBJECT, path)
        case "json_object" | "json_schema":
            return schema_form(value.get("schema"), f"{path}.schema")
        case kind:
            raise Unsupported(path, f"of type {kind} is not supported by this server")


def _only(forms: Iterator[tuple[str, Form]]) -> Form | None:
    first: tuple[str, Form] | None = None
    for path, form in forms:
        if first is not None:
            problem = f"{first[0]} and {path} cannot stand together: an answer has one form"
            raise BadRequest(problem, param=path)
        first = (path, form)
    return None if first is None else first[1]


def _forms(given: Mapping[str, object], fields: Mapping[str, Read], place: str) -> Iterator[tuple[str, Form]]:
    """Those of `fields` that are really used, each with its path."""
    for name, read in fields.items():
        value, path = given.get(name), place + name
        # An empty object is a schema, for anything.
        if value is None or value is False or value in ("", []):
            continue
        form = read(value, path)
        if form is not None:
            yield path, form


def _response_format(value: object, path: str) -> Form | None:
    if not isinstance(value, dict):
        raise BadRequest(f"{path} must be an object with a type", param=path)
    nested = value.get("json_schema")
    if value.get("type") == "json_schema" and isinstance(nested, dict):
        return schema_form(nested.get("schema"), f"{path}.json_schema.schema")
    return json_form(value, path)


def _schema(value: object, path: str) -> Form:
    """An object, or JSON in a string."""
    if not isinstance(value, str):
        return schema_form(value, path)
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"{path} is not JSON: {error}", param=path) from None
    return Form(Syntax.JSON_SCHEMA, value, path)


def _grammar(value: object, path: str) -> Form:
    """Two languages go by that name; only one of them has `::=`."""
    text = _text(value, path)
    return Form(Syntax.GBNF if "::=" in text else Syntax.LARK, text, path)


def _regex(value: object, path: str) -> Form:
    return Form(Syntax.REGEX, _text(value, path), path)


def _choice(value: object, path: str) -> Form:
    if not isinstance(value, list) or not all(isinstance(item, str) and item for item in value):
        raise BadRequest(f"{path} must be an array of strings that are not empty", param=path)
    # A string of this language is written as in JSON.
    quoted = " | ".join(orjson.dumps(item).decode() for item in value)
    return Form(Syntax.LARK, f"start: CHOICE\nCHOICE: {quoted}\n", path)


def _any_object(value: object, path: str) -> Form:
    if value is not True:
        raise BadRequest(f"{path} must be true or false", param=path)
    return Form(Syntax.JSON_SCHEMA, ANY_OBJECT, path)


def _structured(value: object, path: str) -> Form | None:
    if not isinstance(value, dict):
        raise BadRequest(f"{path} must be an object", param=path)
    for name in _CHANGES_MORE:
        if value.get(name):
            raise Unsupported(f"{path}.{name}")
    return _only(_forms(value, _STRUCTURED, f"{path}."))


def _text(value: object, path: str) -> str:
    if not isinstance(value, str):
        raise BadRequest(f"{path} must be a string", param=path)
    return value


_FIELDS: Mapping[str, Read] = {
    "response_format": _response_format,
    "grammar": _grammar,
    "json_schema": _schema,
    "guided_choice": _choice,
    "guided_grammar": _grammar,
    "guided_json": _schema,
    "guided_regex": _regex,
    "structured_outputs": _structured,
}
_STRUCTURED: Mapping[str, Read] = {
    "choice": _choice,
    "grammar": _grammar,
    "json": _schema,
    "json_object": _any_object,
    "regex": _regex,
}
_CHANGES_MORE = ("structural_tag", "disable_additional_properties")
