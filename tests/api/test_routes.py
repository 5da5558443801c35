import json
from dataclasses import replace

import pytest
from api_fakes import CARD, READY, World, run

from ds4.api.access import Access
from ds4.api.gate import Gate
from ds4.api.services import Alias
from ds4.api.table import TABLE
from ds4.core.status import Readiness
from ds4.testing.asgi import Client, Reply
from ds4.testing.ids import SequentialIds


def get(path: str, world: World | None = None, method: str = "GET") -> Reply:
    return run((world or World()).client().request(method, path))


def post(path: str, value: object) -> Reply:
    return run(World().client().post(path, value))


@pytest.mark.parametrize("path", ["/v1/models", "/models", "/v1/models?limit=1000"])
def test_the_model_list_suits_both_vendors_clients(path: str) -> None:
    reply = get(path)
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    listed = reply.json()
    assert (listed["object"], listed["has_more"]) == ("list", False)
    assert listed["first_id"] == listed["last_id"] == "tiny-model"
    assert listed["data"] == [
        {
            "id": "tiny-model",
            "object": "model",
            "type": "model",
            "created": 1767225600,
            "created_at": "2026-01-01T00:00:00Z",
            "owned_by": "ds4.c",
            "name": "Tiny Model",
            "display_name": "Tiny Model",
            "context_length": 100,
            "max_model_len": 100,
            "max_input_tokens": 100,
            "max_tokens": 100,
            "top_provider": {
                "context_length": 100,
                "max_completion_tokens": 100,
                "is_moderated": False,
            },
            "supported_parameters": listed["data"][0]["supported_parameters"],
        }
    ]
    assert {"tools", "seed", "stop", "min_p"} <= set(listed["data"][0]["supported_parameters"])


def test_aliases_are_listed_and_found() -> None:
    world = World(card=replace(CARD, aliases=(Alias("other"),)))
    assert [model["id"] for model in get("/v1/models", world).json()["data"]] == ["tiny-model", "other"]
    assert get("/v1/models/other", world).json()["id"] == "other"


def test_one_model_and_an_unknown_one() -> None:
    assert get("/v1/models/tiny-model").json() == get("/v1/models").json()["data"][0]
    reply = get("/v1/models/org/unknown")
    assert reply.status == 404
    assert reply.json()["error"]["code"] == "model_not_found"
    assert "'org/unknown'" in reply.json()["error"]["message"]


def test_head_is_answered_like_get() -> None:
    assert get("/v1/models", method="HEAD").headers == get("/v1/models").headers


def test_health_is_about_being_alive_whatever_the_engine_does() -> None:
    world = World()
    world.backend.state = replace(READY, readiness=Readiness.STALLED)
    client = world.client()
    world.time.advance(12.5)
    reply = run(client.get("/health"))
    assert reply.status == 200
    assert reply.json() == {
        "status": "ok",
        "readiness": "stalled",
        "model": "tiny-model",
        "version": "1.2.3",
        "uptime_seconds": 12.5,
        "n_ctx": 100,
        "slots": 1,
        "slots_busy": 0,
        "queued": 2,
    }


def test_ready() -> None:
    assert (get("/ready").status, get("/ready").json()) == (200, {"status": "ready"})


@pytest.mark.parametrize(
    ("readiness", "detail", "reason"),
    [
        (Readiness.STALLED, "no sign of life for 200 s", "no sign of life for 200 s"),
        (Readiness.FAILED, "decode failed", "decode failed"),
        (Readiness.DRAINING, "", "the server is draining"),
        (Readiness.LOADING, "", "the server is loading"),
    ],
)
def test_not_ready_says_why(readiness: Readiness, detail: str, reason: str) -> None:
    world = World()
    world.backend.state = replace(READY, readiness=readiness, detail=detail)
    reply = get("/ready", world)
    assert (reply.status, reply.headers["retry-after"]) == (503, "5")
    assert reply.json() == {"status": readiness, "reason": reason}


def test_slots_do_not_show_whose_they_are() -> None:
    reply = get("/slots")
    assert reply.json()["queued"] == 2
    assert reply.json()["slots"][0]["rows"] == 12
    assert b"secret" not in reply.body


def test_the_index_names_every_endpoint() -> None:
    endpoints = get("/").json()["endpoints"]
    assert len(endpoints) == len(TABLE)
    assert {"/v1/chat/completions", "/v1/models/ID"} <= set(endpoints)


@pytest.mark.parametrize(
    ("body", "tokens"),
    [
        ({"content": "ab"}, [97, 98]),
        ({"prompt": "ab"}, [97, 98]),
        ({"content": "ab", "add_special": True}, [256, 97, 98]),
        ({"content": "<bos>a"}, [256, 97]),
        ({"content": "<bos>", "parse_special": False}, [60, 98, 111, 115, 62]),
        ({"content": ""}, []),
        ({"content": "é", "with_pieces": True}, [{"id": 195, "piece": [195]}, {"id": 169, "piece": [169]}]),
        ({"content": "a", "with_pieces": True}, [{"id": 97, "piece": "a"}]),
    ],
)
def test_tokenize(body: object, tokens: object) -> None:
    assert post("/tokenize", body).json() == {"tokens": tokens}


