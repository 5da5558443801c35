"""Requests that are really made, looked up by the id their answers carry."""

import json
from typing import Any

from api_fakes import run, settle

from ds4.api.access import Access
from ds4.api.keys import Keyring
from ds4.core.errors import BadRequest
from ds4.testing.asgi import Reply
from ds4.testing.inside import Inside, Setting, chat_body, inside

CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
BILLING = {"type": "text", "text": "x-anthropic-billing-header: cc_version=2.1; cch=1;"}


def server(**fields: Any) -> Inside:
    return inside(lambda prompt: f"{len(prompt)} is the answer", Setting(**fields))


async def row_of(made: Inside, reply: Reply) -> Any:
    found = await made.client.get(f"/requests/{reply.headers['x-ds4-request']}")
    assert found.status == 200, found.body
    return found.json()


def test_the_journal_the_header_and_the_usage_say_the_same() -> None:
    async def scenario() -> None:
        made = server()
        turns = [("system", "Be brief. " * 20), ("user", "How long is this?")]
        for prompt in (turns, [*turns, ("assistant", "Hm."), ("user", "And this?")], [("user", "New.")]):
            reply = await made.client.post(CHAT, chat_body(*prompt))
            row, usage = await row_of(made, reply), reply.json()["usage"]
            cache = row["cache"]
            assert reply.headers["x-ds4-cache"].startswith(
                f"{cache['source']} reused={cache['reused']} computed={cache['computed']}"
                f" reason={cache['reason']}"
            )
            cached = usage["prompt_tokens_details"]["cached_tokens"]
            assert row["reused_tokens"] == cache["reused"] == cached
            assert row["computed_tokens"] == cache["computed"] == usage["prompt_tokens"] - cached
            assert row["generated_tokens"] == usage["completion_tokens"]
            assert (row["state"], row["finish_reason"]) == ("finished", "stop")
            assert row["timings"]["ttft_seconds"] > 0
        assert len((await made.client.get("/requests?state=finished")).json()["requests"]) == 3

    run(scenario())


def test_a_streamed_answer_has_the_id_too_and_is_seen_while_it_runs() -> None:
    async def scenario() -> None:
        made = server(n_slots=1)
        made.pump.hold()
        body = chat_body(("user", "hello"), stream=True)
        async with (
            made.client.open("POST", CHAT, value=body) as first,
            made.client.open("POST", CHAT, value=body) as second,
        ):
            for exchange in (first, second):
                await exchange.start()
            await settle()
            made.pump.step()
            rows = (await made.client.get("/requests")).json()["requests"]
            assert [(row["id"], row["state"]) for row in rows] == [
                (second.headers["x-ds4-request"], "queued"),
                (first.headers["x-ds4-request"], "decode"),
            ]
            made.pump.release()
            assert (await first.read()).endswith(b"[DONE]\n\n")
            assert (await second.read()).endswith(b"[DONE]\n\n")
            first_row, second_row = (await made.client.get("/requests")).json()["requests"][::-1]
            assert second_row["timings"]["queued_seconds"] > first_row["timings"]["queued_seconds"]

    run(scenario())


def test_who_left_is_in_it() -> None:
    async def scenario() -> None:
        made = server()
        made.pump.hold()
        async with made.client.open("POST", CHAT, value=chat_body(("user", "hi"), stream=True)) as exchange:
            await exchange.start()
        made.pump.step()
        [row] = (await made.client.get("/requests?state=cancelled")).json()["requests"]
        assert (row["id"], row["generated_tokens"]) == (exchange.headers["x-ds4-request"], 0)

    run(scenario())


def test_a_failure_behind_the_headers_is_in_it() -> None:
    async def scenario() -> None:
        made = server()
        body = chat_body(("user", "hi"), logit_bias={"1": 1.0})

        def refuse(*_: object) -> None:
            raise BadRequest("no such token")

        made.engine.sampler = refuse  # type: ignore[method-assign, assignment]
        reply = await made.client.post(CHAT, body)
        assert reply.status == 400
        row = await row_of(made, reply)
        assert (row["state"], row["error"]) == ("failed", "no such token")

    run(scenario())


def test_a_caller_finds_its_own_request_and_no_other() -> None:
    async def scenario() -> None:
        made = server(access=Access(keys=Keyring.of(["mine", "other"])))
        headers = {"x-api-key": "mine"}
        reply = await made.client.request("POST", CHAT, value=chat_body(("user", "hi")), headers=headers)
        path = f"/requests/{reply.headers['x-ds4-request']}"
        assert (await made.client.get(path, headers)).json()["state"] == "finished"
        assert (await made.client.get(path, {"x-api-key": "other"})).status == 404

    run(scenario())


def test_each_choice_is_a_request() -> None:
    async def scenario() -> None:
        made = server()
        reply = await made.client.post(CHAT, chat_body(("user", "hi"), n=2))
        name = reply.headers["x-ds4-request"]
        found = (await made.client.get("/requests")).json()["requests"]
        assert {row["id"] for row in found} == {name, f"{name}-1"}

    run(scenario())


def test_what_was_left_out_of_the_prompt_is_named() -> None:
    async def scenario() -> None:
        made = server()
        for system, named in (([BILLING], ["billing_header"]), ([], [])):
            body = {
                "model": "m",
                "max_tokens": 50,
                "system": [*system, {"type": "text", "text": "Be kind."}],
                "messages": [{"role": "user", "content": "hi"}],
            }
            reply = await made.client.post(MESSAGES, body)
            row = await row_of(made, reply)
            assert row["cache"]["normalised"] == named
            assert ("BILLING-HEADER-DROPPED" in row["flags"]) == bool(named)
            assert reply.headers["x-ds4-cache"].endswith("normalised=billing_header") == bool(named)
            assert "cch=1" not in json.dumps(row)

    run(scenario())
