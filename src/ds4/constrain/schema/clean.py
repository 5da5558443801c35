"""From the caller's JSON schema to one that the constraint library enforces, word for word."""

from dataclasses import dataclass

from ds4.constrain.schema.document import Document, Schema
from ds4.constrain.schema.limits import loaded
from ds4.constrain.schema.plan import planned
from ds4.constrain.schema.report import Report
from ds4.constrain.schema.size import check_size
from ds4.constrain.schema.write import written


@dataclass(frozen=True, slots=True)
class Cleaned:
    """`schema` is self-contained (its `$defs` are with it) and has only what the constraint library enforces.

    It is in normal form: each schema in it is a boolean, or has one of `$ref`, `anyOf`, `enum`, `const`,
    `type` (one), or `allOf` of strings. `dropped` names what of the caller's schema is not enforced, as
    `path: keyword`. Empty when strict.
    """

    schema: Schema
    dropped: tuple[str, ...] = ()


def cleaned(text: str, path: str, *, strict: bool) -> Cleaned:
    """The schema in `text` (JSON; "" is no schema: anything) as the library enforces it.

    `path` is the schema's field in the request. Raises BadRequest, or Unsupported where strict, with a
    `param` that goes on from `path` to the place, as "tools.0.function.parameters.properties.x". What is
    dropped only ever allows more.
    """
    document = Document(loaded(text, path), path)
    report = Report(document, strict=strict)
    schema = written(planned(document, report), report)
    check_size(schema, path)
    return Cleaned(schema, report.dropped)
