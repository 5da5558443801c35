"""Who is let in: the rules as a client meets them."""

from dataclasses import replace

import pytest
from api_fakes import N_CTX, FakeBackend, World, finish, run

from ds4.api.access import Access
from ds4.api.boundary import CORS
from ds4.api.gate import Gate
from ds4.api.keys import Keyring, namespace
from ds4.api.origin import Hosts
from ds4.api.table import TABLE
from ds4.core.status import Readiness, SlotStatus, Status
from ds4.testing.asgi import Client, Reply
from ds4.testing.ids import SequentialIds

KEY, OTHER = "key-of-a", "key-of-b"
LOCKED = Access(keys=Keyring.of([KEY, OTHER]))
CHAT = "/v1/chat/completions"
FOREIGN = {"origin": "http://evil.example"}
ROUTES = [(method, entry.paths[0]) for entry in TABLE for method in entry.operations]
OPEN = ("/health", "/ready")


def ask(method: str, path: str, access: Access | None = None, value: object = None, **headers: str) -> Reply:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    client = World(access=access).client()
    return run(client.request(method, path, value=value, headers=named))


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_every_route_but_two_asks_for_a_key(method: str, path: str) -> None:
    reply = ask(method, path, LOCKED)
    if path in OPEN:
        assert reply.status == 200
    else:
        assert reply.status == 401
        assert reply.headers["www-authenticate"].startswith("Bearer")
        assert reply.json()["error"]["type"] == "authentication_error"


@pytest.mark.parametrize("path", ["/nowhere", "/health/", "//health", "/v1/health"])
def test_other_paths_do_not_even_say_whether_they_exist(path: str) -> None:
    assert ask("GET", path, LOCKED).status == 401
    assert ask("GET", path, LOCKED, authorization=f"Bearer {KEY}").status == 404


@pytest.mark.parametrize("headers", [{"authorization": f"Bearer {KEY}"}, {"x_api_key": KEY}])
def test_either_header_opens(headers: dict[str, str]) -> None:
    assert ask("GET", "/v1/models", LOCKED, **headers).status == 200


def test_a_wrong_key_is_401_and_logged_nowhere() -> None:
    world = World(access=LOCKED)
    reply = run(world.client().request("GET", "/v1/models", headers=bearer("wrong-key")))
    assert reply.status == 401
    assert reply.json()["error"]["code"] == "invalid_api_key"
    assert b"wrong-key" not in reply.body
    assert world.records == []


def test_without_keys_any_key_will_do() -> None:
    for headers in ({}, bearer("whatever"), {"x-api-key": "x"}, {"authorization": "junk"}):
        assert run(World().client().get("/v1/models", headers)).status == 200


def test_a_key_is_asked_for_before_the_body_is_read() -> None:
    async def scenario() -> None:
        world = World(access=LOCKED)
        async with world.client().open("POST", CHAT, body=[b"{"] * 3) as exchange:
            await exchange.start()
            assert (exchange.status, exchange.parts_read) == (401, 0)

    run(scenario())


def test_the_key_is_the_namespace_of_the_prompt() -> None:
    async def scenario() -> None:
        world = World(FakeBackend([(finish(),)]), access=LOCKED)
        body = {"messages": [{"role": "user", "content": "hi"}], "prompt": "hi"}
        for key in (KEY, OTHER):
            for path in (CHAT, "/v1/completions"):
                reply = await world.client().request("POST", path, value=body, headers=bearer(key))
                assert reply.status == 200
        found = [job.plan.namespace for job in world.backend.jobs]
        assert found == [namespace(KEY)] * 2 + [namespace(OTHER)] * 2

    run(scenario())


BUSY = Status(
    Readiness.READY,
    (
        SlotStatus(0, "busy", 12, namespace(KEY), "job-a", "decode", 7, 7, 5),
        SlotStatus(1, "busy", 34, namespace(OTHER), "job-b", "prefill", 40, 34, 0),
        SlotStatus(2, "idle", 56, namespace(OTHER)),
        SlotStatus(3, "empty", 0, ""),
    ),
    queued=2,
    n_ctx=N_CTX,
)


