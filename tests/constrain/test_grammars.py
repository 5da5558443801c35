"""Grammars as they are written, per way to write calls, under tests/wire/grammars.

Run this file to write them anew.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from constrain_answers import MODELS, compiled, marks_of, may_call, must_call, signature

from ds4.constrain.avoiding import without
from ds4.constrain.sheet import spellings
from ds4.constrain.style import Start
from ds4.core.constraint import Constraint
from ds4.formats.family import Family
from ds4.formats.markup import Content, Means

FOLDER = Path(__file__).parents[1] / "wire" / "grammars"
GOLDEN = (
    "deepseek-v4.1",
    "glm-5.2",
    "qwen3.8",
    "chatml",
    "gpt-oss",
    "mistral",
    "mistral named",
    "llama",
    "plain dsml",
    "plain glm",
    "plain harmony",
)
STOCK = signature(
    "stock",
    {
        "type": "object",
        "properties": {
            "item": {"type": "string"},
            "depth": {"type": "integer"},
            "note": {"type": ["string", "null"], "maxLength": 9},
        },
        "required": ["item"],
        "additionalProperties": False,
    },
)
CASES: dict[str, tuple[Constraint, Start]] = {
    "demanded, in reasoning": (must_call(STOCK), Start(in_reasoning=True)),
    "one that may come": (may_call(STOCK, single=True), Start(may_reason=True)),
}


def shown(model: str, grammar: str) -> str:
    """With the regexes of text without tags in words: they are long, and have tests of their own."""
    for tags in _tags(MODELS[model]):
        said = tags[0] if len(tags) == 1 else f"{tags[0]} and {len(tags) - 1} others"
        for some, word in ((False, "any"), (True, "some")):
            grammar = grammar.replace(without(tags, some=some), f"/{word} text without {said}/")
    return grammar


def _tags(family: Family) -> Iterator[tuple[str, ...]]:
    close = marks_of(family).close
    yield (close,)
    for place in family.tool_format.places.values():
        tags = spellings(place.tags)
        if tags and place.content in (Content.VALUE, Content.TEXT, Content.REASONING):
            yield spellings(place.tags, Means.END_VALUE) or tags
            yield tags
            yield (close, *tags)


def written(model: str) -> str:
    parts = []
    for name, (constraint, start) in CASES.items():
        (grammar,) = json.loads(compiled(model, constraint, start).text)["grammars"]
        parts.append(f"=== {name}\n{shown(model, grammar['lark_grammar'])}")
    return "\n".join(parts)


def path_of(model: str) -> Path:
    return FOLDER / f"{model.replace(' ', '_')}.txt"


@pytest.mark.parametrize("model", GOLDEN)
def test_golden(model: str) -> None:
    assert written(model) == path_of(model).read_text(encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in GOLDEN:
        path_of(name).write_text(written(name), encoding="utf-8")
