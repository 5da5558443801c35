"""Calls of tools as the model's format writes them (`formats.written`).

Rules:
- Where a call is demanded, a tool that cannot be called is refused by name. Elsewhere it is left out, and
  reported: an agent that offers it goes on working.
- A custom tool's text is a grammar of its own. Inside JSON only a regex can be.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import orjson

from ds4.constrain.grammar import check_length
from ds4.constrain.lark import json, literal, one_of
from ds4.constrain.names import is_readable
from ds4.constrain.schema import cleaned
from ds4.constrain.schema.document import Schema
from ds4.constrain.sheet import Sheet
from ds4.constrain.tagged import Impossible, Tagged
from ds4.core.constraint import INPUT, Calls, Form, Signature, Syntax
from ds4.core.errors import Unsupported

_PIECES = re.compile(r'"[^"]*"|[:,] ?|[{}]')
"""Of JSON."""

_NAMES_MORE = frozenset({"$ref", "additionalProperties", "allOf", "anyOf", "oneOf", "patternProperties"})


@dataclass(frozen=True, slots=True)
class CallRules:
    """`opening` is the markup of the first call, up to its tool's name; `all` goes on from there."""

    opening: str
    all: str


def call_rules(sheet: Sheet, calls: Calls, *, beside_json: bool = False) -> CallRules | None:
    """None if none of the tools can be called. `beside_json`: the answer may be other JSON instead.

    Raises BadRequest.
    """
    written, lark = sheet.written, sheet.lark
    # A call that is bare JSON must come in the same pieces as other JSON, or the library would not see both.
    opens = "" if beside_json and sheet.is_bare else written.opens
    head = partial(_head, sheet, in_pieces=not opens)
    possible = []
    for tool in calls.tools:
        if rule := _tool(sheet, tool, head, required=calls.required):
            possible.append(rule)
        check_length(lark.size, tool.path if len(calls.tools) == 1 else "tools")
    if not possible:
        return None
    call = lark.rule("call", one_of(possible))
    # Where the model's own end token closes a call, nothing follows.
    single = calls.single or sheet.is_end(written.closes)
    more = "" if single else f"({lark.markup(written.between + opens)} {call})*"
    parts = (call, more, lark.markup(written.after))
    return CallRules(written.before + opens, " ".join(filter(None, parts)))


Head = Callable[[str], str]
"""What stands in front of the arguments of the tool of a name."""


def _head(sheet: Sheet, name: str, *, in_pieces: bool) -> str:
    written = sheet.written
    spelled = written.names.spelled(name)
    if in_pieces:
        return " ".join(map(literal, _PIECES.findall(f"{written.opens}{spelled}{written.named}")))
    return sheet.lark.markup("", spelled, written.named)


def _tool(sheet: Sheet, tool: Signature, head: Head, *, required: bool) -> str | None:
    """None: the tool is left out."""
    try:
        call = _call(sheet, tool, required=required)
        return sheet.lark.rule(f"call_{tool.name}", f"{head(tool.name)} {call}".strip())
    except Impossible as impossible:
        if required or tool.strict:
            raise Unsupported(impossible.path, impossible.why) from impossible
        sheet.dropped.append(f"{impossible.path}: tool")
        return None


def _call(sheet: Sheet, tool: Signature, *, required: bool) -> str:
    """What stands behind the tool's name."""
    written = sheet.written
    path = tool.path or tool.name
    if not is_readable(tool.name, written.names):
        raise Impossible(path, f"is of {tool.name!r}, a name that this model's format cannot write")
    schema = _schema(sheet, tool, required=required)
    if written.parameters is None:
        inside = json(_of_objects(schema, path), written.separators)
    else:
        inside = Tagged(sheet, written.parameters, tool, path, required=required).arguments(schema)
    closes = "" if sheet.is_end(written.closes) else written.closes
    return " ".join(filter(None, (inside, sheet.lark.markup(closes))))


def _schema(sheet: Sheet, tool: Signature, *, required: bool) -> Schema:
    if tool.text is not None:
        return _of_text(sheet, tool.text, required=required)
    found = cleaned(_closed(tool.schema), tool.path, strict=tool.strict)
    sheet.dropped.extend(found.dropped)
    return found.schema


def _closed(schema: str) -> str:
    """A list of parameters that is empty means that there are none, if nothing else could name some."""
    try:
        given = orjson.loads(schema or "{}")
    except orjson.JSONDecodeError:
        return schema
    if not isinstance(given, dict) or given.get("properties") != {} or _NAMES_MORE & given.keys():
        return schema
    return orjson.dumps({**given, "additionalProperties": False}).decode()


def _of_text(sheet: Sheet, form: Form, *, required: bool) -> Schema:
    text: dict[str, object] = {"type": "string"}
    if sheet.written.parameters is not None:
        pass
    elif form.syntax is Syntax.REGEX:
        text["pattern"] = f"^(?:{form.text})$"
    elif required:
        raise Unsupported(form.path, "cannot be enforced inside JSON, which is how this model writes calls")
    else:
        sheet.dropped.append(f"{form.path}: grammar")
    return {"type": "object", "properties": {INPUT: text}, "required": [INPUT], "additionalProperties": False}


def _of_objects(schema: Schema, path: str) -> Schema:
    if schema is True:
        return {"type": "object"}
    if schema is False:
        raise Impossible(path, "allows no arguments at all")
    kinds = schema.get("type", "object")
    if kinds != "object" and not (isinstance(kinds, list) and "object" in kinds):
        raise Impossible(path, "must allow an object")
    return {**schema, "type": "object", **_no_more_names(schema)}


def _no_more_names(schema: Mapping[str, object]) -> Mapping[str, object]:
    """As between tags: a tool that names its parameters gets others only if it says what they are."""
    named, patterns, required = (schema.get(key) for key in ("properties", "patternProperties", "required"))
    if not isinstance(named, dict) or not named or not set(_list(required)) <= set(named):
        return {}
    anything = isinstance(patterns, dict) and all(value is True for value in patterns.values())
    return {"patternProperties": {}} if anything else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
