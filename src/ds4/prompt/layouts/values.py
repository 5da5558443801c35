"""Tool call arguments as the parameters that tag formats write."""

from collections.abc import Iterator
from dataclasses import dataclass

from ds4.formats.written import Separators
from ds4.prompt.json_text import dump, parse_object

WHOLE = "arguments"
"""The one parameter of a call whose arguments are no JSON object: their text must not get lost."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """`text` is the string itself, or JSON for any other value."""

    name: str
    text: str
    is_string: bool


def parameters(arguments: str, separators: Separators) -> Iterator[Parameter]:
    """In the client's order."""
    values = parse_object(arguments)
    if values is None:
        yield Parameter(WHOLE, arguments, is_string=True)
        return
    for name, value in values.items():
        if isinstance(value, str):
            yield Parameter(name, value, is_string=True)
        else:
            yield Parameter(name, dump(value, separators), is_string=False)


def wrapped(schema: str) -> str:
    """A tool as OpenAI's clients send it, which most models were trained on."""
    return f'{{"type": "function", "function": {schema}}}'
