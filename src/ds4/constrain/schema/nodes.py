"""One schema of the document, of which only what is enforced is left.

The rules about single keywords are here; how they work together is told where they are read.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from ds4.constrain.schema.checks import FORMS, is_object, is_written, says_nothing
from ds4.constrain.schema.document import Document, Place
from ds4.constrain.schema.ecma import NotRegular, translated
from ds4.constrain.schema.formats import FORMATS, NUMBER_FORMATS
from ds4.constrain.schema.keywords import KEYWORDS, Keyword, Status
from ds4.constrain.schema.library import is_empty, refusal
from ds4.constrain.schema.report import Report

_UNKNOWN = Keyword(Status.ANNOTATION)
_DEPENDENTS: Mapping[str, tuple[str, ...]] = {
    "properties": ("additionalProperties",),
    "patternProperties": ("additionalProperties",),
    "prefixItems": ("items",),
    "items": ("additionalItems",),
}
"""Without the one, the other would forbid what is allowed."""


@dataclass(frozen=True, slots=True)
class Node:
    """`keywords` are the enforced ones, in the form that `checks` demands. Patterns are the caller's."""

    place: Place
    keywords: Mapping[str, object]


class Nodes:
    """Each place is looked at once."""

    def __init__(self, document: Document, report: Report) -> None:
        self._document = document
        self._report = report
        self._known: dict[Place, Node | bool] = {}
        self._regexes: dict[str, str] = {}

    def at(self, place: Place) -> Node | bool:
        """What is no schema allows all, if it may be dropped."""
        if place not in self._known:
            self._known[place] = self._read(place)
        return self._known[place]

    def regex(self, pattern: str) -> str:
        """A pattern of a node in the library's words."""
        return self._regexes[pattern]

    def _read(self, place: Place) -> Node | bool:
        if isinstance(place.value, bool):
            return place.value
        if not is_object(place.value):
            self._report.wrong(place)
            return True
        node: Mapping[str, object] = place.value
        if self._document.refs_stand_alone and "$ref" in node:
            node = {"$ref": node["$ref"]}
        stated = [keyword for keyword in node if self._is_stated(place, keyword, node)]
        kept = {keyword: node[keyword] for keyword in stated if self._is_kept(place, keyword)}
        for keyword in stated:
            for dependent in _DEPENDENTS.get(keyword, ()) if keyword not in kept else ():
                kept.pop(dependent, None)
        return Node(place, kept) if kept else True

    def _is_stated(self, place: Place, keyword: str, node: Mapping[str, object]) -> bool:
        status = KEYWORDS.get(keyword, _UNKNOWN).status
        if status is Status.UNSUPPORTED and not says_nothing(keyword, node):
            self._report.lacks(place, keyword)
        return status is Status.ENFORCED

    def _is_kept(self, place: Place, keyword: str) -> bool:
        value = place.child(keyword).value
        if not FORMS[keyword](value):
            self._report.wrong(place, keyword)
            return False
        if keyword == "pattern":
            return self._is_regular(place, keyword, str(value))
        if keyword == "patternProperties" and is_object(value):
            return all(self._is_regular(place, keyword, pattern) for pattern in value)
        if keyword in ("enum", "const") and not is_written(value):
            why = "with an integer beyond 2^53, or nested so deep, is not enforced by this server"
            self._report.lacks(place, keyword, why)
            return False
        return keyword != "format" or self._is_known_format(place, str(value))

    def _is_regular(self, place: Place, keyword: str, pattern: str) -> bool:
        if pattern in self._regexes:
            return True
        try:
            regex = translated(pattern)
        except NotRegular as error:
            self._report.lacks(place, keyword, f"{error}, which is not enforced by this server")
            return False
        refused = refusal({"type": "string", "pattern": regex})
        if refused and not is_empty(refused):
            self._report.lacks(place, keyword, f"is not enforced by this server: {refused}")
            return False
        self._regexes[pattern] = regex
        return True

    def _is_known_format(self, place: Place, name: str) -> bool:
        node = place.value
        kinds = node.get("type", "string") if is_object(node) else "string"
        if name in NUMBER_FORMATS or "string" not in (kinds if isinstance(kinds, list) else [kinds]):
            return False
        if name not in FORMATS:
            self._report.lacks(place, "format", f"{name!r} is not enforced by this server")
        return name in FORMATS
