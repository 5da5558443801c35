"""Values of parameters between tags: strings stand bare, everything else as JSON.

Rules:
- Where the markup says which of the two it is, both are alternatives.
- Where it does not, the tool's schema tells the reader (`formats.declared`). If that says both or nothing the
  value decides: text that is JSON of another type is read as that. `apart` keeps strings from looking so.
"""

from collections.abc import Iterator

from ds4.constrain.apart import apart, sort
from ds4.constrain.avoiding import without
from ds4.constrain.lark import json, one_of, regex
from ds4.constrain.schema import other_part, string_part
from ds4.constrain.schema.document import Schema
from ds4.constrain.sheet import Sheet, spellings
from ds4.constrain.strings import Bare, Lost
from ds4.formats.declared import Types
from ds4.formats.markup import Means
from ds4.formats.written import Parameters


class Values:
    """Writes values with the tag that ends them, as expressions of rules."""

    def __init__(self, sheet: Sheet, parameters: Parameters) -> None:
        tags = sheet.value_place(parameters.closes).tags
        closings, escapes = spellings(tags, Means.END_VALUE), spellings(tags, Means.LITERAL)
        self._tags = (*closings, *escapes)
        self._sheet = sheet
        self._parameters = parameters
        free = sheet.lark.terminal("string", without(closings))
        exact = sheet.lark.terminal("exact_string", without(self._tags)) if escapes else free
        self.bare = Bare(free, exact, self._spelled)

    def marked(self, hint: str, schema: Schema, lost: Lost) -> Iterator[tuple[str, str]]:
        """Where the markup tells: the alternatives, with the markup in front of each."""
        if body := self.bare.body(string_part(schema), lost):
            yield self._parameters.text, self.ended(hint, body)
        others = other_part(schema)
        if others is not False:
            yield self._parameters.json, self._json(others)

    def unmarked(self, hint: str, schema: Schema, types: Types, lost: Lost) -> str | None:
        """None if there is no value that can be written."""
        if types and "string" not in types:
            return None if schema is False else self._json(schema)
        if types == {"string"}:
            string = self.bare.body(string_part(schema), lost)
            return None if string is None else self.ended(hint, string)
        return self._mixed(hint, schema, types, lost)

    def ended(self, hint: str, body: str) -> str:
        return self._sheet.lark.ended(hint, body, self._parameters.closes)

    def _json(self, schema: Schema) -> str:
        separators = self._sheet.written.separators
        return f"{json(schema, separators)} {self._sheet.lark.markup(self._parameters.closes)}"

    def _mixed(self, hint: str, schema: Schema, types: Types, lost: Lost) -> str | None:
        found = sort(other_part(schema))
        string = self.bare.body(string_part(schema), lost, apart(types, found.rest))
        bodies = [*([string] if string else []), *map(regex, found.scalars)]
        options = [self._json(schema) for schema in found.rest]
        if bodies:
            options.insert(0, self.ended(hint, one_of(bodies)))
        return one_of(options) if options else None

    def _spelled(self, text: str) -> str | None:
        """A known string as it must be written; None if that is not possible."""
        closing, escaped = self._parameters.closes.strip(), self._parameters.escaped
        rest = text.replace(closing, "") if escaped else text
        if any(tag in rest for tag in self._tags):
            return None
        return text.replace(closing, escaped) if escaped else text
