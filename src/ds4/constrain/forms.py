"""The form of an answer's text, and callers' grammars of any kind."""

from llguidance.gbnf_to_lark import GbnfToLarkError, gbnf_to_lark

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
    return json(schema, SPACED)


def foreign(lark: Lark, form: Form) -> str:
    """A grammar that is no schema. Raises BadRequest."""
    if form.syntax is Syntax.REGEX:
        return lark.terminal("form", regex(form.text))
    return lark.foreign(_from_gbnf(form) if form.syntax is Syntax.GBNF else form.text)


def _from_gbnf(form: Form) -> str:
    try:
        return gbnf_to_lark(form.text)
    except GbnfToLarkError as error:
        raise BadRequest(f"{form.path} is no GBNF: {error}", param=form.path) from error
