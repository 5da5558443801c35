"""JSON schemas as callers send them. What the constraint library truly enforces stays, the rest is dropped or
refused. `clean` says how; `keywords` is the table that docs/api.md follows."""

from ds4.constrain.schema.clean import Cleaned, cleaned
from ds4.constrain.schema.parameters import Parameter, Parameters, parameters
from ds4.constrain.schema.parts import other_part, string_part, types_of

__all__ = [
    "Cleaned",
    "Parameter",
    "Parameters",
    "cleaned",
    "other_part",
    "parameters",
    "string_part",
    "types_of",
]
