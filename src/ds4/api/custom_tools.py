"""Custom tools: they take raw text, perhaps of a grammar.

The model only knows functions. To it a custom tool is one with the single string parameter INPUT, whose
description shows the grammar; that the grammar is kept to is the constraint's affair.
"""

from collections.abc import Mapping

from ds4.api.body import JsonObject
from ds4.core.constraint import INPUT, Form, Syntax
from ds4.core.errors import BadRequest

_RAW = "The raw text the tool is given, exactly as it is: no JSON, no quotes, no code fence around it."
_SYNTAXES: Mapping[object, Syntax] = {"lark": Syntax.LARK, "regex": Syntax.REGEX}


def function_of(given: Mapping[str, object], grammar: Form | None) -> JsonObject:
    """What the model is told of a custom tool, without its name."""
    about = given.get("description")
    shown = ""
    if grammar is not None:
        shown = f" It must match this {grammar.syntax.value} grammar:\n{grammar.text}"
    return {
        "description": about if isinstance(about, str) else "",
        "parameters": {
            "type": "object",
            "properties": {INPUT: {"type": "string", "description": _RAW + shown}},
            "required": [INPUT],
            "additionalProperties": False,
        },
    }


def grammar_of(value: object, path: str) -> Form | None:
    """Of a custom tool's `format`, which stands at `path`: flat, or nested as chat has it. None for any text.

    Raises BadRequest.
    """
    if not isinstance(value, dict) or value.get("type") != "grammar":
        return None
    nested = value.get("grammar")
    grammar, where = (nested, f"{path}.grammar") if isinstance(nested, dict) else (value, path)
    syntax, definition = _SYNTAXES.get(str(grammar.get("syntax"))), grammar.get("definition")
    if syntax is None:
        problem = f"{where}.syntax must be one of {', '.join(map(str, _SYNTAXES))}"
        raise BadRequest(problem, param=f"{where}.syntax")
    if not isinstance(definition, str):
        raise BadRequest(f"{where}.definition must be a string", param=f"{where}.definition")
    return Form(syntax, definition, f"{where}.definition")
