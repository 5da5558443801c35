"""What becomes of each keyword of JSON schema: the one table that cleaning and docs/api.md follow.

A keyword that is not here (`x-...`, `nullable`, `strict`, `deprecated`, ...) is an annotation: the
specification lets a validator ignore it, and so do we. Of OpenAPI's `nullable` that is the narrow reading.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType


class Status(Enum):
    ENFORCED = "enforced"
    ANNOTATION = "annotation"
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True, slots=True)
class Keyword:
    """`limit`: where an enforced keyword is refused nevertheless (dropped, if not strict)."""

    status: Status
    limit: str = ""


_ENFORCED = {
    "$ref": "only to a place in the same schema, and not beside a nested `$id`",
    "additionalItems": "",
    "additionalProperties": "",
    "allOf": "",
    "anyOf": "",
    "const": "no integers beyond 2^53",
    "enum": "no integers beyond 2^53",
    "exclusiveMaximum": "not beyond 10^15, and not a whole number n of `number` with a minimum above n - 1",
    "exclusiveMinimum": "not beyond 10^15, and not a whole number n of `number` with a maximum below n + 1",
    "format": "the formats listed",
    "items": "",
    "maxItems": "",
    "maxLength": "",
    "maxProperties": "not with optional properties but in simple cases",
    "maximum": "not beyond 2^53 for integers, 10^15 for others",
    "minItems": "",
    "minLength": "",
    "minProperties": "one more than `required` at most, not with optional properties but in simple cases",
    "minimum": "not beyond 2^53 for integers, 10^15 for others",
    "multipleOf": "up to four digits, of which up to eight behind the point",
    "oneOf": "only where no value can match two of the schemas",
    "pattern": "ECMA-262 without lookarounds, `\\b`, back references and anchors in the middle",
    "patternProperties": "next to `additionalProperties: false`, 30 patterns of which a name matches one",
    "prefixItems": "",
    "properties": "names of 100 characters and 5000 together, if others are allowed",
    "required": "",
    "type": "",
}
_ANNOTATIONS = (
    "$anchor",
    "$comment",
    "$defs",
    "$id",
    "$schema",
    "$vocabulary",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "id",
    "readOnly",
    "title",
    "writeOnly",
)
_UNSUPPORTED = (
    "$dynamicRef",
    "$recursiveRef",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "if",
    "maxContains",
    "minContains",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
)
KEYWORDS: Mapping[str, Keyword] = MappingProxyType(
    {
        **{name: Keyword(Status.ENFORCED, limit) for name, limit in _ENFORCED.items()},
        **{name: Keyword(Status.ANNOTATION) for name in _ANNOTATIONS},
        **{name: Keyword(Status.UNSUPPORTED) for name in _UNSUPPORTED},
    }
)


def named(status: Status) -> tuple[str, ...]:
    """The keywords of a status, for docs/api.md."""
    return tuple(sorted(name for name, keyword in KEYWORDS.items() if keyword.status is status))
