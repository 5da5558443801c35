from collections.abc import Iterator
from typing import Any

import pytest
from api_fakes import World, run

from ds4.api.access import Access
from ds4.api.keys import Keyring
from ds4.api.openapi import document
from ds4.api.table import TABLE

PAGE = document(TABLE, version="1.2.3", locked=False)
LOCKED = document(TABLE, version="1.2.3", locked=True)
OPERATIONS = [
    (path, method) for path, item in PAGE["paths"].items() for method in item if method != "parameters"
]


def nodes(value: object) -> Iterator[dict[str, Any]]:
    children: list[object] = list(value) if isinstance(value, list) else []
    if isinstance(value, dict):
        yield value
        children = list(value.values())
    for child in children:
        yield from nodes(child)


def test_it_is_served_and_needs_a_key_like_the_rest() -> None:
    assert run(World().client().get("/openapi.json")).json() == PAGE
    world = World(access=Access(keys=Keyring.of(["k"])))
    assert run(world.client().get("/openapi.json")).status == 401
    assert run(world.client().get("/openapi.json", {"x-api-key": "k"})).json() == LOCKED


def test_every_route_is_on_it() -> None:
    served = {(entry.paths[0].replace(":path", ""), method) for entry in TABLE for method in entry.operations}
    assert {(path, method.upper()) for path, method in OPERATIONS} == {s for s in served if s[1] != "HEAD"}


def test_operations_have_names_of_their_own() -> None:
    names = [PAGE["paths"][path][method]["operationId"] for path, method in OPERATIONS]
    assert len(set(names)) == len(names)


def test_references_lead_somewhere() -> None:
    references = {node["$ref"] for node in nodes(PAGE) if "$ref" in node}
    assert {ref.rpartition("/")[2] for ref in references} <= set(PAGE["components"]["schemas"])
    assert references


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
def test_keys_are_on_the_page_when_they_are_asked_for(path: str, method: str) -> None:
    free, locked = PAGE["paths"][path][method], LOCKED["paths"][path][method]
    assert "security" not in free
    assert "401" not in free["responses"]
    asks = path not in ("/health", "/ready")
    assert ("401" in locked["responses"]) == ("security" in locked) == asks


def test_bodies_are_the_request_models() -> None:
    chat = PAGE["components"]["schemas"]["ChatBody"]
    assert chat["required"] == ["messages"]
    assert chat["properties"]["stream"] == {"default": False, "type": "boolean"}
    assert {"temperature", "tools", "max_tokens", "seed"} <= chat["properties"].keys()


def test_streams_are_declared_where_there_are_any() -> None:
    streams = {path for path, method in OPERATIONS if "text/event-stream" in str(PAGE["paths"][path][method])}
    assert streams == {"/v1/chat/completions", "/v1/completions", "/v1/messages", "/v1/responses"}