def slots(access: Access | None, key: str = KEY) -> list[dict[str, object]]:
    world = World(access=access)
    world.backend.state = BUSY
    found: list[dict[str, object]] = run(world.client().get("/slots", bearer(key))).json()["slots"]
    return found


def test_a_caller_sees_its_own_slots_and_of_others_that_they_are_busy() -> None:
    mine, *others = slots(LOCKED)
    assert (mine["rows"], mine["phase"], mine["generated_tokens"]) == (12, "decode", 5)
    assert others == [
        {"id": 1, "state": "busy"},
        {"id": 2, "state": "idle"},
        {"id": 3, "state": "idle"},
    ]
    assert [slot.get("rows") for slot in slots(LOCKED, OTHER)] == [None, 34, 56, None]


def test_without_keys_all_slots_are_shown() -> None:
    assert [slot["rows"] for slot in slots(None)] == [12, 34, 56, 0]


@pytest.mark.parametrize(("method", "path"), [*ROUTES, ("OPTIONS", CHAT), ("GET", "/nowhere")])
def test_no_page_of_another_origin_and_no_rebound_name_gets_anywhere(method: str, path: str) -> None:
    for headers in (FOREIGN, {"origin": "null"}, {"host": "evil.example"}):
        reply = run(World().client().request(method, path, headers=headers))
        assert reply.status == 403
        assert reply.json()["error"]["type"] == "permission_error"
        assert "access-control-allow-origin" not in reply.headers


def test_a_key_does_not_let_a_page_in() -> None:
    assert ask("GET", "/v1/models", LOCKED, x_api_key=KEY, **FOREIGN).status == 403


def test_the_servers_own_page_gets_in() -> None:
    assert ask("GET", "/v1/models", origin="http://127.0.0.1:8000").status == 200
    assert ask("GET", "/v1/models", host="localhost:8000", origin="http://localhost:8000").status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "vscode-webview://1a2b"])
def test_with_cors_every_page_gets_in_but_still_needs_a_key(origin: str) -> None:
    assert ask("GET", "/v1/models", Access(cors=True), origin=origin).status == 200
    locked = replace(LOCKED, cors=True)
    assert ask("GET", "/v1/models", locked, origin=origin, x_api_key=KEY).status == 200
    refused = ask("GET", "/v1/models", locked, origin=origin)
    assert refused.status == 401
    assert refused.headers["access-control-allow-origin"] == "*"


def test_a_preflight_needs_no_key_and_allows_to_send_one() -> None:
    locked = replace(LOCKED, cors=True)
    reply = ask("OPTIONS", CHAT, locked, access_control_request_headers="Authorization", **FOREIGN)
    assert reply.status == 204
    assert reply.headers["access-control-allow-headers"] == "*, authorization"
    plain = ask("OPTIONS", CHAT, locked, access_control_request_headers="x-api-key", **FOREIGN)
    assert [(name.decode(), text.decode()) for name, text in CORS] == list(plain.headers.items())[1:]


def test_allowed_names() -> None:
    named = Access(hosts=Hosts(frozenset({"box.lan"})))
    assert ask("GET", "/v1/models", named, host="box.lan:8000").status == 200
    assert ask("GET", "/v1/models", named, host="box.lan:8000", origin="http://box.lan:8000").status == 200
    reply = ask("GET", "/v1/models", named, host="evil.example")
    assert "--allow-host evil.example" in reply.json()["error"]["message"]


def test_the_rules_hold_while_the_model_loads() -> None:
    client = Client(Gate(ids=SequentialIds(), observe=lambda record: None, access=LOCKED))  # noqa: ARG005

    async def status(path: str, headers: dict[str, str]) -> int:
        return (await client.get(path, headers)).status

    assert run(status("/health", {})) == 200
    assert run(status("/health", FOREIGN)) == 403
    assert run(status("/v1/models", {})) == 401
    assert run(status("/v1/models", bearer(KEY))) == 503
