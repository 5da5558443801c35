"""How deep the library would go into a schema, and how large its grammar would be.

It follows references on its stack and does not look how much of it is left: a chain of a few hundred
definitions would end the process. So what it will do is done here first, in the same order.
"""

from collections.abc import Iterator, Mapping

from ds4.constrain.schema.document import Schema
from ds4.constrain.schema.limits import MAX_SCHEMAS, too_much

MAX_LEVELS = 128
"""About 600 KiB of stack, measured."""


def check_size(schema: Schema, path: str) -> None:
    """Of a cleaned schema. Raises BadRequest."""
    definitions = schema.get("$defs", {}) if not isinstance(schema, bool) else {}
    known = dict(definitions) if isinstance(definitions, dict) else {}
    count = 0
    levels: list[Iterator[object]] = [iter([schema])]
    while levels:
        one = next(levels[-1], None)
        if one is None:
            levels.pop()
        elif isinstance(one, dict):
            levels.append(_inside(one, known))
            count += 1 + _length_of_patterns(one) // 50
            if count > MAX_SCHEMAS:
                raise too_much(path, f"has more than {MAX_SCHEMAS} schemas when all is resolved")
            if len(levels) > MAX_LEVELS:
                raise too_much(path, f"leads through more than {MAX_LEVELS} schemas inside each other")


def _length_of_patterns(schema: Mapping[str, object]) -> int:
    patterns = schema.get("patternProperties")
    return sum(map(len, patterns)) if isinstance(patterns, dict) else 0


def _inside(schema: Mapping[str, object], definitions: dict[str, object]) -> Iterator[object]:
    """A definition is gone into where it is met first."""
    reference = schema.get("$ref")
    if isinstance(reference, str):
        yield definitions.pop(reference.rpartition("/")[2], True)
    for keyword in (
        "prefixItems",
        "items",
        "properties",
        "patternProperties",
        "additionalProperties",
        "anyOf",
    ):
        inner = schema.get(keyword, ())
        if keyword in ("items", "additionalProperties"):
            yield inner
        elif isinstance(inner, dict | list):
            yield from inner.values() if isinstance(inner, dict) else inner
