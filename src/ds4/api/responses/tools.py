"""Tools as the client declares them -> functions as the model sees them.

Rules:
- The model only knows functions with flat names. A tool of a namespace gets a name made of both; a
  custom tool becomes a function with one string parameter, `input`; a tool search that the client
  carries out is a function like any other.
- Tools that only their vendor can run (web search and the like) and kinds nobody here knows are
  skipped, not refused: agents offer them to everyone.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum, auto

import orjson

from ds4.api.body import JsonObject
from ds4.api.constraints import schema_text
from ds4.api.custom_tools import function_of, grammar_of
from ds4.core.constraint import Form, Signature
from ds4.core.errors import BadRequest
from ds4.core.messages import Tool

SEARCH = "tool_search"
_NOT_TOLD = frozenset({"type", "name", "strict", "defer_loading"})
_SEARCH_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {"query": {"type": "string"}},
    "required": ["query"],
}


class Kind(Enum):
    FUNCTION = auto()
    CUSTOM = auto()
    SEARCH = auto()


@dataclass(frozen=True, slots=True)
class Ref:
    """A tool as the client knows it."""

    name: str
    namespace: str | None = None
    kind: Kind = Kind.FUNCTION

    @property
    def flat(self) -> str:
        """The name for the model, as long as no other tool has it."""
        if not self.namespace:
            return self.name
        gap = "" if self.namespace.endswith("__") else "__"
        return f"{self.namespace}{gap}{self.name}"


@dataclass(frozen=True, slots=True)
class Offer:
    """One tool. `function` is what the model is told of it, without its name. `deferred`: only once it
    has been searched for.

    `strict`: its schema is to be kept; it stands at `path` in the request. `text` is a custom tool's grammar.
    """

    ref: Ref
    function: JsonObject
    deferred: bool = False
    strict: bool = False
    path: str = ""
    text: Form | None = None

    def tool(self, name: str) -> Tool:
        return Tool(name, orjson.dumps({"name": name, **self.function}).decode())

    def signature(self, name: str) -> Signature:
        schema = schema_text(self.function.get("parameters"))
        return Signature(name, schema, strict=self.strict, path=self.path, text=self.text)


def offers(value: object, path: str) -> tuple[Offer, ...]:
    """Raises BadRequest on what is no list of tools."""
    if value is None:
        return ()
    if not isinstance(value, list):
        raise BadRequest(f"{path} must be an array", param=path)
    return tuple(
        offer for number, item in enumerate(value) for offer in _offers(item, f"{path}.{number}", None)
    )


def _offers(item: object, path: str, namespace: str | None) -> Iterator[Offer]:
    given = _object(item, path)
    match given.get("type", "function"):
        case "namespace" if namespace is None:
            yield from _namespace(given, path)
        case "function":
            yield _function(given, path, namespace)
        case "custom":
            yield _custom(given, path, namespace)
        case "tool_search" if given.get("execution") == "client":
            described = {"description": given.get("description") or "Finds tools by what they do."}
            parameters = given.get("parameters") or _SEARCH_SCHEMA
            found = described | {"parameters": parameters}
            yield Offer(Ref(SEARCH, None, Kind.SEARCH), found, path=f"{path}.parameters")


def _function(given: JsonObject, path: str, namespace: str | None) -> Offer:
    wrapped = given.get("function")
    inside = path if wrapped is None else f"{path}.function"
    body = given if wrapped is None else _object(wrapped, inside)
    return Offer(
        Ref(_name(body, path), namespace),
        {key: value for key, value in body.items() if key not in _NOT_TOLD},
        deferred=body.get("defer_loading") is True,
        strict=body.get("strict") is True,
        path=f"{inside}.parameters",
    )


def _custom(given: JsonObject, path: str, namespace: str | None) -> Offer:
    text = grammar_of(given.get("format"), f"{path}.format")
    return Offer(
        Ref(_name(given, path), namespace, Kind.CUSTOM),
        function_of(given, text),
        deferred=given.get("defer_loading") is True,
        path=path,
        text=text,
    )


def _namespace(given: JsonObject, path: str) -> Iterator[Offer]:
    """What is said of the namespace stands in front of its first tool, once."""
    name, tools, about = _name(given, path), given.get("tools"), given.get("description")
    if not isinstance(tools, list):
        raise BadRequest(f"{path}.tools must be an array", param=f"{path}.tools")
    for number, item in enumerate(tools):
        for offer in _offers(item, f"{path}.tools.{number}", name):
            if isinstance(about, str) and about:
                own = offer.function.get("description")
                text = f"{about}\n\n{own}" if isinstance(own, str) and own else about
                yield replace(offer, function=offer.function | {"description": text})
                about = None
            else:
                yield offer


def _object(value: object, path: str) -> JsonObject:
    if not isinstance(value, dict):
        raise BadRequest(f"{path} must be an object", param=path)
    return value


def _name(item: JsonObject, path: str) -> str:
    name = item.get("name")
    if not isinstance(name, str) or not name:
        raise BadRequest(f"{path}.name must be a string that is not empty", param=f"{path}.name")
    return name