@pytest.mark.parametrize(
    ("tokens", "content"),
    [([104, 105], "hi"), ([195, 169], "é"), ([195], "\ufffd"), ([256], "<bos>"), ([], "")],
)
def test_detokenize(tokens: object, content: str) -> None:
    assert post("/detokenize", {"tokens": tokens}).json() == {"content": content}


@pytest.mark.parametrize(
    ("path", "body", "param"),
    [
        ("/tokenize", {}, "content"),
        ("/tokenize", {"content": 1}, "content"),
        ("/detokenize", {}, "tokens"),
        ("/detokenize", {"tokens": "ab"}, "tokens"),
        ("/detokenize", {"tokens": [1, 257]}, "tokens.1"),
        ("/apply-template", {}, "messages"),
    ],
)
def test_what_is_wrong_is_named(path: str, body: object, param: str) -> None:
    reply = post(path, body)
    assert reply.status == 400
    assert reply.json()["error"]["param"] == param


def test_apply_template_shows_the_prompt() -> None:
    reply = post("/apply-template", {"messages": [{"role": "user", "content": "a"}], "n": 5})
    assert reply.json() == {"prompt": "[user]a", "tokens": [91, 117, 115, 101, 114, 93, 97]}


@pytest.mark.parametrize("path", ["/nowhere", "/v1", "/v1/models/", "/v1/chat/completions/", "//v1/models"])
def test_an_unknown_path_is_404_and_named(path: str) -> None:
    reply = get(path)
    assert reply.status == 404
    error = reply.json()["error"]
    assert set(error) == {"message", "type", "param", "code"}


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("GET", "/v1/chat/completions", "POST, OPTIONS"),
        ("HEAD", "/v1/completions", "POST, OPTIONS"),
        ("POST", "/v1/models", "GET, HEAD, OPTIONS"),
        ("DELETE", "/health", "GET, HEAD, OPTIONS"),
    ],
)
def test_a_wrong_method_is_405_and_says_what_is_allowed(method: str, path: str, allow: str) -> None:
    reply = get(path, method=method)
    assert (reply.status, reply.headers["allow"]) == (405, allow)
    assert reply.json()["error"]["message"] == f"{method} is not allowed for {path}; allowed: {allow}"


CORS = {
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET, POST, DELETE, OPTIONS",
    "access-control-allow-headers": "*",
    "access-control-expose-headers": "*",
}


@pytest.mark.parametrize("path", ["/v1/models", "/v1/chat/completions", "/nowhere", "*"])
def test_options_is_204_everywhere(path: str) -> None:
    for cors in (False, True):
        reply = get(path, World(cors=cors), "OPTIONS")
        assert (reply.status, reply.body) == (204, b"")
        assert reply.headers == {"content-length": "0", **(CORS if cors else {})}


@pytest.mark.parametrize(("method", "path"), [("GET", "/health"), ("GET", "/nowhere"), ("POST", "/health")])
def test_cors_headers_stand_on_answers_and_errors_only_when_asked_for(method: str, path: str) -> None:
    assert CORS.items() <= get(path, World(cors=True), method).headers.items()
    assert not CORS.keys() & get(path, World(), method).headers.keys()


class TestGate:
    def gate(self) -> Gate:
        return Gate(ids=SequentialIds(), observe=lambda record: None, access=Access(cors=True))  # noqa: ARG005

    def ask(self, gate: Gate, method: str, path: str) -> Reply:
        return run(Client(gate).request(method, path))

    def test_closed_it_is_alive_and_not_ready(self) -> None:
        health = self.ask(self.gate(), "GET", "/health")
        assert (health.status, health.json()) == (200, {"status": "loading"})
        ready = self.ask(self.gate(), "GET", "/ready")
        assert (ready.status, ready.headers["retry-after"]) == (503, "5")

    @pytest.mark.parametrize(("method", "path"), [("POST", "/v1/chat/completions"), ("GET", "/v1/models")])
    def test_closed_everything_else_is_503_in_the_apis_shape(self, method: str, path: str) -> None:
        reply = self.ask(self.gate(), method, path)
        assert (reply.status, reply.headers["retry-after"]) == (503, "5")
        assert json.loads(reply.body)["error"]["type"] == "server_error"
        assert CORS.items() <= reply.headers.items()

    def test_open_it_is_the_app(self) -> None:
        gate = self.gate()
        gate.open(World().app())
        assert self.ask(gate, "GET", "/v1/models").status == 200
