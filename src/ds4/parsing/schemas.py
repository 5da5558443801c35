"""What the callers' tools say about their parameters, as far as reading values needs it."""

from collections.abc import Iterable

import orjson

from ds4.core.messages import Tool
from ds4.formats.declared import Types, declared


class Schemas:
    """Reads a tool's schema when a call names it, not before: clients send many."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._raw = {tool.name: tool.raw for tool in tools}

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self._raw)

    def parameters(self, tool: str) -> dict[str, Types]:
        """The types of each parameter. Unknown tools and broken schemas have none."""
        try:
            function = orjson.loads(self._raw.get(tool, "{}"))
        except orjson.JSONDecodeError:
            return {}
        return declared(_arguments(function))


def _arguments(function: object) -> object:
    if not isinstance(function, dict):
        return None
    return function.get("parameters") or function.get("input_schema")
