"""The tools that agents send, from the recorded requests in this tree."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from schema_machine import Machine

from ds4.constrain.schema import cleaned, parameters

TESTS = Path(__file__).parents[2]
FILES = sorted([*TESTS.glob("wire/**/*.json"), *TESTS.glob("api/recorded/*.json")])


def tools(value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, list):
        for inner in value:
            yield from tools(inner)
    elif isinstance(value, dict):
        for key in ("parameters", "input_schema"):
            if "name" in value and isinstance(value.get(key), dict):
                yield str(value["name"]), value[key]
        for inner in value.values():
            yield from tools(inner)


FOUND = {
    json.dumps(schema): name
    for path in FILES
    for name, schema in tools(json.loads(path.read_text(encoding="utf-8")))
}


def test_there_are_many() -> None:
    assert len(FOUND) > 30


@pytest.mark.parametrize("text", FOUND, ids=FOUND.values())
def test_all_of_a_tool_is_enforced(text: str) -> None:
    found = cleaned(text, "tool", strict=False)
    assert found.dropped == ()
    Machine(found.schema)
    wanted = list(json.loads(text).get("properties", {}))
    assert [[one.name for one in kind.named] for kind in parameters(found.schema)] == [wanted]
