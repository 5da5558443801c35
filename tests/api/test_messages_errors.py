"""Errors on Anthropic's paths and for Anthropic's clients: always their shape, always with an id."""

from typing import Any

import pytest
from api_fakes import FakeBackend, FakeRenderer, World, run

from ds4.api.access import Access
from ds4.api.gate import Gate
from ds4.api.keys import Keyring
from ds4.core.errors import ContextOverflow, Ds4Error, EngineError, Overloaded, TemplateError, Unavailable
from ds4.testing.asgi import Client, Reply
from ds4.testing.ids import SequentialIds

ASK: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}]}
VERSION = {"anthropic-version": "2023-06-01"}


def told(reply: Reply) -> tuple[int, str, str]:
    """Status, type and message of an error in Anthropic's shape."""
    body = reply.json()
    assert set(body) == {"type", "error", "request_id"}
    assert body["type"] == "error"
    assert body["request_id"] == reply.headers["request-id"] == reply.headers["x-ds4-request"] != ""
    return reply.status, body["error"]["type"], body["error"]["message"]


def refused(error: Ds4Error, path: str = "/v1/messages", **fields: object) -> Reply:
    return run(World(FakeBackend(refusal=error)).client().post(path, {**ASK, **fields}))


@pytest.mark.parametrize("stream", [False, True])
def test_a_prompt_that_does_not_fit_is_worded_for_agents(stream: bool) -> None:
    reply = refused(ContextOverflow(120, 100), stream=stream)
    message = "prompt is too long: 120 tokens > 99 maximum"
    assert told(reply) == (400, "invalid_request_error", message)
    assert reply.json()["error"] | {"n_prompt_tokens": 120, "n_ctx": 100} == reply.json()["error"]


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (Overloaded("full", retry_after=7), 429, "rate_limit_error"),
        (Unavailable("shutting down", retry_after=7), 503, "overloaded_error"),
        (EngineError("broken"), 500, "api_error"),
        (ZeroDivisionError("a bug"), 500, "api_error"),
    ],
)
def test_types_by_status(error: Ds4Error, status: int, kind: str) -> None:
    reply = refused(error)
    assert told(reply)[:2] == (status, kind)
    assert reply.headers.get("retry-after") == ("7" if status in (429, 503) else None)


@pytest.mark.parametrize("path", ["/v1/messages", "/messages", "/v1/messages/count_tokens"])
@pytest.mark.parametrize(
    ("method", "body", "status", "kind"),
    [
        ("GET", b"", 405, "invalid_request_error"),
        ("POST", b"{", 400, "invalid_request_error"),
        ("POST", b"{}", 400, "invalid_request_error"),
        ("POST", b" " * 2000, 413, "request_too_large"),
    ],
)
def test_whatever_is_wrong_with_the_request(
    path: str, method: str, body: bytes, status: int, kind: str
) -> None:
    client = World().with_limits(body_bytes=1000).client()
    assert told(run(client.request(method, path, body=body)))[:2] == (status, kind)


def test_a_missing_key() -> None:
    world = World(access=Access(keys=Keyring.of(["k"])))
    assert told(run(world.client().post("/v1/messages", ASK)))[:2] == (401, "authentication_error")
    for headers in ({"x-api-key": "k"}, {"authorization": "Bearer k"}):
        reply = run(world.client().request("POST", "/v1/messages/count_tokens", value=ASK, headers=headers))
        assert reply.json() == {"input_tokens": len("[user]hi")}


def test_a_template_that_fails() -> None:
    world = World(renderer=FakeRenderer(TemplateError("undefined name")))
    for path in ("/v1/messages", "/v1/messages/count_tokens"):
        assert told(run(world.client().post(path, ASK))) == (500, "api_error", "undefined name")


@pytest.mark.parametrize("path", ["/v1/messages/batches", "/messages/x"])
def test_an_unknown_path_below_theirs(path: str) -> None:
    assert told(run(World().client().get(path)))[:2] == (404, "not_found_error")


@pytest.mark.parametrize("path", ["/v1/files", "/v1/models/none"])
def test_their_clients_are_answered_in_their_words_everywhere(path: str) -> None:
    client = World().client()
    assert told(run(client.get(path, VERSION)))[:2] == (404, "not_found_error")
    assert set(run(client.get(path)).json()) == {"error"}, "others are not"


def test_while_the_model_loads() -> None:
    gate = Gate(ids=SequentialIds(), observe=World().records.append, access=Access())
    reply = run(Client(gate).post("/v1/messages", ASK))
    assert told(reply)[:2] == (503, "overloaded_error")
    assert "retry-after" in reply.headers


@pytest.mark.parametrize("version", ["2023-06-01", "2026-10-21"])
def test_both_versions_are_served(version: str) -> None:
    headers = {"anthropic-version": version, "anthropic-beta": "from-the-future-2030-01-01"}
    path = "/v1/messages/count_tokens?beta=true"
    assert run(World().client().request("POST", path, value=ASK, headers=headers)).status == 200


@pytest.mark.parametrize("path", ["/", "/api/hello", "/v1/models?limit=1000"])
@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_what_clients_ask_before_they_begin(path: str, method: str) -> None:
    assert run(World().client().request(method, path, headers=VERSION)).status == 200
