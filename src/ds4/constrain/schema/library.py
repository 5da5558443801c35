"""What the constraint library says about strings: the questions about regexes that only it can answer."""

from collections.abc import Mapping

import orjson
from llguidance import LLMatcher

_EMPTY = "Unsatisfiable schema"


def refusal(leaf: Mapping[str, object]) -> str | None:
    """Why the library does not take a schema of strings; None if it does. See `is_empty`."""
    grammar = {"grammars": [{"json_schema": {"allOf": [leaf]}}]}
    failed, messages = LLMatcher.validate_grammar_with_warnings(orjson.dumps(grammar).decode())
    return (messages or ["unknown"])[0] if failed else None


def is_empty(refused: str | None) -> bool:
    """Whether a refusal means that no string matches."""
    return refused is not None and refused.startswith(_EMPTY)


def possible(*leaves: Mapping[str, object]) -> bool:
    """Whether a string can match all of these, each of which the library takes. In doubt it can."""
    return not is_empty(refusal({"allOf": list(leaves)}))
