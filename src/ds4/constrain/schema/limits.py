"""Bounds on what a schema may cost. They are far above real tools and below what would be felt."""

from collections.abc import Iterator

import orjson

from ds4.core.errors import BadRequest

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 128
"""Levels of JSON, of which a property takes two."""
MAX_VALUES = 100_000
MAX_LITERAL_LEVELS = 16
"""Of a value in `enum` or `const`."""
MAX_ENUM = 10_000
MAX_PROPERTIES = 2_000
"""In one object."""
MAX_WORK = 20_000
"""Schemas that are looked at, alternatives of alternatives and references followed counted each time."""
STEPS_OF_A_QUESTION = 10
"""To the library, about a pattern and a text."""
MAX_ALTERNATIVES = 500
"""Of one value."""
MAX_PATTERNS = 30
"""In one object, each compared with each."""
MAX_ONE_OF = 50
"""Branches whose overlaps are looked for, each with each."""
MAX_SCHEMAS = 10_000
"""In a cleaned schema, each definition once."""
MAX_COUNT = 2**31 - 1
"""Of minLength, maxItems and the like."""


def too_much(name: str, why: str) -> BadRequest:
    return BadRequest(f"{name} {why}", param=name)


def loaded(text: str, path: str) -> object:
    """The JSON in `text`, small enough to look at. Empty text is the schema that allows all."""
    if len(text) > MAX_BYTES or len(data := text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        raise too_much(path, f"is larger than {MAX_BYTES} bytes")
    if not data.strip():
        return True
    try:
        value: object = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"{path} is not valid JSON: {error}", param=path) from None
    _measure(value, path)
    return value


def _measure(root: object, path: str) -> None:
    level, count = [(path, root)], 0
    for _ in range(MAX_DEPTH):
        level = [inner for name, value in level for inner in _children(name, value)]
        count += len(level)
        if count > MAX_VALUES:
            raise too_much(path, f"has more than {MAX_VALUES} values")
        if not level:
            return
    raise too_much(level[0][0], f"is nested deeper than {MAX_DEPTH} levels")


def _children(name: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, dict):
        if len(value) > MAX_PROPERTIES:
            raise too_much(name, f"has more than {MAX_PROPERTIES} members")
        yield from ((f"{name}.{key}", inner) for key, inner in value.items())
    elif isinstance(value, list):
        if len(value) > MAX_ENUM:
            raise too_much(name, f"has more than {MAX_ENUM} members")
        yield from ((f"{name}.{index}", inner) for index, inner in enumerate(value))
