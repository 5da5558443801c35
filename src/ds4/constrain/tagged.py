"""Arguments as parameters between tags.

Rules:
- Parameters come in the order of the schema; those that are not required may be missing.
- Names that the schema does not have are written only where it has none itself, or says what they are.
"""

from collections.abc import Iterator, Mapping
from functools import partial

import orjson

from ds4.constrain.forms import foreign_text
from ds4.constrain.lark import literal, one_of, regex
from ds4.constrain.names import OTHER, is_readable
from ds4.constrain.schema import Parameter, Parameters, parameters, string_part
from ds4.constrain.schema.document import Schema
from ds4.constrain.sheet import Sheet
from ds4.constrain.values import Values
from ds4.core.constraint import INPUT, Form, Signature, Syntax
from ds4.core.errors import Unsupported
from ds4.formats.declared import UNKNOWN, Types, declared
from ds4.formats.written import Parameters as Markup


class Impossible(Exception):
    """The tool cannot be called; says why. `path` is what is to blame."""

    def __init__(self, path: str, why: str) -> None:
        super().__init__(f"{path} {why}")
        self.path = path
        self.why = why


class Tagged:
    """The arguments of one tool. `required`: a call is demanded."""

    def __init__(self, sheet: Sheet, markup: Markup, tool: Signature, path: str, *, required: bool) -> None:
        self._sheet = sheet
        self._markup = markup
        self._tool = tool
        self._path = path
        self._required = required
        self._values = Values(sheet, markup)
        self._types = {} if markup.tells else _declared(tool.schema)

    def arguments(self, schema: Schema) -> str:
        """Empty where the tool has no parameters. Raises Impossible, Unsupported."""
        if self._tool.text:
            return self._named(INPUT, self._markup.text, self._text(self._tool.text))
        possible = [each for each in map(self._object, parameters(schema)) if each is not None]
        if not possible:
            raise Impossible(self._path, "allows no arguments that this model's format can write")
        return one_of([each or '""' for each in possible]) if any(possible) else ""

    def _object(self, given: Parameters) -> str | None:
        for keyword in given.lost:
            self._lost(self._path, keyword)
        parts = []
        for parameter in given.named:
            part = self._parameter(parameter)
            if part is None and parameter.required:
                return None
            if part is not None:
                parts.append(part if parameter.required else f"{part}?")
        return " ".join([*parts, *self._others(given)])

    def _parameter(self, parameter: Parameter) -> str | None:
        name, path = parameter.name, f"{self._path}.properties.{parameter.name}"
        if not is_readable(name, self._markup.names):
            self._unwritable(path, parameter)
            return None
        types = self._types.get(name, UNKNOWN)
        written = [self._named(name, *each) for each in self._possible(name, parameter.schema, types, path)]
        return self._sheet.lark.rule(name, one_of(written)) if written else None

    def _possible(self, name: str, schema: Schema, types: Types, path: str) -> Iterator[tuple[str, str]]:
        """What stands in front of a value, and the value."""
        lost = partial(self._lost, path)
        if self._markup.tells:
            yield from self._values.marked(f"{name}_value", schema, lost)
        elif value := self._values.unmarked(f"{name}_value", schema, types, lost):
            yield self._markup.text, value

    def _named(self, name: str, before: str, value: str) -> str:
        spelled = self._markup.names.spelled(name)
        return f"{self._sheet.lark.markup(self._markup.opens, spelled, before)} {value}"

    def _others(self, given: Parameters) -> Iterator[str]:
        if given.others is False or (given.others is True and given.named):
            return
        if not self._markup.tells and string_part(given.others) not in (False, {"type": "string"}):
            # The reader knows no types of them. A string of digits, say, would not come back as one.
            return
        lark = self._sheet.lark
        names = (*(parameter.name for parameter in given.named), *given.forbidden)
        taken = "".join(f" & ~{literal(name)}" for name in names)
        name = lark.terminal("other_name", f"{regex(OTHER)}{taken}")
        written = [
            f"{lark.markup(self._markup.opens)} {name} {lark.markup(before)} {value}"
            for before, value in self._possible("other", given.others, UNKNOWN, self._path)
        ]
        if written:
            yield f"{lark.rule('other', one_of(written))}*"

    def _text(self, form: Form) -> str:
        if form.syntax is Syntax.REGEX:
            return self._values.ended(INPUT, f"({self._values.bare.exact} & {regex(form.text)})")
        grammar = foreign_text(form)
        if self._sheet.can_end(grammar, self._markup.closes):
            return f"{self._sheet.lark.foreign(grammar)} {self._sheet.lark.markup(self._markup.closes)}"
        if self._required:
            raise Unsupported(form.path, "can go on for ever where this model ends a call: give it an end")
        self._sheet.dropped.append(f"{form.path}: grammar")
        return self._values.ended(INPUT, self._values.bare.free)

    def _lost(self, path: str, keyword: str) -> None:
        if self._tool.strict:
            raise Unsupported(path, f"has {keyword}, which cannot be enforced as this model writes calls")
        self._sheet.dropped.append(f"{path}: {keyword}")

    def _unwritable(self, path: str, parameter: Parameter) -> None:
        if self._required and parameter.required:
            raise Unsupported(path, "is required, and its name is one that this model's format cannot write")
        self._lost(path, "name")


def _declared(schema: str) -> Mapping[str, Types]:
    try:
        return declared(orjson.loads(schema or "{}"))
    except orjson.JSONDecodeError:
        return {}
