"""The form of an answer's text, and callers' grammars of any kind."""

from ds4.constrain.foreign import checked
from ds4.constrain.gbnf import from_gbnf
from ds4.constrain.grammar import check_length
from ds4.constrain.lark import Lark, json, regex
from ds4.constrain.schema import cleaned
from ds4.core.constraint import Form, Syntax
from ds4.core.errors import BadRequest
from ds4.formats.written import SPACED


def form_rule(lark: Lark, form: Form) -> str:
    """Raises BadRequest."""
    if form.syntax is not Syntax.JSON_SCHEMA:
        return foreign(lark, form)
    schema = cleaned(form.text, form.path, strict=True).schema
    if schema is False:
        raise BadRequest(f"{form.path} allows no answer at all", param=form.path)
    rule = json(schema, SPACED)
    check_length(len(rule), form.path)
    return rule


def foreign(lark: Lark, form: Form) -> str:
    """A grammar that is no schema. Raises BadRequest."""
    if form.syntax is Syntax.REGEX:
        check_length(len(form.text), form.path)
        return lark.terminal("form", regex(form.text))
    return lark.foreign(foreign_text(form))


def foreign_text(form: Form) -> str:
    """A lark or GBNF grammar as the library's Lark. Raises BadRequest."""
    check_length(len(form.text), form.path)
    text = from_gbnf(form.text, form.path) if form.syntax is Syntax.GBNF else form.text
    return checked(text, form.path)
